import Synchronization

/// One request that waits: a continuation that is resumed once, by news, by time or because its client went away.
///
/// About 100 bytes, the continuation's task not counted.
package final class ParkedSync: Sendable {

  package init() {}
  private enum State {
    case open
    case parked(UnsafeContinuation<Void, Never>)
    case finished
  }

  private let state = Mutex(State.open)

  package func park(_ continuation: UnsafeContinuation<Void, Never>) {
    let isFinished = state.withLock { state in
      if case .finished = state { return true }
      state = .parked(continuation)
      return false
    }
    if isFinished { continuation.resume() }
  }

  /// Resumes the request on its own executor. Later calls do nothing.
  package func finish() {
    let parked = state.withLock { state -> UnsafeContinuation<Void, Never>? in
      defer { state = .finished }
      if case .parked(let continuation) = state { return continuation }
      return nil
    }
    parked?.resume()
  }
}
