public import ClientCore
import JSON
public import MatrixModel

/// Ignoring and being there.
extension MatrixClient {
  public var ignoredUsers: Set<UserID> { core.ignoredUsers.users }

  /// From now on nothing of theirs is shown but what changes a room; ends when a sync has brought it to every view.
  public func ignore(_ user: UserID) async throws(ClientError) { try await setIgnored(user, true) }

  /// What is known of what they said is shown again.
  public func unignore(_ user: UserID) async throws(ClientError) { try await setIgnored(user, false) }

  private func setIgnored(_ user: UserID, _ isIgnored: Bool) async throws(ClientError) {
    try await perform(.people(.setIgnored(user, isIgnored)))
    let isDone = await wait(atMost: Self.arrivalSeconds) { client in
      client.ignoredUsers.contains(user) == isIgnored || client.sessionState != .signedIn
    }
    guard isDone else { throw .network }
  }

  /// Whom one ignores, now and whenever it is different.
  public func ignoredUserChanges() -> AsyncStream<Set<UserID>> {
    observe(startingWith: ignoredUsers) { change, client in
      if case .ignoredUsers = change { client.ignoredUsers } else { nil }
    }
  }

  // MARK: Presence

  /// Tells others whether one is there, now and with every sync.
  /// - Parameter message: of the status; nil for none.
  public func setPresence(_ presence: Presence, message: String? = nil) async throws(ClientError) {
    try await perform(.people(.setPresence(presence, message: message.map { ByteString($0) })))
  }

  public func presence(of user: UserID) async throws(ClientError) -> PresenceStatus {
    try await perform(.presence(of: user))
  }

  /// Who is there, as syncs tell it from now on, until `observePresence(false)`; `SyncMode.sliding` does not.
  /// - Parameter users: empty for all.
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

  /// Whether senders are told what has reached this device, on servers that pass it on (`martlet.delivered`); off at the start.
  public func setDeliveryReceipts(_ isOn: Bool) async throws(ClientError) {
    try await perform(.reading(.setDeliveryReceipts(isOn)))
  }

  /// Whether others see how far one reads; on at the start.
  public func setPublicReceipts(_ isOn: Bool) async throws(ClientError) {
    try await perform(.reading(.setPublicReceipts(isOn)))
  }

  /// Whether others see that one is writing; on at the start.
  public func setTypingNotices(_ isOn: Bool) async throws(ClientError) { try await perform(.sending(.setTypingNotices(isOn))) }
}
