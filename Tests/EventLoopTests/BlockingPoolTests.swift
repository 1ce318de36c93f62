import EventLoop
import Glibc
import Synchronization
import Testing

/// Holds a thread until it is opened.
private final class Gate: Sendable {
  private let isOpen = Atomic(false)

  func wait() { while !isOpen.load(ordering: .acquiring) { sched_yield() } }

  func open() { isOpen.store(true, ordering: .releasing) }
}

@Suite struct BlockingPoolTests {
  private struct Refusal: Error {}

  @Test func `values and errors come back from the pool's threads`() async throws {
    let pool = try BlockingPool(threads: 2)
    #expect(try await pool.run { EventLoop.current == nil ? 42 : 0 } == 42)
    await #expect(throws: Refusal.self) { try await pool.run { throw Refusal() } }
    await pool.shutdown()
  }

  /// Such as a file that is closed and removed when nobody refers to it any more.
  private final class Held: Sendable {
    func use() {}
  }

  /// Calls `run` with a closure that refers to an object, and returns whether the object outlives the call.
  private func keepsWhatItRan(_ pool: BlockingPool, _ body: @escaping @Sendable () -> Void = {}) async throws -> Bool {
    weak var left: Held?
    do {
      let held = Held()
      left = held
      try await pool.run { [held] in
        held.use()
        body()
      }
    }
    return left != nil
  }

  @Test func `what a closure refers to is let go of before its caller goes on`() async throws {
    let pool = try BlockingPool(threads: 2)
    for _ in 0..<2_000 { #expect(try await keepsWhatItRan(pool) == false) }
    await pool.shutdown()
  }

  @Test func `a closure that ran is let go of while others still wait behind it`() async throws {
    let pool = try BlockingPool(threads: 1, queueLimit: 1)
    let first = Gate(), last = Gate()
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    async let isKept = keepsWhatItRan(pool) {
      start.yield()
      first.wait()
    }
    for await _ in started { break }
    // When one is refused the other waits in the queue.
    let (refused, refuse) = AsyncStream.makeStream(of: Void.self)
    let behind = (0..<2).map { _ in
      Task { do { try await pool.run { last.wait() } } catch { refuse.yield() } }
    }
    for await _ in refused { break }
    first.open()
    #expect(try await isKept == false)
    last.open()
    for task in behind { await task.value }
    await pool.shutdown()
  }

  @Test func `as many closures wait as the queue may hold, and one more is refused`() async throws {
    let pool = try BlockingPool(threads: 1, queueLimit: 2)
    let gate = Gate()
    let (started, start) = AsyncStream.makeStream(of: Void.self)
    let running = Task {
      try await pool.run {
        start.yield(); gate.wait()
      }
    }
    for await _ in started { break }
    let (queued, queue) = AsyncStream.makeStream(of: Int.self)
    let waiting = (0..<3).map { number in
      Task { () -> Bool in
        do {
          _ = try await pool.run { queue.yield(number) }
          return true
        } catch BlockingPoolError.queueFull {
          queue.yield(-1)
          return false
        }
      }
    }
    for await number in queued {
      #expect(number == -1)
      break
    }
    gate.open()
    try await running.value
    var ran = 0
    for task in waiting where try await task.value { ran += 1 }
    #expect(ran == 2)
    await pool.shutdown()
  }

  @Test func `a pool that was shut down refuses, after it ran what was queued`() async throws {
    let pool = try BlockingPool(threads: 1)
    let results = Shared(0)
    await withTaskGroup { group in
      for _ in 0..<50 { group.addTask { _ = try? await pool.run { results.change { $0 += 1 } } } }
    }
    await pool.shutdown()
    #expect(results.current == 50)
    await #expect(throws: BlockingPoolError.shutDown) { try await pool.run {} }
  }

  @Test func `a task may prefer the pool`() async throws {
    let pool = try BlockingPool(threads: 1)
    let value = await Task(executorPreference: pool) {
      await Task.yield()
      return 7
    }.value
    #expect(value == 7)
    await pool.shutdown()
  }

  @Test func `a cancelled task is not run`() async throws {
    let pool = try BlockingPool(threads: 1)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await pool.run { true }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    await pool.shutdown()
  }
}
