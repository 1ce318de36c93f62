public import ClientCore
import JSON
public import MatrixModel

/// Ignored users, presence, and what others can see of the user.
extension MatrixClient {
  public var ignoredUsers: Set<UserID> { core.ignoredUsers.users }

  /// Ignores a user: hides all their events except those that change a room. Returns when a sync has updated every view.
  public func ignore(_ user: UserID) async throws(ClientError) { try await setIgnored(user, true) }

  /// Stops ignoring a user. The known events of that user are shown again.
  public func unignore(_ user: UserID) async throws(ClientError) { try await setIgnored(user, false) }

  private func setIgnored(_ user: UserID, _ isIgnored: Bool) async throws(ClientError) {
    try await perform(.people(.setIgnored(user, isIgnored)))
    let isDone = await wait(atMost: Self.arrivalSeconds) { client in
      client.ignoredUsers.contains(user) == isIgnored || client.sessionState != .signedIn
    }
    guard isDone else { throw .network }
  }

  /// Returns a stream with the ignored users now, and a new set at each change.
  public func ignoredUserChanges() -> AsyncStream<Set<UserID>> {
    observe(startingWith: ignoredUsers) { change, client in
      if case .ignoredUsers = change { client.ignoredUsers } else { nil }
    }
  }

  // MARK: Presence

  /// Sets the user's presence, now and with every sync.
  /// - Parameter message: the status message; nil for none.
  public func setPresence(_ presence: Presence, message: String? = nil) async throws(ClientError) {
    try await perform(.people(.setPresence(presence, message: message.map { ByteString($0) })))
  }

  public func presence(of user: UserID) async throws(ClientError) -> PresenceStatus {
    try await perform(.presence(of: user))
  }

  /// Returns a stream of presence from the syncs from now on, until `observePresence(false)`. `SyncMode.sliding` brings no presence.
  /// - Parameter users: the users; empty for all users.
  public func presences(of users: Set<UserID> = []) -> AsyncStream<(user: UserID, presence: UserPresence)> {
    observePresence(true)
    return stream { change, client in
      guard case .presence(let changed) = change else { return [] }
      return changed.filter { users.isEmpty || users.contains($0) }.compactMap { user in
        client.core.presence(of: user).map { (user, $0) }
      }
    }
  }

  // MARK: Receipts

  /// Sets whether senders learn which messages have reached this device. The server must support it (`martlet.delivered`). Off at the start.
  public func setDeliveryReceipts(_ isOn: Bool) async throws(ClientError) {
    try await perform(.reading(.setDeliveryReceipts(isOn)))
  }

  /// Sets whether others see the user's read receipts. On at the start.
  public func setPublicReceipts(_ isOn: Bool) async throws(ClientError) {
    try await perform(.reading(.setPublicReceipts(isOn)))
  }

  /// Sets whether others see that the user is typing. On at the start.
  public func setTypingNotices(_ isOn: Bool) async throws(ClientError) { try await perform(.sending(.setTypingNotices(isOn))) }
}
