import EventLoop
import Glibc
import Synchronization

/// An HTTP/1.1 server: listens on every address with every loop of a group.
package final class HTTPServer: Sendable {
  private enum Life {
    case new
    case running
    case stopping
    case stopped
  }

  private struct State {
    var life = Life.new
    var boundAddresses: [SocketAddress] = []
    var stopped: [CheckedContinuation<Void, Never>] = []
  }

  private let core: ServerCore
  private let loops: EventLoopGroup
  private let loopStates: [LoopState]
  private let state = Mutex(State())

  /// - Parameters:
  ///   - loops: stay the caller's, who shuts them down after the server.
  ///   - pool: where files are read; the caller's as well.
  package init(configuration: HTTPServerConfiguration, router: Router, loops: EventLoopGroup, pool: BlockingPool) {
    // A client that closed would otherwise end the process at the next write.
    signal(SIGPIPE, SIG_IGN)
    let core = ServerCore(configuration: configuration, router: router, pool: pool)
    self.core = core
    self.loops = loops
    loopStates = loops.loops.map { LoopState(loop: $0, core: core) }
  }

  /// Where the server listens, with real ports; empty before `start()`.
  package var boundAddresses: [SocketAddress] { state.withLock { $0.boundAddresses } }

  /// Open connections.
  package var connectionCount: Int { core.census.count }

  /// Listens on all addresses or, when one fails, on none.
  ///
  /// - Throws: `BindError` naming the address.
  /// - Precondition: called once.
  package func start() async throws(BindError) {
    let isNew = state.withLock { state in
      defer { state.life = .running }
      return state.life == .new
    }
    precondition(isNew, "a server starts once")
    do throws(BindError) {
      for address in core.configuration.bind {
        let (descriptors, bound) = try ListeningSocket.open(address, count: loopStates.count)
        try await listen(bound, descriptors)
        state.withLock { $0.boundAddresses.append(bound) }
      }
    } catch {
      for state in loopStates { await onLoop(state) { $0.stopListening() } }
      throw error
    }
  }

  /// Starts and returns when `shutdown` has finished.
  ///
  /// - Throws: `BindError` naming the address.
  package func run() async throws(BindError) {
    try await start()
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let isOver = state.withLock { state in
        if state.life != .stopped { state.stopped.append(continuation) }
        return state.life == .stopped
      }
      if isOver { continuation.resume() }
    }
  }

  /// Asks clients to leave: each answer from now on is the last of its connection. Everything else goes on until `shutdown`.
  package func drain() async {
    for state in loopStates { await onLoop(state) { $0.beginDraining() } }
  }

  /// Stops accepting and closes idle connections; the others end with their response. Handlers of routes that end on
  /// shutdown are cancelled at once unless their response is on its way, the rest when `grace` has passed; a second later what is left is closed.
  package func shutdown(grace: Duration) async {
    let isFirst = state.withLock { state in
      defer { if state.life != .stopped { state.life = .stopping } }
      return state.life == .new || state.life == .running
    }
    guard isFirst else { return }
    // Whose connection ends may come again at once: by then no loop listens.
    for state in loopStates { await onLoop(state) { $0.stopListening() } }
    for state in loopStates { await onLoop(state) { $0.beginShutdown() } }
    if await !emptied(within: grace) {
      for state in loopStates { await onLoop(state) { $0.cancelAll() } }
      if await !emptied(within: .seconds(1)) {
        for state in loopStates { await onLoop(state) { $0.closeAll() } }
        await withCheckedContinuation { done in core.census.whenEmpty { done.resume() } }
      }
    }
    let waiting = state.withLock { state in
      state.life = .stopped
      return state.stopped
    }
    for continuation in waiting { continuation.resume() }
  }

  private func listen(_ address: SocketAddress, _ descriptors: [Int32]) async throws(BindError) {
    var failure: Int32 = 0
    for (state, descriptor) in zip(loopStates, descriptors) {
      if failure != 0 {
        close(descriptor)
        continue
      }
      failure = await onLoop(state) { $0.listen(on: descriptor) }
    }
    if failure != 0 { throw BindError(address: address.description, reason: String(cString: strerror(-failure))) }
  }

  private func onLoop<Value: Sendable>(_ state: LoopState, _ body: @escaping @Sendable (LoopState) -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      state.loop.submit { continuation.resume(returning: body(state)) }
    }
  }

  /// Whether every connection has closed before the time is up.
  private func emptied(within duration: Duration) async -> Bool {
    await withCheckedContinuation { continuation in
      let once = FirstAnswer(continuation)
      let timer = loops.loops[0].schedule(after: duration) { once.resume(false) }
      core.census.whenEmpty {
        timer.cancel()
        once.resume(true)
      }
    }
  }
}

/// Resumes a continuation with the first of several answers.
private final class FirstAnswer: Sendable {
  private let continuation: Mutex<CheckedContinuation<Bool, Never>?>

  init(_ continuation: CheckedContinuation<Bool, Never>) { self.continuation = Mutex(continuation) }

  func resume(_ answer: Bool) {
    continuation.withLock { continuation in
      defer { continuation = nil }
      return continuation
    }?.resume(returning: answer)
  }
}
