import CUV
import Glibc
import Synchronization

/// Why an event loop could not be made. `code` is libuv's (negative errno).
package struct EventLoopError: Error, CustomStringConvertible {
  package let code: Int32

  package var description: String { "event loop: \(String(cString: uv_strerror(code)))" }
}

/// One thread and one libuv loop, usable as the executor of tasks and of actors.
///
/// Everything "confined" here is touched by the loop's thread alone; `remote` is what other threads may touch. Work handed
/// over in one batch costs one `uv_async_send`. Jobs run after each poll phase and before the next, so a callback from C
/// never finds a task halfway through.
///
/// A job enqueued after `shutdown()` has returned never runs.
// @unchecked: `local`, `spare`, `timers` and the uv handles are confined to the loop's thread; `remote` is locked.
package final class EventLoop: TaskExecutor, SerialExecutor, @unchecked Sendable {
  /// Jobs one drain may run before the sockets are looked at again.
  private static let jobsPerDrainLimit = 4096

  private struct Remote {
    var jobs: [UnownedJob] = []
    var closures: [@Sendable () -> Void] = []
    var isStopping = false
    var stopped: [CheckedContinuation<Void, Never>] = []
    var hasStopped = false
  }

  /// The libuv loop. Only for use on the loop's thread.
  package let uv: UnsafeMutablePointer<uv_loop_t>
  var timers = TimerQueue()
  var timerArmedFor = UInt64.max
  let timer: UnsafeMutablePointer<uv_timer_t>

  private let async: UnsafeMutablePointer<uv_async_t>
  private let check: UnsafeMutablePointer<uv_check_t>
  private let prepare: UnsafeMutablePointer<uv_prepare_t>
  private var local: ContiguousArray<UnownedJob> = []
  private var spare: [UnownedJob] = []
  private let remote = Mutex(Remote())

  /// Starts the loop on a thread of its own.
  ///
  /// - Parameter name: the thread's name as the system shows it, at most 15 bytes.
  /// - Throws: `EventLoopError` when the system has no descriptors or threads left.
  package init(name: StaticString = "loop") throws(EventLoopError) {
    uv = .allocate(capacity: 1)
    timer = .allocate(capacity: 1)
    async = .allocate(capacity: 1)
    check = .allocate(capacity: 1)
    prepare = .allocate(capacity: 1)
    local.reserveCapacity(256)
    try openHandles()
    guard spawnThread(name: name, { self.run() }) else { throw EventLoopError(code: UV_EAGAIN.rawValue) }
  }

  deinit {
    uv.deallocate()
    timer.deallocate()
    async.deallocate()
    check.deallocate()
    prepare.deallocate()
  }

  // MARK: Identity

  private static let currentKey: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  /// The loop whose thread is the calling thread, or nil on any other thread.
  package static var current: EventLoop? {
    pthread_getspecific(currentKey).map { Unmanaged<EventLoop>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Whether the calling thread is this loop's.
  package var isCurrent: Bool {
    pthread_getspecific(Self.currentKey) == UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque())
  }

  package func checkIsolated() {
    precondition(isCurrent, "not on the event loop's thread")
  }

  package func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  package func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

  // MARK: Work

  package func enqueue(_ job: consuming ExecutorJob) {
    let unowned = UnownedJob(job)
    if isCurrent {
      local.append(unowned)
      return
    }
    remote.withLock { remote in
      wakeForFirst(of: remote)
      remote.jobs.append(unowned)
    }
  }

  /// Runs `body` on the loop: at once when called there, else with the next batch.
  package func execute(_ body: @escaping @Sendable () -> Void) {
    if isCurrent { body() } else { submit(body) }
  }

  /// Runs `body` on the loop with the next batch, never inside the caller.
  package func submit(_ body: @escaping @Sendable () -> Void) {
    remote.withLock { remote in
      wakeForFirst(of: remote)
      remote.closures.append(body)
    }
  }

  /// Wakes the thread for the first piece of a batch. Called under the lock, so that no wake can meet a closed handle.
  private func wakeForFirst(of remote: borrowing Remote) {
    if remote.jobs.isEmpty && remote.closures.isEmpty && !remote.hasStopped { uv_async_send(async) }
  }

  // MARK: Life

  /// Runs what is already queued, stops the thread and returns when it has ended. Later calls return as soon as it has.
  ///
  /// Handles on the loop must be closed before.
  package func shutdown() async {
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      let hasStopped = remote.withLock { remote in
        if !remote.hasStopped {
          remote.isStopping = true
          remote.stopped.append(done)
          uv_async_send(async)
        }
        return remote.hasStopped
      }
      if hasStopped { done.resume() }
    }
  }

  private func openHandles() throws(EventLoopError) {
    let result = uv_loop_init(uv)
    guard result == 0 else { throw EventLoopError(code: result) }
    let this = Unmanaged.passUnretained(self).toOpaque()
    let asyncResult = uv_async_init(uv, async) { EventLoop.of($0!.pointee.data).drainAll() }
    guard asyncResult == 0 else {
      uv_loop_close(uv)
      throw EventLoopError(code: asyncResult)
    }
    async.pointee.data = this
    uv_check_init(uv, check)
    check.pointee.data = this
    uv_check_start(check) { EventLoop.of($0!.pointee.data).drainLocal() }
    uv_prepare_init(uv, prepare)
    prepare.pointee.data = this
    uv_prepare_start(prepare) { EventLoop.of($0!.pointee.data).drainBeforePoll() }
    uv_timer_init(uv, timer)
    timer.pointee.data = this
  }

  /// The loop a C callback belongs to. It lives as long as its thread, which `run` guarantees.
  static func of(_ data: UnsafeMutableRawPointer) -> EventLoop {
    Unmanaged<EventLoop>.fromOpaque(data).takeUnretainedValue()
  }

  /// The thread's body. The closure that calls it keeps the loop alive.
  private func run() {
    pthread_setspecific(Self.currentKey, Unmanaged.passUnretained(self).toOpaque())
    uv_run(uv, UV_RUN_DEFAULT)
    drainAll()
    let waiting = remote.withLock { remote in
      remote.hasStopped = true
      return remote.stopped
    }
    for handle in [
      UnsafeMutableRawPointer(async), UnsafeMutableRawPointer(check), UnsafeMutableRawPointer(prepare),
      UnsafeMutableRawPointer(timer)
    ] {
      uv_close(handle.assumingMemoryBound(to: uv_handle_t.self), nil)
    }
    // Two turns run the close callbacks; a handle somebody forgot must not keep the thread.
    for _ in 0..<4 where uv_run(uv, UV_RUN_NOWAIT) != 0 {}
    uv_loop_close(uv)
    for continuation in waiting { continuation.resume() }
  }

  // MARK: Draining

  private func drainBeforePoll() {
    drainLocal()
    if !local.isEmpty { uv_async_send(async) }
  }

  /// Runs the jobs enqueued by this thread, those they enqueue included, up to the limit.
  private func drainLocal() {
    guard !local.isEmpty else { return }
    var next = 0
    let limit = Self.jobsPerDrainLimit
    while next < local.count && next < limit {
      let job = local[next]
      next += 1
      run(job)
    }
    if next == local.count {
      local.removeAll(keepingCapacity: true)
    } else {
      local.removeFirst(next)
    }
  }

  private func drainAll() {
    drainLocal()
    var jobs = spare
    spare = []
    var closures: [@Sendable () -> Void] = []
    let isStopping = remote.withLock { remote in
      swap(&remote.jobs, &jobs)
      swap(&remote.closures, &closures)
      return remote.isStopping
    }
    for job in jobs { run(job) }
    for closure in closures { closure() }
    jobs.removeAll(keepingCapacity: jobs.capacity <= Self.jobsPerDrainLimit)
    spare = jobs
    drainLocal()
    if isStopping { uv_stop(uv) }
  }

  private func run(_ job: UnownedJob) {
    job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
  }
}
