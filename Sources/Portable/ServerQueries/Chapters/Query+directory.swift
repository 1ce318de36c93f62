import EventContent
import JSON
import MatrixModel

/// Finding rooms. Spec: Client-Server API, "Listing rooms", "Room summaries", "Room aliases".
extension Query {
  /// A page of a server's published rooms, those with the most members first.
  /// - Parameters:
  ///   - term: words in name, topic or alias; nil for all rooms. Servers want an account for a search.
  ///   - types: kinds of rooms, nil among them for rooms without one; empty for all. Wants an account as well.
  ///   - server: the server whose rooms are listed; nil for the account's own.
  ///   - since: `RoomPage.nextBatch` or `previousBatch` of another page.
  public static func publicRooms(
    matching term: ByteString? = nil, types: [ByteString?] = [], on server: ServerName? = nil, limit: Int? = nil,
    since: ByteString? = nil
  ) -> Query<RoomPage> {
    let parameters = URLQuery().adding("server", server)
    guard term != nil || !types.isEmpty else {
      return Query<RoomPage>(
        .getPublicRooms, Endpoint.getPublicRooms.path(),
        parameters: parameters.adding("limit", limit).adding("since", since)
      ) { RoomPage($0) }
    }
    let body = JSONWriter.object { writer in
      if let limit { writer.member("limit", limit) }
      if let since { writer.member("since", since) }
      writer.key("filter")
      writer.object { writer in
        if let term { writer.member("generic_search_term", term) }
        guard !types.isEmpty else { return }
        writer.key("room_types")
        writer.array { writer in
          for type in types { if let type { writer.write(type) } else { writer.null() } }
        }
      }
    }
    return Query<RoomPage>(.queryPublicRooms, Endpoint.queryPublicRooms.path(), parameters: parameters, body: body) {
      RoomPage($0)
    }
  }

  /// What can be known of a room without being in it.
  /// - Parameters:
  ///   - room: its ID or alias.
  ///   - servers: that may know it.
  public static func roomSummary(_ room: ByteString, via servers: [ServerName] = []) -> Query<RoomSummary> {
    var parameters = URLQuery()
    for server in servers { parameters = parameters.adding("via", server) }
    return Query<RoomSummary>(.getRoomSummary, Endpoint.getRoomSummary.path(room), parameters: parameters) { RoomSummary($0) }
  }

  /// A page of the rooms of a space, itself first, depth first. Spec: "Spaces".
  /// - Parameter from: `HierarchyPage.nextBatch` of the page before; everything else has to be the same then.
  public static func hierarchy(
    of space: RoomID, suggestedOnly: Bool = false, maxDepth: Int? = nil, limit: Int? = nil, from: ByteString? = nil
  ) -> Query<HierarchyPage> {
    let parameters = URLQuery().adding("suggested_only", suggestedOnly ? true : nil as Bool?).adding("max_depth", maxDepth)
      .adding("limit", limit).adding("from", from)
    return Query<HierarchyPage>(.getSpaceHierarchy, Endpoint.getSpaceHierarchy.path(space.text), parameters: parameters) {
      HierarchyPage($0)
    }
  }

  // MARK: Aliases

  public static func resolve(_ alias: RoomAlias) -> Query<ResolvedAlias> {
    Query<ResolvedAlias>(.getRoomIDByAlias, Endpoint.getRoomIDByAlias.path(alias.text)) { json in
      guard let room = RoomID(json["room_id"]) else { return nil }
      return ResolvedAlias(roomID: room, servers: json["servers"]?.elements.compactMap { ServerName($0) } ?? [])
    }
  }

  /// The aliases that the homeserver itself has for a room.
  public static func localAliases(of room: RoomID) -> Query<[RoomAlias]> {
    Query<[RoomAlias]>(.getLocalAliases, Endpoint.getLocalAliases.path(room.text)) { json in
      json["aliases"]?.elements.compactMap { RoomAlias($0) }
    }
  }

  /// Refused with 409 where the alias is taken.
  public static func createAlias(_ alias: RoomAlias, of room: RoomID) -> Query<Void> {
    Query<Void>(
      .setRoomAlias, Endpoint.setRoomAlias.path(alias.text), body: JSONWriter.object { $0.member("room_id", room) })
  }

