public import ClientCore

/// Functions to pause and resume syncs, and the progress of the first sync.
extension MatrixClient {
  /// Ends every request and timer until `resume`. For an app that goes to the background. Messages wait in the outbox. Queries under way
  /// end with `cancelled`.
  public func pause() async throws(ClientError) { try await perform(.sync(.pause)) }

  /// Continues after `pause`: sends what has waited, and starts the next sync at once.
  public func resume() async throws(ClientError) { try await perform(.sync(.resume)) }

  /// Tells the client whether the operating system has a network. Without a network, the client sends nothing (`ConnectionState.offline`).
  /// When the network returns, it retries everything at once.
  public func networkChanged(isOnline: Bool) { handle(.networkChanged(isOnline: isOnline)) }

  /// The progress of the first sync; see `ConnectionState.firstSync`.
  public var syncProgress: SyncProgress { core.syncProgress }

  /// Discards the data of the syncs and loads it again. Keeps the login, unsent messages and drafts. Returns when all rooms are there
  /// again.
  public func startAfresh() async throws(ClientError) {
    try await perform(.sync(.startAfresh))
    try await waitForSync()
  }
}
