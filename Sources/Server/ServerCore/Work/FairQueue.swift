import MatrixModel
import Synchronization

/// A few places for costly work, given in turn to the owners who wait: one who asks for much delays themself.
package final class FairQueue: Sendable {
  private struct State {
    var running = 0
    /// By owner; nobody is in it with none.
    var runningOf: [String: Int] = [:]
    /// Whose turn it is, first to last; everyone here has somebody in `waiting`.
    var turns: [String] = []
    var waiting: [String: [UnsafeContinuation<Void, any Error>]] = [:]
    var waitingCount = 0
  }

  private let places: Int
  private let ownerPlaces: Int
  private let ownerLimit: Int
  private let limit: Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - places: what runs at once.
  ///   - ownerPlaces: what runs at once of one owner; nil for all places.
  ///   - ownerLimit: what waits of one owner.
  ///   - limit: what waits of all.
  package init(places: Int, ownerPlaces: Int? = nil, ownerLimit: Int, limit: Int) {
    self.places = places
    self.ownerPlaces = ownerPlaces ?? places
    self.ownerLimit = ownerLimit
    self.limit = limit
  }

  /// Runs `body` when it is the owner's turn. Throws `M_LIMIT_EXCEEDED` where too much waits, and what `body` throws.
  package func run<Value>(for owner: String, _ body: () async throws -> Value) async throws -> Value {
    try await enter(owner)
    defer { leave(owner) }
    try Task.checkCancellation()
    return try await body()
  }

  private func enter(_ owner: String) async throws {
    try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
      let result = state.withLock { state -> Result<Void, any Error>? in
        if state.running < places, state.runningOf[owner, default: 0] < ownerPlaces {
          state.running += 1
          state.runningOf[owner, default: 0] += 1
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
  private func leave(_ owner: String) {
    let next = state.withLock { state -> UnsafeContinuation<Void, any Error>? in
      let left = state.runningOf[owner, default: 0] - 1
      state.runningOf[owner] = left > 0 ? left : nil
      guard let turn = state.turns.firstIndex(where: { state.runningOf[$0, default: 0] < ownerPlaces }) else {
        state.running -= 1
        return nil
      }
      let owner = state.turns.remove(at: turn)
      guard var queue = state.waiting[owner], !queue.isEmpty else { preconditionFailure("whose turn it is waits") }
      let next = queue.removeFirst()
      state.waitingCount -= 1
      state.waiting[owner] = queue.isEmpty ? nil : queue
      if !queue.isEmpty { state.turns.append(owner) }
      state.runningOf[owner, default: 0] += 1
      return next
    }
    next?.resume()
  }
}
