import JSON
import MatrixModel

/// Raw rooms and account data from the server, for what the client has no feature for.
extension Query {
  /// Sets the place of a space among the user's spaces (`Client.topLevelSpaceOrders`). The next sync confirms it. MSC3230
  /// - Parameters:
  ///   - order: at most 50 characters from space to `~`.
  ///   - user: the signed-in user.
  public static func setSpaceOrder(_ order: ByteString, of space: RoomID, for user: UserID) -> Query<Void> {
    setAccountData(.spaceOrder, JSONWriter.object { $0.member("order", order) }, of: user, in: space)
  }

  // MARK: State

  /// All state of a room.
  public static func state(of room: RoomID) -> Query<[Event]> {
    Query<[Event]>(.getRoomState, Endpoint.getRoomState.path(room.text)) { json in
      json.isArray ? json.elements.compactMap { Event($0) } : nil
    }
  }

  /// Returns the content of a state event. Fails with `M_NOT_FOUND` if there is no such event.
  public static func state(of room: RoomID, type: EventType, key: ByteString = "") -> Query<JSON> {
    Query<JSON>(.getRoomStateWithKey, Endpoint.getRoomStateWithKey.path(room.text, type.text, key)) { $0 }
  }

  public static func joinedMembers(of room: RoomID) -> Query<[JoinedMember]> {
    Query<[JoinedMember]>(.getJoinedMembersByRoom, Endpoint.getJoinedMembersByRoom.path(room.text)) { json in
      json["joined"]?.members.compactMap { member in
        guard let user = UserID(member.key) else { return nil }
        return JoinedMember(
          userID: user, displayName: member.value.text("display_name"), avatar: MediaURI(member.value["avatar_url"]))
      }
    }
  }

  public static func joinedRooms() -> Query<[RoomID]> {
    Query<[RoomID]>(.getJoinedRooms, Endpoint.getJoinedRooms.path()) { json in
      json["joined_rooms"]?.elements.compactMap { RoomID($0) }
    }
  }

  // MARK: What the account keeps

  /// Returns account data. Fails with `M_NOT_FOUND` if there is none of this type. Spec: "Client Config".
  /// - Parameter user: the account's own user.
  public static func accountData(_ type: EventType, of user: UserID) -> Query<JSON> {
    Query<JSON>(.getAccountData, Endpoint.getAccountData.path(user.text, type.text)) { $0 }
  }

  /// - Parameters:
  ///   - content: a JSON object.
  ///   - user: the account's own user.
  public static func setAccountData(_ type: EventType, _ content: [UInt8], of user: UserID) -> Query<Void> {
    Query<Void>(.setAccountData, Endpoint.setAccountData.path(user.text, type.text), body: content)
  }

  /// - Parameter user: the account's own user.
  public static func accountData(_ type: EventType, of user: UserID, in room: RoomID) -> Query<JSON> {
    Query<JSON>(.getAccountDataPerRoom, Endpoint.getAccountDataPerRoom.path(user.text, room.text, type.text)) { $0 }
  }

  /// - Parameters:
  ///   - content: a JSON object.
  ///   - user: the account's own user.
  public static func setAccountData(
    _ type: EventType, _ content: [UInt8], of user: UserID, in room: RoomID
  ) -> Query<Void> {
    Query<Void>(
      .setAccountDataPerRoom, Endpoint.setAccountDataPerRoom.path(user.text, room.text, type.text), body: content)
  }

  /// The `tags` object. Spec: "Room Tagging".
  /// - Parameter user: the account's own user.
  public static func tags(of room: RoomID, for user: UserID) -> Query<JSON> {
    Query<JSON>(.getRoomTags, Endpoint.getRoomTags.path(user.text, room.text)) { $0["tags"] }
  }

  /// The ID under which the server keeps a filter. Spec: "Filtering".
  /// - Parameters:
  ///   - filter: a JSON object.
  ///   - user: the account's own user.
  public static func createFilter(_ filter: [UInt8], of user: UserID) -> Query<ByteString> {
    Query<ByteString>(.defineFilter, Endpoint.defineFilter.path(user.text), body: filter) { $0.text("filter_id") }
  }

  /// - Parameter user: the account's own user.
  public static func filter(_ id: ByteString, of user: UserID) -> Query<JSON> {
    Query<JSON>(.getFilter, Endpoint.getFilter.path(user.text, id)) { $0.isObject ? $0 : nil }
  }
}

/// Somebody in a room, as the server tells of them.
public struct JoinedMember: Sendable, Hashable {
  public let userID: UserID
  public let displayName: ByteString?
  public let avatar: MediaURI?
}
