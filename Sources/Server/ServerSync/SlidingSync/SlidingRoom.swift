import JSON
import MatrixModel
import ServerRooms

/// One room of a sliding sync's answer. Spec: MSC4186, `RoomResult`.
struct SlidingRoom {
  /// What is told where the user is, or was, in the room.
  struct Inside {
    let isInitial: Bool
    let isExpanded: Bool
    let timeline: RoomTimeline
    let state: [StoredEvent]
    /// Events at the timeline's end that happened since the connection's last answer.
    let liveCount: Int
    /// nil where members have not changed.
    let summary: RoomSummary?
    let tellsName: Bool
    let tellsAvatar: Bool
  }

  let room: RoomSnapshot
  let membership: Membership
  let lists: [ByteString]
  /// Position of the newest event in which somebody said something; of the user's own event where they are not in the room.
  let bumpStamp: Int64
  /// nil where the user may know of the stripped state only.
  let inside: Inside?
  let stripped: StrippedRoom?
  /// nil where it is as it was.
  let isDirect: Bool?
  let unread: UnreadCounts.Count

  func write(to writer: inout JSONWriter, _ events: EventWriting) {
    writer.object { writer in
      writer.member("membership", String(describing: membership.name))
      writer.member("bump_stamp", bumpStamp)
      if !lists.isEmpty {
        writer.array("lists", lists) { $1.write($0) }
      }
      if let isDirect { writer.member("is_dm", isDirect) }
      if let stripped { write(stripped, to: &writer) }
      if let inside { write(inside, to: &writer, events) }
    }
  }

  /// Under its last name and the one of the unstable path.
  private func write(_ stripped: StrippedRoom, to writer: inout JSONWriter) {
    writer.member("initial", true)
    for key in ["invite_state", "stripped_state"] as [StaticString] {
      writer.key(key)
      writer.array { writer in for event in stripped.events { event.writeStripped(to: &writer) } }
    }
  }

  private func write(_ inside: Inside, to writer: inout JSONWriter, _ events: EventWriting) {
    if inside.isInitial { writer.member("initial", true) }
    if inside.isExpanded {
      writer.member("unstable_expanded_timeline", true)
      writer.member("expanded_timeline", true)
    }
    if inside.tellsName { Self.write("name", room.name, isInitial: inside.isInitial, to: &writer) }
    if inside.tellsAvatar { Self.write("avatar", room.avatar, isInitial: inside.isInitial, to: &writer) }
    if let summary = inside.summary {
      writer.member("joined_count", summary.joinedCount)
      writer.member("invited_count", summary.invitedCount)
      if !summary.heroes.isEmpty { write(heroes: summary.heroes, to: &writer) }
    }
    if !inside.state.isEmpty {
      writer.array("required_state", inside.state) { events.write($0, in: room, to: &$1) }
    }
    writer.key("timeline")
    writer.array { writer in
      for event in inside.timeline.events {
        events.write(event, in: room, membership: inside.timeline.membership(at: event), to: &writer)
      }
    }
    writer.member("prev_batch", TimelineToken(position: inside.timeline.start).text)
    writer.member("limited", inside.timeline.isLimited)
    writer.member("num_live", inside.liveCount)
    writer.member("notification_count", unread.notifications)
    writer.member("highlight_count", unread.highlights)
  }

  /// null tells that it was taken away; of a room that is new nothing says the same.
  private static func write(_ key: StaticString, _ value: ByteString?, isInitial: Bool, to writer: inout JSONWriter) {
    if let value {
      writer.member(key, value)
    } else if !isInitial {
      writer.key(key)
      writer.null()
    }
  }

  private func write(heroes: [UserID], to writer: inout JSONWriter) {
    writer.key("heroes")
    writer.array { writer in
      for hero in heroes {
        let content = room.members[hero]?.event.content
        writer.object { writer in
          writer.member("user_id", hero)
          if let name = content?["displayname"]?.text { writer.member("displayname", name) }
          if let avatar = content?["avatar_url"]?.text { writer.member("avatar_url", avatar) }
        }
      }
    }
  }
}

extension RoomSnapshot {
  fileprivate var name: ByteString? { self[.name]?.content["name"]?.text.flatMap { $0.isEmpty ? nil : $0 } }
  fileprivate var avatar: ByteString? { self[.avatar]?.content["url"]?.text.flatMap { $0.isEmpty ? nil : $0 } }
}
