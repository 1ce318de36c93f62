import EventLoop
import WebSockets

/// A WebSocket between its connection and its handler, all on one loop.
actor WebSocketSession {
  private enum Life {
    case open
    /// Our close frame is out; the client's is awaited. Since when, in nanoseconds.
    case closing(UInt64)
    /// `isClean` tells whether by handshake.
    case closed(isClean: Bool)
  }

  /// What a message costs in the inbox beyond its bytes, so that a flood of empty ones ends as well.
  private static let messageOverheadBytes = 64

  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private let connection: HTTPConnection
  private let framing: WebSocketFraming
  private var life = Life.open
  private var inbox: [WebSocket.Message] = []
  private var inboxBytes = 0
  private var waiter: CheckedContinuation<WebSocket.Message?, any Error>?
  private var lastHeard: UInt64
  private var awaitsPong = false

  init(connection: HTTPConnection, messageBytesLimit: Int) {
    self.connection = connection
    loop = connection.loop
    framing = WebSocketFraming(.server, messageBytesLimit: messageBytesLimit)
    lastHeard = connection.state.now
  }

  // MARK: The connection's side

  /// What is unread has a limit, and so has what the client does not read: it could make us answer pings for ever.
  var wantsBytes: Bool {
    let configuration = connection.state.core.configuration
    let unsent = connection.assumeIsolated { $0.unsentBytes }
    return inboxBytes < configuration.bodyHighWaterBytes && unsent <= configuration.outputHighWaterBytes
  }

  func receive(_ bytes: UnsafeRawBufferPointer) {
    guard !bytes.isEmpty else { return }
    lastHeard = connection.state.now
    awaitsPong = false
    for message in framing.receive(bytes) { deliver(WebSocket.Message(message)) }
    flush()
  }

  func connectionClosed() {
    if case .closed = life { return }
    life = .closed(isClean: false)
    resumeWaiter()
  }

  func pingDeadline(interval: UInt64) -> UInt64 {
    switch life {
    case .open: HTTPConnection.sum(lastHeard, awaitsPong ? HTTPConnection.sum(interval, interval) : interval)
    case .closing(let since): HTTPConnection.sum(since, connection.state.core.timeouts.linger)
    case .closed: .max - 1
    }
  }

  /// The deadline has passed: asks whether the client is there or, having asked already, gives it up.
  func pingIntervalPassed() {
    guard case .open = life, !awaitsPong else {
      connection.assumeIsolated { $0.close() }
      return
    }
    awaitsPong = true
    framing.queuePing()
    flush()
  }

  // MARK: The handler's side

  func next() async throws -> WebSocket.Message? {
    if !inbox.isEmpty {
      let message = inbox.removeFirst()
      inboxBytes -= Self.cost(of: message)
      readOn()
      return message
    }
    if case .closed(let isClean) = life {
      guard isClean else { throw HTTPError.clientGone }
      return nil
    }
    precondition(waiter == nil, "the messages of a WebSocket are read by one task")
    return try await withTaskCancellationHandler {
      try Task.checkCancellation()
      return try await withCheckedThrowingContinuation { waiter = $0 }
    } onCancel: {
      loop.submit { self.assumeIsolated { $0.cancelWaiter() } }
    }
  }

  func send(_ message: WebSocket.Message) async throws {
    guard case .open = life, framing.queue(message) else { throw HTTPError.clientGone }
    flush()
    try await connection.drained()
  }

  func beginClose(code: UInt16, reason: String = "") {
    guard case .open = life else { return }
    life = .closing(connection.state.now)
    inbox = []
    inboxBytes = 0
    framing.queueClose(code: code, reason: reason)
    flush()
    connection.assumeIsolated { $0.afterChange() }
  }

  /// The handler has returned.
  func finish() { beginClose(code: 1000) }

  // MARK: Inside

  private func readOn() { connection.assumeIsolated { $0.updateReading() } }

  private func deliver(_ message: WebSocket.Message) {
    guard case .open = life else { return }
    if let waiter {
      self.waiter = nil
      waiter.resume(returning: message)
      return
    }
    inbox.append(message)
    inboxBytes += Self.cost(of: message)
  }

  private static func cost(of message: WebSocket.Message) -> Int {
    switch message {
    case .text(let text): text.utf8.count + messageOverheadBytes
    case .binary(let bytes): bytes.count + messageOverheadBytes
    }
  }

  /// Sends what wslay has ready, and ends the session when both close frames, or the one for a violation, are out.
  private func flush() {
    let bytes = framing.takeOutput()
    if !bytes.isEmpty { connection.assumeIsolated { $0.write(bytes) } }
    guard framing.hasReadEnded, framing.hasSentClose || framing.hasReceivedClose else { return }
    if case .closed = life { return }
    life = .closed(isClean: framing.hasReceivedClose)
    resumeWaiter()
    connection.assumeIsolated { $0.finishWebSocket() }
  }

  private func resumeWaiter() {
    guard let waiter, case .closed(let isClean) = life else { return }
    self.waiter = nil
    if isClean { waiter.resume(returning: nil) } else { waiter.resume(throwing: HTTPError.clientGone) }
  }

  private func cancelWaiter() {
    guard let waiter else { return }
    self.waiter = nil
    waiter.resume(throwing: CancellationError())
  }
}

extension WebSocket.Message {
  fileprivate init(_ message: WebSocketFraming.Message) {
    self = message.isText ? .text(String(decoding: message.bytes, as: UTF8.self)) : .binary(message.bytes)
  }
}

extension WebSocketFraming {
  fileprivate func queue(_ message: WebSocket.Message) -> Bool {
    switch message {
    case .text(let text): queue(text: Array(text.utf8))
    case .binary(let bytes): queue(binary: bytes)
    }
  }
}
