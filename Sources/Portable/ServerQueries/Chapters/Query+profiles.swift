import JSON
import MatrixModel

/// People. Spec: Client-Server API, "Profiles", "User Directory", "Presence".
extension Query {
  /// Anybody's profile.
  public static func profile(of user: UserID) -> Query<Profile> {
    Query<Profile>(.getUserProfile, Endpoint.getUserProfile.path(user.text)) { Profile($0) }
  }

  /// One field of anybody's profile; refused with `M_NOT_FOUND` where it is not set.
  public static func profileField(_ name: ByteString, of user: UserID) -> Query<JSON> {
    Query<JSON>(.getProfileField, Endpoint.getProfileField.path(user.text, name)) { $0[name] }
  }

  /// - Parameters:
  ///   - name: the field's name, `m.tz` or one with your own namespace.
  ///   - value: JSON.
  ///   - user: the account's own user.
  public static func setProfileField(_ name: ByteString, _ value: [UInt8], of user: UserID) -> Query<Void> {
    let body = JSONWriter.object { writer in
      writer.key(name)
      writer.raw(value)
    }
    return Query<Void>(.setProfileField, Endpoint.setProfileField.path(user.text, name), body: body)
  }

  public static func deleteProfileField(_ name: ByteString, of user: UserID) -> Query<Void> {
    Query<Void>(.deleteProfileField, Endpoint.deleteProfileField.path(user.text, name))
  }

  /// People whose ID or name has the term in it.
  public static func searchUsers(_ term: ByteString, limit: Int? = nil) -> Query<UserSearch> {
    let body = JSONWriter.object { writer in
      writer.member("search_term", term)
      if let limit { writer.member("limit", limit) }
    }
    return Query<UserSearch>(.searchUserDirectory, Endpoint.searchUserDirectory.path(), body: body) { UserSearch($0) }
  }

  /// Rooms that one shares with somebody.
  public static func mutualRooms(with user: UserID, from: ByteString? = nil) -> Query<MutualRooms> {
    let parameters = URLQuery().adding("user_id", user).adding("from", from)
    return Query<MutualRooms>(.getMutualRooms, Endpoint.getMutualRooms.path(), parameters: parameters) { json in
      guard let rooms = json["joined"], rooms.isArray else { return nil }
      return MutualRooms(
        rooms: rooms.elements.compactMap { RoomID($0) }, nextBatch: json.text("next_batch"))
    }
  }

  public static func presence(of user: UserID) -> Query<PresenceStatus> {
    Query<PresenceStatus>(.getPresence, Endpoint.getPresence.path(user.text)) { PresenceStatus($0) }
  }

  /// - Parameters:
  ///   - message: of the status; nil for none.
  ///   - user: the account's own user.
  public static func setPresence(_ presence: Presence, message: ByteString? = nil, of user: UserID) -> Query<Void> {
    let body = JSONWriter.object { writer in
      writer.member("presence", presence.name)
      if let message { writer.member("status_msg", message) }
    }
    return Query<Void>(.setPresence, Endpoint.setPresence.path(user.text), body: body)
  }
}

/// What somebody shows of themselves. Spec: "Profiles".
public struct Profile: Sendable {
  public let displayName: ByteString?
  public let avatar: MediaURI?
  /// Every field, with those that this client has no name for.
  public let fields: JSON

  /// nil where the answer is no object.
  init?(_ json: JSON) {
    guard json.isObject else { return nil }
    displayName = json.text("displayname")
    avatar = MediaURI(json["avatar_url"])
    fields = json
  }

  /// An IANA time zone. Spec: "Profiles", `m.tz`.
  public var timeZone: ByteString? { fields.text("m.tz") }
}

/// People found by a search, the best match first. Spec: "User Directory".
public struct UserSearch: Sendable {
  public struct User: Sendable, Hashable {
    public let id: UserID
    public let displayName: ByteString?
    public let avatar: MediaURI?
  }

  public let users: [User]
  /// Whether there are more than the limit let through.
  public let isLimited: Bool

  init?(_ json: JSON) {
    guard let results = json["results"], results.isArray else { return nil }
    users = results.elements.compactMap { user in
      guard let id = UserID(user["user_id"]) else { return nil }
      return User(id: id, displayName: user.text("display_name"), avatar: MediaURI(user["avatar_url"]))
    }
    isLimited = json.bool("limited") ?? false
  }
}

/// A page of rooms shared with somebody.
public struct MutualRooms: Sendable {
  public let rooms: [RoomID]
  /// For `from` of the next page; nil at the end.
  public let nextBatch: ByteString?
}

/// Whether somebody is there. Spec: "Presence".
public enum Presence: UInt8, Sendable {
  case online, unavailable, offline

  /// nil for names outside the spec's set.
  public init?(_ json: JSON?) {
    guard let json else { return nil }
    if json.isString("online") {
      self = .online
    } else if json.isString("unavailable") {
      self = .unavailable
    } else if json.isString("offline") {
      self = .offline
    } else {
      return nil
    }
  }

  public var name: String {
    switch self {
    case .online: "online"
    case .unavailable: "unavailable"
    case .offline: "offline"
    }
  }
}

/// Somebody's presence as the server knows it.
public struct PresenceStatus: Sendable, Hashable {
  public let presence: Presence
  public let message: ByteString?
  /// Milliseconds since they last did something; nil where nobody knows.
  public let lastActiveAgoMilliseconds: Int64?
  public let isCurrentlyActive: Bool

  package init?(_ json: JSON) {
    guard let presence = Presence(json["presence"]) else { return nil }
    self.presence = presence
    message = json.text("status_msg")
    lastActiveAgoMilliseconds = json.integer("last_active_ago")
    isCurrentlyActive = json.bool("currently_active") ?? false
  }
}
