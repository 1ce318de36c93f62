import EventContent
import JSON
import MatrixModel

/// Changing what a room is. Spec: Client-Server API, "Room Events", "Rooms".
extension Query {
  /// The event that is now the state.
  /// - Parameter content: a JSON object, sent as it is.
  public static func setState(
    _ type: EventType, key: ByteString = "", _ content: [UInt8], of room: RoomID
  ) -> Query<EventID> {
    let path = Endpoint.setRoomStateWithKey.path(room.text, type.text, key)
    return Query<EventID>(.setRoomStateWithKey, path, body: content) { EventID($0["event_id"]) }
  }

  /// - Parameter rooms: whose members may join, where the rule allows that.
  public static func setJoinRule(_ rule: JoinRule, membersOf rooms: [RoomID] = [], of room: RoomID) -> Query<EventID> {
    let content = JSONWriter.object { writer in
      writer.member("join_rule", rule.name.description)
      guard rule.allowsRestrictedJoins else { return }
      writer.key("allow")
      writer.array { writer in
        for room in rooms {
          writer.object { writer in
            writer.member("type", "m.room_membership")
            writer.member("room_id", room)
          }
        }
      }
    }
    return setState(.joinRules, content, of: room)
  }

  public static func setHistoryVisibility(_ visibility: HistoryVisibility, of room: RoomID) -> Query<EventID> {
    let content = JSONWriter.object { $0.member("history_visibility", visibility.name.description) }
    return setState(.historyVisibility, content, of: room)
  }

  public static func setAllowsGuests(_ allows: Bool, of room: RoomID) -> Query<EventID> {
    let content = JSONWriter.object { $0.member("guest_access", allows ? "can_join" : "forbidden") }
    return setState(.guestAccess, content, of: room)
  }

  /// - Parameter avatar: nil takes it away.
  public static func setAvatar(_ avatar: MediaURI?, of room: RoomID) -> Query<EventID> {
    setState(.avatar, JSONWriter.object { if let avatar { $0.member("url", avatar) } }, of: room)
  }

  /// Its addresses. Each has to lead to the room already.
  /// - Parameter alias: the main one; nil for none.
  public static func setCanonicalAlias(
    _ alias: RoomAlias?, alternatives: [RoomAlias] = [], of room: RoomID
  ) -> Query<EventID> {
    let content = JSONWriter.object { writer in
      if let alias { writer.member("alias", alias) }
      if !alternatives.isEmpty {
        writer.key("alt_aliases")
        writer.array { writer in for alias in alternatives { writer.write(alias) } }
      }
    }
    return setState(.canonicalAlias, content, of: room)
  }

  /// The room that replaces this one. Spec: "Room upgrades".
  /// - Parameter creators: who else stands above every power level there, from room version 12 on.
  public static func upgrade(_ room: RoomID, to version: ByteString, creators: [UserID] = []) -> Query<RoomID> {
    let body = JSONWriter.object { writer in
      writer.member("new_version", version)
      if !creators.isEmpty {
        writer.key("additional_creators")
        writer.array { writer in for user in creators { writer.write(user) } }
      }
    }
    return Query<RoomID>(.upgradeRoom, Endpoint.upgradeRoom.path(room.text), body: body) { RoomID($0["replacement_room"]) }
  }

  // MARK: Members

  /// Asks to be let in.
  /// - Parameter room: its ID or alias.
  public static func knock(
    _ room: ByteString, via servers: [ServerName] = [], reason: ByteString? = nil
  ) -> Query<RoomID> {
    var parameters = URLQuery()
    for server in servers { parameters = parameters.adding("via", server) }
    let body = JSONWriter.object { if let reason { $0.member("reason", reason) } }
    return Query<RoomID>(.knockRoom, Endpoint.knockRoom.path(room), parameters: parameters, body: body) {
      RoomID($0["room_id"])
    }
  }

  public static func invite(_ user: UserID, to room: RoomID, reason: ByteString? = nil) -> Query<Void> {
    let body = JSONWriter.object { writer in
      writer.member("user_id", user)
      if let reason { writer.member("reason", reason) }
    }
    return Query<Void>(.inviteUser, Endpoint.inviteUser.path(room.text), body: body)
  }

  /// Invites somebody by an address of another network, who need not have an account. Spec: "Third-party invites".
  /// - Parameters:
  ///   - medium: `email`, `msisdn`.
  ///   - identityServer: that looks the address up; host and, where it is not the usual one, port.
  ///   - accessToken: for it.
  public static func invite(
    address: ByteString, medium: ByteString, to room: RoomID, identityServer: ByteString, accessToken: ByteString
  ) -> Query<Void> {
    let body = JSONWriter.object { writer in
      writer.member("address", address)
      writer.member("medium", medium)
      writer.member("id_server", identityServer)
      writer.member("id_access_token", accessToken)
    }
    return Query<Void>(.inviteUser, Endpoint.inviteUser.path(room.text), body: body)
  }

  // MARK: Receipts

  /// Says how far one has read; it never moves back. Spec: "Receipts".
  /// - Parameter threadRoot: of the thread it is about; nil for all of the room.
  public static func sendReceipt(
    upTo event: EventID, in room: RoomID, isPublic: Bool = true, threadRoot: EventID? = nil
  ) -> Query<Void> {
    let body = JSONWriter.object { if let threadRoot { $0.member("thread_id", threadRoot) } }
    let path = Endpoint.postReceipt.path(room.text, isPublic ? "m.read" : "m.read.private", event.text)
    return Query<Void>(.postReceipt, path, body: body)
  }

  /// Where one goes on reading, and nobody else sees. Spec: "Fully read markers".
  public static func setFullyRead(_ event: EventID, in room: RoomID) -> Query<Void> {
    let body = JSONWriter.object { $0.member("m.fully_read", event) }
    return Query<Void>(.setReadMarker, Endpoint.setReadMarker.path(room.text), body: body)
  }
}
