import Synchronization

/// Joins a transfer with the cancellation of the task that waits for it, whichever comes first.
final class CancellableTransfer: Sendable {
  private enum State {
    case waiting
    case started(CurlTransfer)
    case cancelled
  }

  private let loop: CurlLoop
  private let state = Mutex(State.waiting)

  init(_ loop: CurlLoop) { self.loop = loop }

  func start(_ transfer: CurlTransfer) {
    let isCancelled = state.withLock { state in
      if case .cancelled = state { return true }
      state = .started(transfer)
      return false
    }
    guard !isCancelled else { return transfer.finish(.failure(.cancelled)) }
    loop.start(transfer)
    // A cancellation that came before the loop had the transfer found nothing there to end.
    let cameMeanwhile = state.withLock { state in if case .cancelled = state { true } else { false } }
    if cameMeanwhile { loop.cancel(transfer) }
  }

  func cancel() {
    let started = state.withLock { state -> CurlTransfer? in
      defer { state = .cancelled }
      if case .started(let transfer) = state { return transfer }
      return nil
    }
    if let started { loop.cancel(started) }
  }
}

extension CurlLoop {
  /// Runs the transfer that `make` makes for a continuation, and returns what it ended with. A cancelled task ends it.
  func run<Value: Sendable>(
    _ make: @Sendable (CheckedContinuation<Result<Value, OutboundError>, Never>) -> CurlTransfer
  ) async -> Result<Value, OutboundError> {
    let transfer = CancellableTransfer(self)
    return await withTaskCancellationHandler {
      await withCheckedContinuation { transfer.start(make($0)) }
    } onCancel: {
      transfer.cancel()
    }
  }
}