  public static func deleteAlias(_ alias: RoomAlias) -> Query<Void> {
    Query<Void>(.deleteRoomAlias, Endpoint.deleteRoomAlias.path(alias.text))
  }

  // MARK: Publishing

  /// Whether the homeserver lists the room.
  public static func isPublished(_ room: RoomID) -> Query<Bool> {
    Query<Bool>(.getRoomVisibilityOnDirectory, Endpoint.getRoomVisibilityOnDirectory.path(room.text)) { json in
      json["visibility"]?.isString("public")
    }
  }

  public static func setPublished(_ room: RoomID, _ isPublished: Bool) -> Query<Void> {
    Query<Void>(
      .setRoomVisibilityOnDirectory, Endpoint.setRoomVisibilityOnDirectory.path(room.text),
      body: JSONWriter.object { $0.member("visibility", isPublished ? "public" : "private") })
  }
}

/// What a server tells of a room to those who are not in it.
public struct RoomSummary: Sendable {
  public let id: RoomID
  public let name: ByteString?
  public let topic: ByteString?
  public let avatar: MediaURI?
  public let canonicalAlias: RoomAlias?
  public let memberCount: Int
  /// Whether one can read it without joining.
  public let isWorldReadable: Bool
  public let guestsCanJoin: Bool
  /// nil for rules outside the spec's set, under which nobody may join.
  public let joinRule: JoinRule?
  /// `m.space` for spaces; nil for plain rooms.
  public let type: ByteString?
  /// The algorithm of an encrypted room; nil also where the server does not say.
  public let encryption: ByteString?
  public let version: ByteString?
  /// Rooms whose members may join, where the join rule is restricted.
  public let allowedRooms: [RoomID]
  /// The user's own membership; nil if the server does not say.
  public let membership: Membership?

  init?(_ json: JSON) {
    guard let id = RoomID(json["room_id"]) else { return nil }
    self.id = id
    name = json.text("name")
    topic = json.text("topic")
    avatar = MediaURI(json["avatar_url"])
    canonicalAlias = RoomAlias(json["canonical_alias"])
    memberCount = json["num_joined_members"]?.count32 ?? 0
    isWorldReadable = json.bool("world_readable") ?? false
    guestsCanJoin = json.bool("guest_can_join") ?? false
    joinRule = json["join_rule"] == nil ? .public : JoinRule(json["join_rule"])
    type = json.text("room_type")
    encryption = (json["encryption"] ?? json["im.nheko.summary.encryption"])?.text
    version = (json["room_version"] ?? json["im.nheko.summary.room_version"])?.text
    allowedRooms = json["allowed_room_ids"]?.elements.compactMap { RoomID($0) } ?? []
    membership = Membership(json["membership"])
  }

  public var isSpace: Bool { type.map { $0 == "m.space" as StaticString } ?? false }
}

/// A page of a room directory.
public struct RoomPage: Sendable {
  public let rooms: [RoomSummary]
  /// For `since` of the next page; nil at the end.
  public let nextBatch: ByteString?
  public let previousBatch: ByteString?
  public let totalCountEstimate: Int?

  init?(_ json: JSON) {
    guard let chunk = json["chunk"], chunk.isArray else { return nil }
    rooms = chunk.elements.compactMap { RoomSummary($0) }
    nextBatch = json.text("next_batch")
    previousBatch = json.text("prev_batch")
    totalCountEstimate = json["total_room_count_estimate"]?.count32
  }
}

/// A page of a space's rooms.
public struct HierarchyPage: Sendable {
  /// A room of a space, with its own children where it is a space as well.
  public struct Entry: Sendable {
    public let room: RoomSummary
    public let children: [SpaceChild]
  }

  public let entries: [Entry]
  /// For `from` of the next page; nil at the end.
  public let nextBatch: ByteString?

  init?(_ json: JSON) {
    guard let rooms = json["rooms"], rooms.isArray else { return nil }
    entries = rooms.elements.compactMap { room in
      guard let summary = RoomSummary(room) else { return nil }
      return Entry(room: summary, children: room["children_state"]?.elements.compactMap { SpaceChild($0) } ?? [])
    }
    nextBatch = json.text("next_batch")
  }
}

/// The room behind an alias.
public struct ResolvedAlias: Sendable, Hashable {
  public let roomID: RoomID
  /// That one can join through.
  public let servers: [ServerName]
}
