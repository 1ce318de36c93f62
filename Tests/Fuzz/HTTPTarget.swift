#if DEBUG || FUZZING
  @testable import HTTPServer
  import Telemetry
  import WebSockets

  /// Feeds arbitrary bytes in arbitrary pieces to a connection's protocol logic, to its router and to WebSocket framing.
  func fuzzHTTP(_ bytes: UnsafeRawBufferPointer) { HTTPFuzzing.run(bytes) }

  private enum HTTPFuzzing {
    private static let router: Router = {
      var router = Router()
      router.on(.get, "/") { _ in Response() }
      router.on(.put, "/rooms/{roomID}/send/{type}/{transactionID}") { _ in Response() }
      router.on(.get, "/files/{path...}") { _ in Response() }
      return router
    }()

    /// The first byte chooses between HTTP and WebSocket, the second the size of the pieces the rest arrives in.
    static func run(_ bytes: UnsafeRawBufferPointer) {
      guard bytes.count > 2 else { return }
      let rest = UnsafeRawBufferPointer(rebasing: bytes[2...])
      let pieceBytes = max(1, Int(bytes[1]))
      if bytes[0] & 1 == 0 { http(rest, pieceBytes: pieceBytes) } else { webSocket(rest, pieceBytes: pieceBytes) }
    }

    private static func http(_ bytes: UnsafeRawBufferPointer, pieceBytes: Int) {
      var logic = ConnectionLogic(headerBytesLimit: 4096, headerCountLimit: 20, pipelinedBytesLimit: 4096)
      var events: [ConnectionLogic.Event] = []
      for start in stride(from: 0, to: bytes.count, by: pieceBytes) {
        let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + pieceBytes, bytes.count)])
        logic.receive(piece, into: &events)
        answer(&events, &logic)
      }
    }

    /// Answers each complete request at once, which brings up those behind it.
    private static func answer(_ events: inout [ConnectionLogic.Event], _ logic: inout ConnectionLogic) {
      while !events.isEmpty {
        let batch = events
        events.removeAll()
        for event in batch {
          if case .request(let head) = event { inspect(head) }
        }
        guard logic.phase == .answering else { continue }
        logic.responseIsDone(into: &events)
      }
    }

    private static func inspect(_ head: RequestHead) {
      let route = router.resolve(head.method, head.headers.pathBytes)
      let request = Request(
        method: head.method, headers: head.headers, route: route, peer: .loopback, id: RequestID.next(), body: .empty)
      _ = request.query.items.count
      _ = WebSocketHandshake.key(of: head)
      for (_, value) in request.headers {
        _ = ByteRange.parse(Array(value.utf8)[...], size: 1000)
        _ = ContentRange(Array(value.utf8)[...])
      }
    }

    private static func webSocket(_ bytes: UnsafeRawBufferPointer, pieceBytes: Int) {
      let framing = WebSocketFraming(.server, messageBytesLimit: 4096)
      for start in stride(from: 0, to: bytes.count, by: pieceBytes) {
        let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + pieceBytes, bytes.count)])
        for message in framing.receive(piece) {
          _ = message.isText ? framing.queue(text: message.bytes) : framing.queue(binary: message.bytes)
        }
        _ = framing.takeOutput()
      }
    }
  }
#endif
