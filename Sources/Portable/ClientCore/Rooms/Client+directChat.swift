import JSON
import MatrixModel

/// Rooms that the server has made or joined and no sync has brought yet.
struct ArrivingRooms: Sendable {
  var rooms: Set<RoomID> = []
  /// Those of them that are direct chats.
  var directRooms: [UserID: RoomID] = [:]
  /// Direct chats that are being asked for, and who else wants them.
  var waiting: [UserID: [CommandID]] = [:]
  /// Timelines that were open before everything came anew.
  var timelines: [TimelineKey] = []
}

/// The direct chat with somebody: one, however often and from wherever it is asked for.
extension Client {
  /// The latest room with that user that both may be in, or a new one.
  mutating func openDirectChat(with text: ByteString, _ id: CommandID) {
    guard let user = UserID(text) else { return finish(id, .failed(.invalidUserID)) }
    guard user != session?.userID else { return finish(id, .failed(.ownUserID)) }
    let existing = directRooms.rooms(with: user).filter { room in
      guard let room = rooms[room], room.membership == .join else { return false }
      // One that the other has left is no way to reach them.
      let other = room.membership(of: user)
      return other != .leave && other != .ban
    }
    if let room = existing.max(by: { (rooms[$0]?.state.lastActivity ?? 0) < (rooms[$1]?.state.lastActivity ?? 0) }) {
      return finish(id, .room(room))
    }
    if let room = arriving.directRooms[user] { return finish(id, .room(room)) }
    if arriving.waiting[user] != nil {
      arriving.waiting[user]?.append(id)
      return
    }
    let invitation = rooms.values.first { $0.membership == .invite && $0.state.isDirectInvite && $0.inviter == user }
    if let invitation { return join(invitation.id.text, via: [], reason: nil, id) }
    guard extensions.offered != nil else { return learnExtensions(for: .rooms(.openDirectChat(with: text)), id) }
    arriving.waiting[user] = []
    prepare(.with(user), id)
  }

  mutating func makeDirectChat(with user: UserID, isEncrypted: Bool, _ id: CommandID) {
    guard extensions.offered?.contains(.direct) ?? false else {
      return createRoom(NewRoom(preset: .trustedPrivateChat, invited: [user], isEncrypted: isEncrypted), directUser: user, id)
    }
    let body = JSONWriter.object { writer in
      writer.member("user_id", user)
      if isEncrypted { writer.member("initial_state", raw: NewRoom.encryptedState) }
    }
    request(.openDirectRoom, Endpoint.openDirectRoom.path(), body: body, for: .createRoom(directUser: user, id))
  }

  mutating func directChatAnswered(_ answer: Answer, with user: UserID, _ id: CommandID) {
    let waiting = arriving.waiting.removeValue(forKey: user) ?? []
    // Only the cancelled command ends here; the next one that waits asks again.
    if case .cancelled = answer, let next = waiting.first {
      finish(id, .failed(.cancelled))
      openDirectChat(with: user.text, next)
      for other in waiting.dropFirst() { openDirectChat(with: user.text, other) }
      return
    }
    guard case .success(let json) = answer, let room = RoomID(json["room_id"]) else {
      for id in [id] + waiting { finish(id, .failed(answer.error ?? .badAnswer)) }
      return
    }
    noteArriving(room)
    if rooms[room]?.membership != .join { arriving.directRooms[user] = room }
    addDirect(room, with: user, isKnownToServer: extensions.offered?.contains(.direct) ?? false)
    for id in [id] + waiting { finish(id, .room(room)) }
  }

  // MARK: Arriving

  mutating func noteArriving(_ room: RoomID) {
    if rooms[room]?.membership != .join { arriving.rooms.insert(room) }
  }

  /// A sync has brought it.
  mutating func hasArrived(_ id: RoomID) {
    if arriving.rooms.remove(id) != nil {
      for (user, room) in arriving.directRooms where room == id { arriving.directRooms[user] = nil }
    }
    guard !arriving.timelines.isEmpty else { return }
    let timelines = arriving.timelines.filter { $0.room == id }
    arriving.timelines.removeAll { $0.room == id }
    for key in timelines { openTimeline(key, 0) }
  }

  mutating func endArriving() {
    let waiting = arriving.waiting
    arriving = ArrivingRooms()
    for id in waiting.values.joined() { finish(id, .failed(.notSignedIn)) }
  }

  // MARK: Groups

  /// The joined private rooms with this number of members, invited ones included, latest first: candidates for the room of certain people.
  public func roomsOf(memberCount: Int) -> [RoomID] {
    roomIDs.filter { id in
      guard let room = rooms[id], room.membership == .join, !room.isDirect, room.joinRule != .public, !room.isSpace else {
        return false
      }
      return room.joinedMemberCount + room.invitedMemberCount == memberCount
    }
  }
}

extension Room {
  /// Whether these users and the account's own user are the only members, joined or invited. All members must be known.
  public func isRoom(ofJust users: [UserID]) -> Bool {
    let wanted = Set(users)
    guard joinedMemberCount + invitedMemberCount == wanted.count + 1 else { return false }
    return wanted.allSatisfy { state.members[$0]?.isPresent ?? false }
  }
}
