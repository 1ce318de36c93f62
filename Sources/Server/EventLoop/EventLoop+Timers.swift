import CUV
import Synchronization

extension EventLoop {
  /// Nanoseconds of the monotonic clock, the time base of `schedule(atNanoseconds:)`.
  package static var nowNanoseconds: UInt64 { uv_hrtime() }

  /// Runs `action` on the loop once `delay` has passed, rounded up to a millisecond. O(log n) in the timers pending.
  ///
  /// May be called from any thread. A delay of zero or less runs with the next turn of the loop, never inside the caller.
  @discardableResult
  package func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    let now = Self.nowNanoseconds
    let (sum, overflow) = now.addingReportingOverflow(delay.nanosecondsClamped)
    return schedule(atNanoseconds: overflow ? .max - 1 : sum, action)
  }

  /// Like `schedule(after:)` with an absolute time of `nowNanoseconds`.
  @discardableResult
  package func schedule(atNanoseconds deadline: UInt64, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    let token = TimerToken(loop: self, deadline: deadline, action: action)
    if isCurrent { insert(token) } else { submit { self.insert(token) } }
    return token
  }

  /// Suspends until `duration` has passed.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  package func sleep(for duration: Duration) async throws {
    try Task.checkCancellation()
    let sleeper = Sleeper()
    let token = schedule(after: duration) { sleeper.finish(.success(())) }
    defer { token.cancel() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { sleeper.park($0) }
    } onCancel: {
      sleeper.finish(.failure(CancellationError()))
    }
  }

  /// Suspends until `instant`; returns at once when it has passed.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  package func sleep(until instant: ContinuousClock.Instant) async throws {
    try await sleep(for: ContinuousClock.now.duration(to: instant))
  }

  private func insert(_ token: TimerToken) {
    guard token.action != nil else { return }
    timers.insert(token)
    if token.deadline < timerArmedFor { armTimer() }
  }

  func remove(_ token: TimerToken) {
    timers.remove(token)
    token.action = nil
  }

  /// One uv timer stands for the earliest token. It is not moved when that token is cancelled: it then fires for nothing.
  private func armTimer() {
    guard let first = timers.first else {
      timerArmedFor = .max
      return
    }
    timerArmedFor = first.deadline
    let now = Self.nowNanoseconds
    let wait = first.deadline > now ? (first.deadline - now + 999_999) / 1_000_000 : 0
    uv_update_time(uv)
    uv_timer_start(timer, { EventLoop.of($0!.pointee.data).fireTimers() }, wait, 0)
  }

  private func fireTimers() {
    let now = Self.nowNanoseconds
    while let first = timers.first, first.deadline <= now {
      timers.remove(first)
      let action = first.action
      first.action = nil
      action?()
    }
    armTimer()
  }
}

extension Duration {
  /// Nanoseconds, negative durations as zero and what does not fit as the largest number.
  package var nanosecondsClamped: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (product, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return .max }
    let (sum, overflow2) = product.addingReportingOverflow(UInt64(attoseconds) / 1_000_000_000)
    return overflow2 ? .max : sum
  }
}

/// One continuation and one result, whichever comes first.
private final class Sleeper: Sendable {
  private enum State {
    case empty
    case parked(CheckedContinuation<Void, any Error>)
    case finished(Result<Void, any Error>)
  }

  private let state = Mutex(State.empty)

  func park(_ continuation: CheckedContinuation<Void, any Error>) {
    let early = state.withLock { state -> Result<Void, any Error>? in
      if case .finished(let result) = state { return result }
      state = .parked(continuation)
      return nil
    }
    if let early { continuation.resume(with: early) }
  }

  func finish(_ result: Result<Void, any Error>) {
    let parked = state.withLock { state -> CheckedContinuation<Void, any Error>? in
      switch state {
      case .empty:
        state = .finished(result)
        return nil
      case .parked(let continuation):
        state = .finished(result)
        return continuation
      case .finished:
        return nil
      }
    }
    parked?.resume(with: result)
  }
}
