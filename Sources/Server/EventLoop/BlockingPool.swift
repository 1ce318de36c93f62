import Glibc

/// Why a `BlockingPool` did not run something.
package enum BlockingPoolError: Error, Equatable {
  /// The queue holds as many jobs as it may: the caller answers "try later".
  case queueFull
  /// The pool has been shut down.
  case shutDown
}

/// A fixed number of threads for what may not run on a loop: files, hashing, processes.
///
/// As a `TaskExecutor` it cannot refuse, so jobs of tasks that prefer it are not counted against the queue's limit.
// @unchecked: `state` is guarded by `lock`.
package final class BlockingPool: TaskExecutor, @unchecked Sendable {
  private enum Work {
    case job(UnownedJob)
    case closure(@Sendable () -> Void)
  }

  private struct State {
    /// nil where the work was taken: what it refers to must not live as long as the queue.
    var queue: [Work?] = []
    /// The first of `queue` not yet taken.
    var head = 0
    var waitingClosures = 0
    var isShutDown = false
    var threads: Int
    var ended: [CheckedContinuation<Void, Never>] = []

    mutating func take(keepingUpTo capacity: Int) -> Work? {
      guard head < queue.count else { return nil }
      let work = queue[head]
      queue[head] = nil
      head += 1
      if case .closure = work { waitingClosures -= 1 }
      if head == queue.count {
        queue.removeAll(keepingCapacity: queue.count <= capacity)
        head = 0
      } else if head >= 256 && head * 2 >= queue.count {
        queue.removeFirst(head)
        head = 0
      }
      return work
    }
  }

  /// Closures that may wait for a thread.
  package let queueLimit: Int
  private var state: State
  private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  /// - Throws: `EventLoopError` when the system refuses the threads.
  package init(threads: Int, queueLimit: Int = 1024, name: StaticString = "blocking") throws(EventLoopError) {
    self.queueLimit = queueLimit
    state = State(threads: 0)
    pthread_mutex_init(lock, nil)
    pthread_cond_init(condition, nil)
    for _ in 0..<max(1, threads) {
      state.threads += 1
      guard spawnThread(name: name, { self.work() }) else {
        withLock { $0.threads -= 1 }
        stop()
        throw EventLoopError(code: -EAGAIN)
      }
    }
  }

  deinit {
    pthread_mutex_destroy(lock)
    pthread_cond_destroy(condition)
    lock.deallocate()
    condition.deallocate()
  }

  /// Runs `body` on one of the threads and returns what it returns.
  ///
  /// - Throws: what `body` throws; `BlockingPoolError` when it is not run; `CancellationError` when the task was cancelled
  ///   before `body` began. A running body is not interrupted.
  package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try Task.checkCancellation()
    return try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Value, any Error>) in
      let refusal = withLock { state -> BlockingPoolError? in
        if state.isShutDown { return .shutDown }
        if state.waitingClosures >= queueLimit { return .queueFull }
        state.waitingClosures += 1
        let call = PendingCall(body, continuation)
        state.queue.append(.closure { call.run() })
        pthread_cond_signal(condition)
        return nil
      }
      if let refusal { continuation.resume(throwing: refusal) }
    }
  }

  /// A call of `run` that waits for its turn.
  // @unchecked: used by one thread at a time, the caller's and then the one that takes it.
  private final class PendingCall<Value: Sendable>: @unchecked Sendable {
    private var body: (@Sendable () throws -> Value)?
    private let continuation: UnsafeContinuation<Value, any Error>

    init(_ body: @escaping @Sendable () throws -> Value, _ continuation: UnsafeContinuation<Value, any Error>) {
      self.body = body
      self.continuation = continuation
    }

    /// Lets go of `body` before the caller goes on: a file that it closes, for example, is closed by then.
    func run() {
      guard let result = takeResult() else { return }
      continuation.resume(with: result)
    }

    private func takeResult() -> Result<Value, any Error>? {
      defer { body = nil }
      return body.map { Result(catching: $0) }
    }
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let unowned = UnownedJob(job)
    withLock { state in
      state.queue.append(.job(unowned))
      pthread_cond_signal(condition)
    }
  }

  package func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

  /// Refuses new closures, runs those queued, and returns when the threads have ended.
  package func shutdown() async {
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      let isOver = withLock { state in
        if state.threads > 0 { state.ended.append(done) }
        return state.threads == 0
      }
      if isOver { done.resume() }
      stop()
    }
  }

  private func stop() {
    withLock { state in
      state.isShutDown = true
      pthread_cond_broadcast(condition)
    }
  }

  private func work() {
    while let work = next() {
      switch work {
      case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
      case .closure(let closure): closure()
      }
    }
    let ended = withLock { state in
      state.threads -= 1
      return state.threads == 0 ? state.ended : []
    }
    for continuation in ended { continuation.resume() }
  }

  /// Waits for work; nil when the pool is shut down and its queue empty.
  ///
  /// The wait stands outside any access to `state`: others change it meanwhile.
  private func next() -> Work? {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    while true {
      if let work = state.take(keepingUpTo: queueLimit) { return work }
      if state.isShutDown { return nil }
      pthread_cond_wait(condition, lock)
    }
  }

  private func withLock<Value>(_ body: (inout State) -> Value) -> Value {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return body(&state)
  }
}
