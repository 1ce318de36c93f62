import CUV
import EventLoop
import Glibc

/// One client's connection: moves bytes between the socket, `ConnectionLogic` and the handler's task.
///
/// An actor on its loop: C callbacks enter by `assumeIsolated`, handlers run on the same loop, so nothing here waits.
actor HTTPConnection {
  enum Mode {
    case http
    case webSocket(WebSocketSession)
    /// The last response is out; what still comes is thrown away until the client has seen it.
    case lingering
    case closed
  }

  nonisolated let loop: EventLoop
  nonisolated let state: LoopState
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// Where this connection stands in the loop's list.
  var slot = 0
  var mode = Mode.http
  var logic: ConnectionLogic
  var exchange: Exchange?
  var exchangeCount: UInt64 = 0

  let tcp: UnsafeMutablePointer<uv_tcp_t>
  let socketPeer: SocketAddress
  private let isCensusExempt: Bool
  var isReading = false
  var hasPeerEnded = false
  private var isAdvancing = false
  /// A read is being worked on, which brings everything in line once, at its end.
  private var isReceiving = false

  var output = OutputQueue()
  /// Bytes a pending `uv_write` has.
  var inFlightBytes = 0
  var writers: [CheckedContinuation<Void, any Error>] = []

  var timer: TimerToken?
  var timerDeadline = UInt64.max
  /// When the phase began, the last body byte came, the last byte left.
  var phaseStarted: UInt64
  var lastReceived: UInt64
  var lastProgress: UInt64 = 0
  private var seenPhase = ConnectionLogic.Phase.idle

  var core: ServerCore { state.core }

  var stream: UnsafeMutablePointer<uv_stream_t> {
    UnsafeMutableRawPointer(tcp).assumingMemoryBound(to: uv_stream_t.self)
  }

  private init(_ tcp: UnsafeMutablePointer<uv_tcp_t>, peer: SocketAddress, isCensusExempt: Bool, state: LoopState) {
    let configuration = state.core.configuration
    self.tcp = tcp
    self.state = state
    loop = state.loop
    socketPeer = peer
    self.isCensusExempt = isCensusExempt
    logic = ConnectionLogic(
      headerBytesLimit: configuration.headerBytesLimit, headerCountLimit: configuration.headerCountLimit,
      pipelinedBytesLimit: configuration.pipelinedBytesLimit)
    phaseStarted = state.now
    lastReceived = phaseStarted
  }

  /// Takes an accepted socket over, on the loop. The handle owns the connection until it is closed.
  static func open(
    _ tcp: UnsafeMutablePointer<uv_tcp_t>, peer: SocketAddress, isCensusExempt: Bool, state: LoopState
  ) {
    uv_tcp_nodelay(tcp, 1)
    // The caller is on the loop and keeps no copy.
    nonisolated(unsafe) let tcp = tcp
    let connection = HTTPConnection(tcp, peer: peer, isCensusExempt: isCensusExempt, state: state)
    connection.assumeIsolated { connection in
      connection.tcp.pointee.data = Unmanaged.passRetained(connection).toOpaque()
      connection.slot = state.add(connection)
      connection.setReading(true)
      connection.updateDeadline()
    }
  }

  // MARK: Reading

  func setReading(_ on: Bool) {
    guard on != isReading, !hasPeerEnded else { return }
    isReading = on
    guard on else {
      uv_read_stop(stream)
      return
    }
    uv_read_start(
      stream,
      { handle, _, buffer in
        let state = HTTPConnection.of(handle!.pointee.data).state
        buffer!.pointee.base = state.readBuffer.assumingMemoryBound(to: CChar.self)
        buffer!.pointee.len = LoopState.readBufferBytes
      },
      { stream, count, buffer in
        // Stays on this thread: the call below is synchronous.
        nonisolated(unsafe) let bytes = UnsafeRawBufferPointer(start: buffer!.pointee.base, count: max(0, count))
        let connection = HTTPConnection.of(stream!.pointee.data)
        connection.assumeIsolated { connection in
          if count > 0 {
            connection.received(bytes)
          } else if count < 0 {
            connection.ended(isClean: count == Int(UV_EOF.rawValue))
          }
        }
      })
  }

  /// The connection a C callback is for. The handle holds it until it is closed.
  private static func of(_ data: UnsafeMutableRawPointer) -> HTTPConnection {
    Unmanaged<HTTPConnection>.fromOpaque(data).takeUnretainedValue()
  }

  private func received(_ bytes: UnsafeRawBufferPointer) {
    lastReceived = state.now
    isReceiving = true
    switch mode {
    case .http:
      var events = state.events
      state.events = []
      logic.receive(bytes, into: &events)
      process(&events)
      advance()
    case .webSocket(let session):
      nonisolated(unsafe) let bytes = bytes
      session.assumeIsolated { $0.receive(bytes) }
    case .lingering, .closed:
      break
    }
    isReceiving = false
    afterChange()
  }

  /// The client closed its side or the connection broke: the handler is cancelled. After a clean end the client may still
  /// read, as one does that closes its sending side only: an answer that is ready within `lingerTimeout` is sent.
  private func ended(isClean: Bool) {
    hasPeerEnded = true
    isReading = false
    guard isClean, case .http = mode, exchange != nil else {
      close()
      return
    }
    exchange?.keepsAlive = false
    phaseStarted = state.now
    if exchange?.isBodyComplete == false { failBody(.clientGone) }
    cancelHandler()
    afterChange()
  }

  /// Reads on, or not: what is unread, kept for later or unsent has a limit.
  func updateReading() {
    switch mode {
    case .closed: return
    case .lingering: setReading(true)
    case .webSocket(let session): setReading(session.assumeIsolated { $0.wantsBytes })
    case .http:
      let unread = exchange?.pipe.map { pipe in pipe.assumeIsolated { $0.bufferedBytes } } ?? 0
      let limit = isReading ? core.configuration.bodyHighWaterBytes : core.configuration.bodyLowWaterBytes + 1
      setReading(unread < limit && logic.wantsBytes)
    }
  }

  // MARK: Protocol

  /// Acts on what the logic found. A request is started last, when all that came with it is at hand.
  private func process(_ events: inout [ConnectionLogic.Event]) {
    var head: RequestHead?
    var body: [UInt8] = []
    var isComplete = false
    var refusal: Status?
    for event in events {
      switch event {
      case .request(let found): head = found
      case .body(let bytes): if head == nil { bodyArrived(bytes) } else { body = bytes }
      case .bodyEnd: if head == nil { bodyEnded() } else { isComplete = true }
      case .bodyMalformed:
        exchange?.keepsAlive = false
        failBody(.malformedBody)
      case .refuse(let status): refusal = status
      }
    }
    events.removeAll(keepingCapacity: true)
    state.events = events
    if let refusal { refuse(refusal) }
    if let head { begin(head, body, isComplete: isComplete) }
  }

  /// Goes on with requests that had to wait, one after the other rather than one inside the other.
  func advance() {
    guard !isAdvancing else { return }
    isAdvancing = true
    defer { isAdvancing = false }
    while finishExchange() {
      var events = state.events
      state.events = []
      logic.responseIsDone(into: &events)
      process(&events)
    }
  }

  /// Brings reading and deadlines in line with what has happened.
  func afterChange() {
    guard !isReceiving else { return }
    if logic.phase != seenPhase {
      // The head's deadline counts from its first byte: an idle connection that gets bytes starts it.
      seenPhase = logic.phase
      phaseStarted = state.now
    }
    updateReading()
    updateDeadline()
  }

  // MARK: Life

  func cancelHandler() { exchange?.task?.cancel() }

  /// The next response is the last. An idle connection stays: the client may be about to ask.
  func beginDraining() {
    if case .http = mode, exchange?.progress == .waiting { exchange?.keepsAlive = false }
  }

  /// Closes when idle; else the response under way is the last.
  func beginShutdown() {
    switch mode {
    case .http:
      guard let exchange else {
        if logic.phase == .idle { close() }
        return
      }
      self.exchange?.keepsAlive = false
      if exchange.endsOnShutdown, exchange.progress == .waiting { cancelHandler() }
    case .webSocket(let session):
      session.assumeIsolated { $0.beginClose(code: 1001) }
    case .lingering, .closed:
      return
    }
  }

  /// Closes the connection at once. Cancels the handler; pending reads and writes get `HTTPError.clientGone`.
  func close() {
    if case .closed = mode { return }
    let session: WebSocketSession? = if case .webSocket(let session) = mode { session } else { nil }
    mode = .closed
    logic.stop()
    timer?.cancel()
    timer = nil
    failBody(.clientGone)
    cancelHandler()
    session?.assumeIsolated { $0.connectionClosed() }
    if exchange != nil { report() }
    exchange = nil
    output.removeAll()
    resumeWriters(throwing: HTTPError.clientGone)
    uv_close(UnsafeMutableRawPointer(tcp).assumingMemoryBound(to: uv_handle_t.self)) { handle in
      let owner = Unmanaged<HTTPConnection>.fromOpaque(handle!.pointee.data)
      owner._withUnsafeGuaranteedRef { connection in connection.assumeIsolated { $0.handleClosed() } }
      UnsafeMutableRawPointer(handle!).assumingMemoryBound(to: uv_tcp_t.self).deallocate()
      owner.release()
    }
  }

  private func handleClosed() {
    state.remove(slot: slot)
    core.census.leave(socketPeer.ip, isExempt: isCensusExempt)
  }
}
