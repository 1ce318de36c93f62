import Synchronization

/// Tells one task that there is work. Telling it twice before it looks is the same as once.
package final class WorkSignal: Sendable {

  package init() {}
  private struct State {
    var isSet = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  /// May be called from any thread; never blocks.
  package func notify() {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard let waiter = state.waiter else {
        state.isSet = true
        return nil
      }
      state.waiter = nil
      return waiter
    }
    waiter?.resume()
  }

  /// Returns once there was a `notify()` since the last return, or when the task is cancelled. For one task at a time.
  package func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isSet = state.withLock { state -> Bool in
          if state.isSet || Task.isCancelled {
            state.isSet = false
            return true
          }
          state.waiter = continuation
          return false
        }
        if isSet { continuation.resume() }
      }
    } onCancel: {
      notify()
    }
  }
}
