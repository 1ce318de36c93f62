import JSON
import MatrixModel
import ServerRooms

/// A room the user is invited to or knocks at, as much of it as they may know. Spec: "Stripped state".
struct StrippedRoom {
  let room: RoomSnapshot
  let membership: Membership
  let events: [StoredEvent]

  private static let types: [EventType] = [
    .create, .name, .avatar, .topic, .joinRules, .canonicalAlias, .encryption
  ]

  init(_ room: RoomSnapshot, for user: UserID, _ membership: Membership) {
    self.room = room
    self.membership = membership
    var events = Self.types.compactMap { room[$0] }
    if let own = room.members[user]?.event {
      if own.sender != user, let inviter = room.members[own.sender]?.event { events.append(inviter) }
      events.append(own)
    }
    self.events = events
  }

  init(room: RoomSnapshot, membership: Membership, events: [StoredEvent]) {
    self.room = room
    self.membership = membership
    self.events = events
  }

  func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.key(membership == .knock ? "knock_state" : "invite_state")
      writer.object { writer in
        writer.array("events", events) { $0.writeStripped(to: &$1) }
      }
    }
  }
}
