import JSON
import MatrixModel

/// Whether somebody is there, as the last sync that spoke of them told it.
public struct UserPresence: Sendable, Hashable {
  public let presence: Presence
  /// Of the status.
  public let message: ByteString?
  /// When they last did something, in milliseconds since 1970; nil where nobody knows. While `isCurrentlyActive` it is not brought up to date.
  public let lastActiveAtMilliseconds: Int64?
  public let isCurrentlyActive: Bool

  public func lastActiveAgoMilliseconds(now: Int64) -> Int64? { lastActiveAtMilliseconds.map { max(0, now - $0) } }

  /// - Parameter now: milliseconds since 1970.
  init?(_ content: JSON, now: Int64) {
    guard let status = PresenceStatus(content) else { return nil }
    presence = status.presence
    message = status.message
    let ago = status.lastActiveAgoMilliseconds.map { max(0, min($0, now)) }
    lastActiveAtMilliseconds = ago.map { now - $0 }
    isCurrentlyActive = status.isCurrentlyActive
  }
}

extension Client {
  /// nil where nothing is known. Only where `observesPresence` is on and syncs bring it, which `SyncMode.sliding` does not.
  public func presence(of user: UserID) -> UserPresence? { presences[user] }

  /// Returns the members of a room whose presence is so, by user ID. O(presences), which are few where members are many.
  package func members(of id: RoomID, where isWanted: (UserPresence) -> Bool) -> [UserID] {
    guard let room = rooms[id] else { return [] }
    return presences.compactMap { user, presence in
      isWanted(presence) && room.state.members[user]?.isPresent ?? false ? user : nil
    }.ordered()
  }

  /// Syncs ask for it at once. `SyncMode.automatic` is v3 as long as it is wanted; then it goes by what the server offers.
  mutating func observePresence(_ isWanted: Bool) {
    guard observesPresence != isWanted else { return }
    observesPresence = isWanted
    if !isWanted { syncLoop.offer = .wanted }
    guard let request = syncLoop.request else { return }
    syncLoop.request = nil
    cancelRequest(request)
    startSync()
  }

  /// Tells others, now and with every sync.
  mutating func setPresence(_ presence: Presence, message: ByteString?, _ id: CommandID) {
    guard let user = session?.userID else { return }
    ownPresence = presence
    let body = JSONWriter.object { writer in
      writer.member("presence", presence.name)
      if let message { writer.member("status_msg", message) }
    }
    request(.setPresence, Endpoint.setPresence.path(user.text), body: body, for: .command(id))
  }

  /// The presence that a sync sends; nil for `online`. A user without attention is `unavailable`.
  var syncPresence: Presence? {
    if ownPresence == .online { return hasAttention ? nil : .unavailable }
    return ownPresence
  }

  mutating func takePresence(_ events: [Event]) {
    var changed: [UserID] = []
    for event in events {
      guard event.type == .presence, let user = event.sender, let new = UserPresence(event.content, now: now),
        presences[user] != new, presences[user] != nil || presences.count < Limits.presences
      else { continue }
      presences[user] = new
      changed.append(user)
    }
    if !changed.isEmpty { notify(.presence(changed)) }
  }
}
