import EventLoop
import ServerCore
import Synchronization

/// When pushers look again: one timer for each, however often something new comes up meanwhile.
final class PusherTimers: Sendable {
  private struct State {
    var timers: [Pusher.ID: (number: Int, token: TimerToken)] = [:]
    var lastNumber = 0
  }

  private let state = Mutex(State())

  /// The pusher's only one from now on.
  func set(_ id: Pusher.ID, after delay: Duration, on loop: EventLoop? = Notifier.loop, _ body: @escaping @Sendable () -> Void)
  {
    guard let loop else { return }
    state.withLock { state in
      state.lastNumber += 1
      let number = state.lastNumber
      state.timers[id]?.token.cancel()
      let token = loop.schedule(after: delay) { [weak self] in
        self?.forget(id, number)
        body()
      }
      state.timers[id] = (number, token)
    }
  }

  func cancelAll() {
    state.withLock { state in
      for timer in state.timers.values { timer.token.cancel() }
      state.timers = [:]
    }
  }

  private func forget(_ id: Pusher.ID, _ number: Int) {
    state.withLock { state in if state.timers[id]?.number == number { state.timers[id] = nil } }
  }
}
