import JSON
import MatrixModel
import ServerRooms

/// The presence of users who share a room with the user. Spec: Client-Server API, "Presence", `presence` of `GET /sync`.
package struct PresenceStream {
  private(set) var events: [(user: UserID, status: PresenceStatus)] = []

  /// - Parameter joined: what the answer tells of rooms: who has come into view by it is told of too.
  static func changes(_ joined: [JoinedRoom], ignoring ignored: Set<UserID>, _ context: SyncContext) throws -> PresenceStream {
    var stream = PresenceStream()
    let presence = context.sources.presence
    let filter = context.filter.presence
    guard presence.isEnabled else { return stream }
    func add(_ user: UserID, _ status: PresenceStatus) throws {
      guard !ignored.contains(user), filter.matches(type: .presence, sender: user, content: nil),
        !stream.events.contains(where: { $0.user == user }), try context.sharesRoom(with: user)
      else { return }
      if let limit = filter.limit, stream.events.count >= limit { return }
      stream.events.append((user, status))
    }
    guard let from = context.from else {
      for (user, status) in presence.present() { try add(user, status) }
      return stream
    }
    for (user, status) in presence.changes(after: from.typing, upTo: context.to.typing, for: context.user) {
      try add(user, status)
    }
    for user in Self.newcomers(joined, context) where user != context.user {
      if let status = presence.shown(of: user), status.state != .offline { try add(user, status) }
    }
    return stream
  }

  /// Members of rooms that are new to the user, and who has joined the others.
  private static func newcomers(_ joined: [JoinedRoom], _ context: SyncContext) -> Set<UserID> {
    var users: Set<UserID> = []
    for room in joined {
      if room.isNew {
        for (user, _) in context.sources.presence.present() where room.room.isJoined(user) { users.insert(user) }
        continue
      }
      for event in room.timeline.events where event.isJoining {
        if let key = event.stateKey { users.insert(UserID(trusted: key)) }
      }
    }
    return users
  }

  package static func write(_ event: (user: UserID, status: PresenceStatus), now: Int64, to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("type", EventType.presence)
      writer.member("sender", event.user)
      writer.key("content")
      writer.object { event.status.writeMembers(to: &$0, now: now) }
    }
  }
}

extension SyncContext {
  /// Whether the user is in a room together with another, or is that other. O(rooms of either).
  func sharesRoom(with other: UserID) throws -> Bool {
    if other == user { return true }
    let mine = try memberships()
    if let theirs = sources.rooms.memberships.cachedRooms(of: other) { return Memberships.share(mine, theirs) }
    return Memberships.share(mine, try sources.rooms.memberships.rooms(of: other, in: try rows.transaction()))
  }
}
