import EventLoop

extension HTTPConnection {
  /// What is left to do for a response after `send`, by the handler's task.
  enum Rest: Sendable {
    case nothing
    case file(OpenFile, Range<Int64>)
    case stream(@Sendable (BodyWriter) async throws -> Void)
    case webSocket(WebSocketSession, @Sendable (WebSocket) async -> Void)
  }

  /// Bodies up to this many bytes are written together with their head.
  private static let joinedBodyBytesLimit = 16 << 10

  /// Sends the head and, when it is at hand, the body. Does nothing when the exchange is over.
  func send(_ response: Response, _ number: UInt64) -> Rest {
    guard let exchange, exchange.number == number, exchange.progress == .waiting else { return .nothing }
    if case .webSocket(let subprotocol, let body) = response.body {
      return upgrade(response, subprotocol: subprotocol, body)
    }
    let length = Self.length(of: response.body)
    let isBodyless = exchange.method == .head || response.status.forbidsBody
    let framing = framing(of: response.status, length: length, exchange)
    let keepsAlive = keepsAlive(exchange) && framing != .untilClose
    self.exchange?.keepsAlive = keepsAlive
    self.exchange?.status = response.status

    var head = state.output
    state.output = []
    ResponseHead.write(response, framing: framing, keepsAlive: keepsAlive, date: state.dateText, into: &head)
    let rest = isBodyless ? Rest.nothing : Self.rest(of: response.body)
    switch rest {
    case .nothing:
      self.exchange?.progress = .written
      if !isBodyless { self.exchange?.responseBodyBytes = length ?? 0 }
      writeAtOnce(&head, isBodyless ? .empty : response.body)
    default:
      self.exchange?.progress = .streaming(remaining: length, isChunked: framing == .chunked)
      writeAtOnce(&head, .empty)
    }
    advance()
    afterChange()
    return rest
  }

  private static func length(of body: Response.Body) -> Int64? {
    switch body {
    case .empty: 0
    case .bytes(let bytes): Int64(bytes.count)
    case .parts(let parts): Int64(parts.reduce(0) { $0 + $1.count })
    case .file(_, let range): Int64(range.count)
    case .stream(let length, _): length
    case .webSocket: nil
    }
  }

  private static func rest(of body: Response.Body) -> Rest {
    switch body {
    case .empty, .bytes, .parts, .webSocket: .nothing
    case .file(let file, let range): range.isEmpty ? .nothing : .file(file, range)
    case .stream(_, let body): .stream(body)
    }
  }

  private func framing(of status: Status, length: Int64?, _ exchange: Exchange) -> BodyFraming {
    if status.forbidsBody { return .none }
    if let length { return .length(length) }
    return exchange.isHTTP10 ? .untilClose : .chunked
  }

  /// Whether the connection outlives this response. A request body of which much is still to come does not: it would have to
  /// be read for nothing. Nor does one the client holds back for a `100 Continue` it never got.
  private func keepsAlive(_ exchange: Exchange) -> Bool {
    guard exchange.keepsAlive, !state.isShuttingDown, !hasPeerEnded else { return false }
    guard !exchange.isBodyComplete else { return true }
    guard !exchange.owesContinue, let announced = exchange.announcedLength else { return false }
    return announced - exchange.requestBodyBytes <= Int64(core.configuration.bodyLowWaterBytes)
  }

  /// Writes head and body; `head` is the loop's shared buffer and goes back to it.
  private func writeAtOnce(_ head: inout [UInt8], _ body: Response.Body) {
    var apart: [[UInt8]] = []
    switch body {
    case .bytes(let bytes):
      if bytes.count <= Self.joinedBodyBytesLimit { head.append(contentsOf: bytes) } else { apart = [bytes] }
    case .parts(let parts):
      if parts.reduce(0, { $0 + $1.count }) <= Self.joinedBodyBytesLimit {
        for part in parts { head.append(contentsOf: part) }
      } else {
        apart = parts
      }
    case .empty, .file, .stream, .webSocket:
      break
    }
    writeShared(head, followedBy: apart)
    head.removeAll(keepingCapacity: true)
    state.output = head
  }

  // MARK: Streamed bodies

  /// Sends a piece of a streamed body; see `BodyWriter.write`.
  func writeBody(_ bytes: [UInt8], exchange number: UInt64) async throws {
    try Task.checkCancellation()
    guard let exchange, exchange.number == number, case .streaming(let remaining, let isChunked) = exchange.progress else {
      throw HTTPError.clientGone
    }
    guard !bytes.isEmpty else { return }
    if let remaining {
      guard remaining >= Int64(bytes.count) else { throw HTTPError.wrongBodyLength }
      self.exchange?.progress = .streaming(remaining: remaining - Int64(bytes.count), isChunked: false)
    }
    self.exchange?.responseBodyBytes += Int64(bytes.count)
    if isChunked { output.append(ResponseHead.chunkHeader(bytes.count)) }
    output.append(bytes)
    if isChunked { output.append([13, 10]) }
    pump()
    updateDeadline()
    try await drained()
  }

  /// Ends a streamed body. One that is not whole cannot be ended in a way the client would take for complete: close.
  func endBody(_ number: UInt64, isWhole: Bool) {
    guard let exchange, exchange.number == number, case .streaming(let remaining, let isChunked) = exchange.progress else {
      return
    }
    guard isWhole, remaining ?? 0 == 0 else {
      close()
      return
    }
    self.exchange?.progress = .written
    if isChunked {
      output.append(Array("0\r\n\r\n".utf8))
      pump()
    }
    advance()
    afterChange()
  }

  // MARK: WebSocket

  private func upgrade(
    _ response: Response, subprotocol: String?, _ body: @escaping @Sendable (WebSocket) async -> Void
  ) -> Rest {
    guard let exchange else { return .nothing }
    guard let key = exchange.webSocketKey, !hasPeerEnded else {
      var refusal = core.configuration.refusal(.upgradeRequired)
      refusal.headers["Upgrade"] = "websocket"
      refusal.headers["Sec-WebSocket-Version"] = "13"
      return send(refusal, exchange.number)
    }
    var response = response
    response.status = 101
    response.headers["Upgrade"] = "websocket"
    response.headers["Sec-WebSocket-Accept"] = WebSocketHandshake.accept(key)
    if let subprotocol { response.headers["Sec-WebSocket-Protocol"] = subprotocol }
    var head: [UInt8] = []
    ResponseHead.write(response, framing: .upgrade, keepsAlive: true, date: state.dateText, into: &head)
    self.exchange?.progress = .webSocket
    self.exchange?.status = 101
    let early = logic.handOver()
    let session = WebSocketSession(connection: self, messageBytesLimit: core.configuration.webSocketMessageBytesLimit)
    mode = .webSocket(session)
    write(head)
    session.assumeIsolated { session in early.withUnsafeBytes { session.receive($0) } }
    afterChange()
    return .webSocket(session, body)
  }

  /// The session has ended and sent what it had to: ends the connection when that has left.
  func finishWebSocket() {
    guard case .webSocket = mode, exchange != nil else { return }
    mode = .http
    exchange?.keepsAlive = false
    exchange?.progress = .written
    advance()
    afterChange()
  }
}
