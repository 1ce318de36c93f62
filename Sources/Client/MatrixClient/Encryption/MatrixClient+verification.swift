import Encryption

/// Who watches verifications.
extension MatrixClient {
  func publishVerifications() {
    if encryptionHost?.isSettled ?? true { stopWaitingForSettling() }
    let current = encryptionHost?.verifications ?? []
    guard current != publishedVerifications else { return }
    publishedVerifications = current
    let shown = current.map { KeyVerification($0) }
    for watcher in verificationWatchers.values { watcher.yield(shown) }
  }

  func watchVerifications() -> AsyncStream<[KeyVerification]> {
    let (stream, continuation) = AsyncStream.makeStream(of: [KeyVerification].self)
    continuation.yield(publishedVerifications.map { KeyVerification($0) })
    guard !isStopped else {
      continuation.finish()
      return stream
    }
    lastStatusWatcher += 1
    let id = lastStatusWatcher
    verificationWatchers[id] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.stopWatchingVerifications(id) } }
    return stream
  }

  func verificationsSettle() async {
    guard let host = encryptionHost, !host.isSettled, host.broken == nil else { return }
    let timeout = Task {
      try? await Task.sleep(for: .seconds(10))
      if !Task.isCancelled { stopWaitingForSettling() }
    }
    await withCheckedContinuation { settleWaiters.append($0) }
    timeout.cancel()
  }

  func stopWaitingForSettling() {
    let waiters = settleWaiters
    settleWaiters = []
    for waiter in waiters { waiter.resume() }
  }

  private func stopWatchingVerifications(_ id: Int) { verificationWatchers[id] = nil }
}
