import EventContent
import JSON
import MatrixModel

/// What a server offers beyond the specification (`ServerExtensions`). Documentation/Extensions.md describes each.
extension Query {
  /// Rejoins a room that the user left voluntarily, if the room allows it (`martlet.rejoin`).
  public static func rejoin(_ room: RoomID, reason: ByteString? = nil) -> Query<RoomID> {
    let body = JSONWriter.object { if let reason { $0.member("reason", reason) } }
    return Query<RoomID>(.rejoinRoom, Endpoint.rejoinRoom.path(room.text), body: body) { RoomID($0["room_id"]) }
  }

  /// At most 100 users, each with a result of their own (`martlet.bulk`).
  public static func invite(_ users: [UserID], to room: RoomID, reason: ByteString? = nil) -> Query<BulkInvitation> {
    let body = JSONWriter.object { writer in
      writer.member("room_id", room)
      writer.key("user_ids")
      writer.array { writer in for user in users { writer.write(user) } }
      if let reason { writer.member("reason", reason) }
    }
    return Query<BulkInvitation>(.inviteUsers, Endpoint.inviteUsers.path(), body: body) { BulkInvitation($0) }
  }

  /// Leaves many rooms (`martlet.bulk`).
  /// - Parameter rooms: at most 5,000; nil for all that one is in, invited to or knocking at.
  public static func leave(_ rooms: [RoomID]?, reason: ByteString? = nil) -> Query<BulkLeave> {
    let body = JSONWriter.object { writer in
      if let rooms {
        writer.key("room_ids")
        writer.array { writer in for room in rooms { writer.write(room) } }
      } else {
        writer.member("all", true)
      }
      if let reason { writer.member("reason", reason) }
    }
    return Query<BulkLeave>(.leaveRooms, Endpoint.leaveRooms.path(), body: body) { BulkLeave($0) }
  }

  /// How far it is.
  public static func bulkLeave(_ job: ByteString) -> Query<BulkLeave> {
    Query<BulkLeave>(.getBulkJob, Endpoint.getBulkJob.path(job)) { BulkLeave($0) }
  }

  /// How long members let pass between two messages (`martlet.slow_mode`).
  /// - Parameter milliseconds: 0 for none; at most six hours.
  public static func setSlowMode(_ milliseconds: Int64, of room: RoomID) -> Query<EventID> {
    setState(.slowMode, JSONWriter.object { $0.member("interval_ms", milliseconds) }, of: room)
  }

  /// Members that one word calls (`martlet.mention_groups`).
  public static func setGroups(_ groups: [RoomGroup], of room: RoomID) -> Query<EventID> {
    setState(.mentionGroups, JSONWriter.object { RoomGroup.write(groups, to: &$0) }, of: room)
  }

  /// How many members are there (`martlet.online`).
  public static func onlineCount(of room: RoomID) -> Query<OnlineCount> {
    Query<OnlineCount>(.getOnlineCounts, Endpoint.getOnlineCounts.path(room.text)) { json in
      guard let online = json["online"]?.count32, let joined = json["joined"]?.count32 else { return nil }
      return OnlineCount(online: online, unavailable: json["unavailable"]?.count32 ?? 0, joined: joined)
    }
  }

  /// How many messages the room has had since one joined it (`martlet.since_joined`).
  public static func messagesSinceJoined(_ room: RoomID) -> Query<Int> {
    Query<Int>(.getSinceJoined, Endpoint.getSinceJoined.path(room.text)) { $0["messages"]?.count32 }
  }

  /// What is unread in all rooms together (`martlet.unread`).
  public static func unreadTotal() -> Query<UnreadTotal> {
    Query<UnreadTotal>(.getUnread, Endpoint.getUnread.path()) { json in
      guard let notifications = json["notification_count"]?.count32 else { return nil }
      return UnreadTotal(
        notificationCount: notifications, highlightCount: json["highlight_count"]?.count32 ?? 0,
        roomCount: json["unread_rooms"]?.count32 ?? 0)
    }
  }

  /// A page of members, all pages as of the moment of the first (`martlet.paging`).
  /// - Parameters:
  ///   - limit: at most 500.
  ///   - from: `MemberPage.nextBatch` of the page before.
  public static func members(
    of room: RoomID, membership: Membership = .join, limit: Int? = nil, from: ByteString? = nil
  ) -> Query<MemberPage> {
    let parameters = URLQuery().adding("membership", ByteString(membership.name.description)).adding("limit", limit)
      .adding("from", from)
    return Query<MemberPage>(.getMemberPage, Endpoint.getMemberPage.path(room.text), parameters: parameters) {
      MemberPage($0, "members")
    }
  }

  /// A page of the server's users, likewise.
  public static func users(matching term: ByteString? = nil, limit: Int? = nil, from: ByteString? = nil) -> Query<MemberPage> {
    let parameters = URLQuery().adding("search", term).adding("limit", limit).adding("from", from)
    return Query<MemberPage>(.getUserPage, Endpoint.getUserPage.path(), parameters: parameters) { MemberPage($0, "users") }
  }
}

/// Who was invited, and who was not and why.
public struct BulkInvitation: Sendable {
  public let invited: [UserID]
  public let errors: [UserID: ErrorCode]

  init?(_ json: JSON) {
    guard let listed = json["invited"], listed.isArray else { return nil }
    invited = listed.elements.compactMap { UserID($0) }
    var errors: [UserID: ErrorCode] = [:]
    if let refused = json["errors"] {
      for member in refused.members {
        if let user = UserID(member.key) { errors[user] = MatrixError(status: 403, body: member.value).code }
      }
    }
    self.errors = errors
  }
}

/// Leaving many rooms.
public struct BulkLeave: Sendable {
  /// For asking again how far it is (`Query.bulkLeave`).
  public let job: ByteString
  public let isFinished: Bool
  public let total: Int
  /// With or without success.
  public let done: Int
  public let errors: [RoomID: ErrorCode]

  init?(_ json: JSON) {
    guard let job = json.text("job"), let total = json["total"]?.count32, let done = json["done"]?.count32 else {
      return nil
    }
    self.job = job
    self.total = total
    self.done = done
    isFinished = json["state"]?.isString("finished") ?? false
    var errors: [RoomID: ErrorCode] = [:]
    if let refused = json["errors"] {
      for member in refused.members {
        if let room = RoomID(member.key) { errors[room] = MatrixError(status: 403, body: member.value).code }
      }
    }
    self.errors = errors
  }
}

/// Members of a room by their presence.
public struct OnlineCount: Sendable, Hashable {
  public let online: Int
  public let unavailable: Int
  public let joined: Int
}

/// What is unread in all rooms together.
public struct UnreadTotal: Sendable, Hashable {
  public let notificationCount: Int
  public let highlightCount: Int
  public let roomCount: Int
}

/// People by pages.
public struct MemberPage: Sendable {
  public let members: [JoinedMember]
  /// For `from` of the next page; nil at the end.
  public let nextBatch: ByteString?

  init?(_ json: JSON, _ name: StaticString) {
    guard let listed = json[name], listed.isArray else { return nil }
    members = listed.elements.compactMap { member in
      guard let user = UserID(member["user_id"]) else { return nil }
      return JoinedMember(
        userID: user, displayName: member.text("display_name"), avatar: MediaURI(member["avatar_url"]))
    }
    nextBatch = json.text("next_batch")
  }
}
