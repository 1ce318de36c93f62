import Database
import EventLoop
import HTTPServer
import WebSockets

/// A client's socket that goes on at the node that has its session: texts both ways, over a WebSocket of its own between the two nodes.
actor NodeLink {
  /// A greeting tells a whole session.
  private static let messageBytesLimit = 16 << 20
  /// For the connection and the handshake: a node that does not answer by then is taken for gone.
  private static let openMilliseconds: Int64 = 3_000
  /// What may wait to be sent until `send` waits too.
  private static let unsentBytes = 64 << 10

  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// What the other node says, in order. Ends with the link.
  nonisolated let texts: AsyncStream<[UInt8]>
  private nonisolated let input: AsyncStream<[UInt8]>.Continuation

  private let framing = WebSocketFraming(.client, messageBytesLimit: messageBytesLimit, takesBinary: false)
  private var handshake: ClientHandshake
  /// nil before `open`, and once it has ended.
  private var stream: OutgoingStream?
  private var isOpen = false
  private var hasEnded = false
  private var opening: CheckedContinuation<Bool, Never>?
  /// The one task that sends.
  private var sender: CheckedContinuation<Void, Never>?
  private var endings: [CheckedContinuation<Void, Never>] = []

  init(to node: NodeContact, headers: [(name: String, value: String)], on loop: EventLoop) {
    self.loop = loop
    handshake = ClientHandshake(target: CallServer.socketPath, authority: node.address, headers: headers)
    (texts, input) = AsyncStream.makeStream()
  }

  /// Returns whether the other node has taken the socket.
  func open(_ node: NodeContact) async -> Bool {
    guard !hasEnded, let (host, port) = Self.parts(of: node.address) else { return false }
    let timer = loop.schedule(after: .milliseconds(Self.openMilliseconds)) { [weak self] in
      self?.assumeIsolated { $0.isLate() }
    }
    defer { timer.cancel() }
    return await withCheckedContinuation { continuation in
      opening = continuation
      stream = OutgoingStream(
        to: host, port: port, on: loop, drained: { self.assumeIsolated { $0.resumeSender() } },
        tell: { event in
          // Its bytes are good during the call, and the call is on the loop of this actor.
          nonisolated(unsafe) let event = event
          self.assumeIsolated { $0.take(event) }
        })
    }
  }

  /// Suspends while much is unsent. False once the link has ended.
  func send(_ text: String) async -> Bool {
    guard isOpen, !hasEnded, framing.queue(text: Array(text.utf8)) else { return false }
    flush()
    if let stream, stream.unsentBytes > Self.unsentBytes { await withCheckedContinuation { sender = $0 } }
    return !hasEnded
  }

  /// Nothing is said any more. `texts` ends soon.
  func close() {
    if let stream { stream.close() } else { end() }
  }

  /// Returns when the loop has nothing of it any more.
  func ended() async {
    if !hasEnded { await withCheckedContinuation { endings.append($0) } }
  }

  /// `host:port`, the host in brackets if it is an IPv6 address.
  static func parts(of address: String) -> (host: String, port: UInt16)? {
    guard let colon = address.lastIndex(of: ":"), let port = UInt16(address[address.index(after: colon)...]) else { return nil }
    let host = address[..<colon].drop { $0 == "[" }.prefix { $0 != "]" }
    return host.isEmpty ? nil : (String(host), port)
  }

  // MARK: The loop

  private func take(_ event: OutgoingStream.Event) {
    switch event {
    case .opened: stream?.write(handshake.request)
    case .bytes(let bytes): if isOpen { receive(bytes) } else { shakeHands(bytes) }
    case .ended: end()
    }
  }

  private func shakeHands(_ bytes: UnsafeRawBufferPointer) {
    switch handshake.receive(bytes) {
    case .needsMore: break
    case .refused: close()
    case .open(let rest):
      isOpen = true
      opening?.resume(returning: true)
      opening = nil
      rest.withUnsafeBytes { receive($0) }
    }
  }

  private func receive(_ bytes: UnsafeRawBufferPointer) {
    for message in framing.receive(bytes) { input.yield(message.bytes) }
    flush()
    if framing.hasReadEnded { close() }
  }

  private func flush() { stream?.write(framing.takeOutput()) }

  private func isLate() { if !isOpen { close() } }

  private func resumeSender() {
    sender?.resume()
    sender = nil
  }

  private func end() {
    hasEnded = true
    stream = nil
    input.finish()
    opening?.resume(returning: false)
    opening = nil
    resumeSender()
    for ending in endings { ending.resume() }
    endings = []
  }
}
