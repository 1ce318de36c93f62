public import ClientCore

/// Resting, going on, and how far the first sync is.
extension MatrixClient {
  /// Ends every request and timer until `resume`: for an app that goes to the background. Messages wait in the outbox; who waits for an
  /// answer learns that it was `cancelled`.
  public func pause() async throws(ClientError) { try await perform(.sync(.pause)) }

  /// Goes on after `pause`, with what has waited and the next sync at once.
  public func resume() async throws(ClientError) { try await perform(.sync(.resume)) }

  /// Tells what the operating system says of the network. While there is none nothing is tried (`ConnectionState.offline`); when it is
  /// back, everything is at once.
  public func networkChanged(isOnline: Bool) { handle(.networkChanged(isOnline: isOnline)) }

  /// How far the first sync is; see `ConnectionState.firstSync`.
  public var syncProgress: SyncProgress { core.syncProgress }

  /// Drops what the syncs have brought and has it brought anew; the login, messages on their way and drafts stay. Returns once all rooms
  /// are there again.
  public func startAfresh() async throws(ClientError) {
    try await perform(.sync(.startAfresh))
    try await waitForSync()
  }
}
