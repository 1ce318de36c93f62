import MatrixModel
import Synchronization
import Testing

@testable import ServerCore

@Suite struct FairQueueTests {
  /// What runs until it is let go.
  private final class Work: Sendable {
    private let release = AsyncStream<Void>.makeStream()
    private let entered = AsyncStream<Void>.makeStream()
    private let task = Mutex<Task<Void, any Error>?>(nil)

    init(_ queue: FairQueue, for owner: String) {
      task.withLock {
        $0 = Task { [release, entered] in
          defer { entered.continuation.finish() }
          try await queue.run(for: owner) {
            entered.continuation.yield()
            for await _ in release.stream {}
          }
        }
      }
    }

    /// Returns when it runs; throws where it may not.
    func runs() async throws {
      for await _ in entered.stream { return }
      try await task.withLock { $0 }?.value
    }

    func end() async throws {
      release.continuation.finish()
      try await task.withLock { $0 }?.value
    }
  }

  @Test func `an owner has so many places, and all together so many`() async throws {
    let queue = FairQueue(places: 3, ownerPlaces: 2, ownerLimit: 0, limit: 0)
    let ann = [Work(queue, for: "ann"), Work(queue, for: "ann")]
    for work in ann { try await work.runs() }
    await #expect(throws: MatrixError.self) { try await Work(queue, for: "ann").runs() }
    let bob = Work(queue, for: "bob")
    try await bob.runs()
    await #expect(throws: MatrixError.self) { try await Work(queue, for: "cyn").runs() }
    try await ann[0].end()
    let next = Work(queue, for: "ann")
    try await next.runs()
    for work in [ann[1], bob, next] { try await work.end() }
  }

  @Test func `who waits for a place of their own lets others pass, and gets the next that is theirs`() async throws {
    let queue = FairQueue(places: 2, ownerPlaces: 1, ownerLimit: 1, limit: 10)
    let first = Work(queue, for: "ann")
    try await first.runs()
    let waiting = Work(queue, for: "ann")
    let bob = Work(queue, for: "bob")
    try await bob.runs()
    try await bob.end()
    try await first.end()
    try await waiting.runs()
    try await waiting.end()
  }
}
