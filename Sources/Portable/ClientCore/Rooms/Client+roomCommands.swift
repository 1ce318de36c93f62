import JSON
import MatrixModel

extension Client {
  // MARK: Making and entering

  mutating func createRoom(_ room: NewRoom, directUser: UserID?, _ id: CommandID) {
    var writer = JSONWriter()
    writer.object { writer in
      switch room.preset {
      case .privateChat: writer.member("preset", "private_chat")
      case .trustedPrivateChat: writer.member("preset", "trusted_private_chat")
      case .publicChat: writer.member("preset", "public_chat")
      }
      writer.member("visibility", room.preset == .publicChat ? "public" : "private")
      if let name = room.name { writer.member("name", name) }
      if let topic = room.topic { writer.member("topic", topic) }
      if let alias = room.aliasLocalpart { writer.member("room_alias_name", alias) }
      if directUser != nil { writer.member("is_direct", true) }
      if let type = room.type {
        writer.key("creation_content")
        writer.object { $0.member("type", type) }
      }
      if room.type == SpaceState.spaceType { writer.member("power_level_content_override", raw: SpaceState.powerLevels) }
      writer.key("invite")
      writer.array { writer in for user in room.invited { writer.write(user) } }
      if room.isEncrypted ?? false { writer.member("initial_state", raw: NewRoom.encryptedState) }
    }
    request(.createRoom, Endpoint.createRoom.path(), body: writer.bytes, for: .createRoom(directUser: directUser, id))
  }

  mutating func join(_ address: ByteString, via servers: [ServerName], reason: ByteString?, _ id: CommandID) {
    var directUser: UserID?
    if let room = RoomID(address) {
      if rooms[room]?.membership == .join { return finish(id, .room(room)) }
      if let state = rooms[room]?.state, state.isDirectInvite { directUser = state.inviter }
    } else if RoomAlias(address) == nil {
      return finish(id, .failed(.invalidRoomAddress))
    }
    var query = URLQuery()
    for server in servers { query = query.adding("via", server) }
    // Its name before v1.12 of the specification.
    for server in servers { query = query.adding("server_name", server) }
    let body = reason.map { reason in JSONWriter.object { $0.member("reason", reason) } }
    // Guests may use this path alone, which takes neither aliases nor servers. Spec: "Guest Access".
    let isOfGuests = servers.isEmpty && RoomID(address) != nil
    let path = isOfGuests ? Endpoint.joinRoomByID.path(address) : Endpoint.joinRoom.path(address)
    request(.joinRoom, path, query: query.text, body: body, for: .join(directUser: directUser, id))
  }

  /// If it makes direct chats encrypted, it first has to know whose link it is.
  mutating func joinByLink(_ token: ByteString, _ id: CommandID) {
    guard encryptsNewChats else { return join(byLink: token, isEncrypted: false, id) }
    let body = JSONWriter.object { $0.member("token", token) }
    request(.describeInviteLink, Endpoint.describeInviteLink.path(), body: body, for: .inviteLink(token, id))
  }

  mutating func inviteLinkAnswered(_ answer: Answer, _ token: ByteString, _ id: CommandID) {
    guard case .success(let json) = answer else { return finish(id, .failed(answer.error ?? .badAnswer)) }
    guard json["room"] == nil, let user = UserID(json["inviter"]?["user_id"]) else {
      return join(byLink: token, isEncrypted: false, id)
    }
    prepare(.byLink(token, of: user), id)
  }

  /// - Parameter isEncrypted: of the direct chat that the link may make.
  mutating func join(byLink token: ByteString, isEncrypted: Bool, _ id: CommandID) {
    let body = JSONWriter.object { writer in
      writer.member("token", token)
      if isEncrypted { writer.member("initial_state", raw: NewRoom.encryptedState) }
    }
    request(.joinByInviteLink, Endpoint.joinByInviteLink.path(), body: body, for: .join(directUser: nil, id))
  }

  mutating func invite(_ text: ByteString, to room: RoomID, _ id: CommandID) {
    guard let user = UserID(text) else { return finish(id, .failed(.invalidUserID)) }
    var writer = JSONWriter()
    writer.object { $0.member("user_id", user) }
    request(.inviteUser, Endpoint.inviteUser.path(room.text), body: writer.bytes, for: .command(id))
  }

  // MARK: Leaving

  mutating func leave(_ room: RoomID, _ id: CommandID) {
    request(.leaveRoom, Endpoint.leaveRoom.path(room.text), for: .leave(room, id))
  }

  mutating func forget(_ room: RoomID, _ id: CommandID) {
    request(.forgetRoom, Endpoint.forgetRoom.path(room.text), for: .forget(room, id))
  }

  // MARK: Others

  mutating func moderate(_ endpoint: Endpoint, _ room: RoomID, _ user: UserID, _ reason: ByteString?, _ id: CommandID) {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("user_id", user)
      if let reason { writer.member("reason", reason) }
    }
    request(endpoint, endpoint.path(room.text), body: writer.bytes, for: .command(id))
  }

  mutating func setState(_ type: EventType, in room: RoomID, member: StaticString, _ value: ByteString, _ id: CommandID) {
    var writer = JSONWriter()
    writer.object { $0.member(member, value) }
    let path = Endpoint.setRoomStateWithKey.path(room.text, type.text, "")
    request(.setRoomStateWithKey, path, body: writer.bytes, for: .command(id))
  }

  // MARK: Answers

  mutating func forgetAnswered(_ answer: Answer, _ room: RoomID, _ id: CommandID) {
    if let error = answer.error { return finish(id, .failed(error)) }
    forgetRoom(room)
    finish(id, .done)
  }

  mutating func roomAnswered(_ answer: Answer, directUser: UserID?, _ id: CommandID) {
    guard case .success(let json) = answer, let room = RoomID(json["room_id"]) else {
      return finish(id, .failed(answer.error ?? .badAnswer))
    }
    noteArriving(room)
    if let directUser { addDirect(room, with: directUser) }
    finish(id, .room(room))
  }

  private mutating func forgetRoom(_ id: RoomID) {
    guard let room = rooms.removeValue(forKey: id) else { return }
    storedEvents.count -= room.state.history.events
    keptTimelines.removeAll { $0 == id }
    keptPeople.removeAll { $0 == id }
    openRooms.removeAll { $0 == id }
    var operations: [StoreOperation] = [
      .delete(key: StoreKey.room(id)), .delete(key: StoreKey.draft(id)),
      .deleteAll(prefix: StoreKey.drafts(ofThreadsIn: id)), .deleteAll(prefix: StoreKey.people(of: id)),
      .deleteAll(prefix: StoreKey.timeline(of: id))
    ]
    for entry in outbox.entries(in: id) {
      forget(entry)
      operations.append(.delete(key: StoreKey.outbox(entry.id)))
    }
    write(operations)
    placeRooms([id])
  }
}
