import MatrixModel
import Synchronization

/// A few places for costly work, given in turn to the owners who wait: one who asks for much delays themself.
final class FairQueue: Sendable {
  private struct State {
    var running = 0
    /// Whose turn it is, first to last; everyone here has somebody in `waiting`.
    var turns: [String] = []
    var waiting: [String: [UnsafeContinuation<Void, any Error>]] = [:]
    var waitingCount = 0
  }

  private let places: Int
  private let ownerLimit: Int
  private let limit: Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - places: what runs at once.
  ///   - ownerLimit: what waits of one owner.
  ///   - limit: what waits of all.
  init(places: Int, ownerLimit: Int, limit: Int) {
    self.places = places
    self.ownerLimit = ownerLimit
    self.limit = limit
  }

  /// Runs `body` when it is the owner's turn. Throws `M_LIMIT_EXCEEDED` where too much waits, and what `body` throws.
  func run<Value>(for owner: String, _ body: () async throws -> Value) async throws -> Value {
    try await enter(owner)
    defer { leave() }
    try Task.checkCancellation()
    return try await body()
  }

  private func enter(_ owner: String) async throws {
    try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
      let result = state.withLock { state -> Result<Void, any Error>? in
        if state.running < places {
          state.running += 1
          return .success(())
        }
        guard state.waitingCount < limit, state.waiting[owner, default: []].count < ownerLimit else {
          return .failure(MatrixError.limitExceeded(retryAfterMilliseconds: 1_000))
        }
        if state.waiting[owner] == nil { state.turns.append(owner) }
        state.waiting[owner, default: []].append(continuation)
        state.waitingCount += 1
        return nil
      }
      if let result { continuation.resume(with: result) }
    }
  }

  /// Gives the place to the owner whose turn it is, who then goes to the end.
  private func leave() {
    let next = state.withLock { state -> UnsafeContinuation<Void, any Error>? in
      guard !state.turns.isEmpty else {
        state.running -= 1
        return nil
      }
      let owner = state.turns.removeFirst()
      guard var queue = state.waiting[owner], !queue.isEmpty else { preconditionFailure("whose turn it is waits") }
      let next = queue.removeFirst()
      state.waitingCount -= 1
      state.waiting[owner] = queue.isEmpty ? nil : queue
      if !queue.isEmpty { state.turns.append(owner) }
      return next
    }
    next?.resume()
  }
}
