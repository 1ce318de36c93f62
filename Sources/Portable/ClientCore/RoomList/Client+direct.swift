import JSON
import MatrixModel

/// A change of `m.direct`: the room is a chat with that user, or with nobody.
struct DirectChange: Sendable {
  let room: RoomID
  let user: UserID?
}

extension Client {
  mutating func setDirect(_ room: RoomID, _ user: UserID?, _ id: CommandID) {
    guard rooms[room] != nil else { return finish(id, .failed(.unknownRoom)) }
    if user == session?.userID { return finish(id, .failed(.ownUserID)) }
    directChanges.append(DirectChange(room: room, user: user), id)
    readDirect()
  }

  /// Of a room that was just made. It counts at once.
  mutating func addDirect(_ room: RoomID, with user: UserID, isKnownToServer: Bool = false) {
    guard directRooms.user(of: room) == nil else { return }
    directRooms.add(room, with: user)
    guard !isKnownToServer else { return }
    directChanges.append(DirectChange(room: room, user: user), 0)
    readDirect()
  }

  private mutating func readDirect() {
    guard let user = session?.userID, directChanges.begin() else { return }
    request(.getAccountData, Endpoint.getAccountData.path(user.text, EventType.direct.text), for: .readDirect)
  }

  mutating func directAnswered(_ answer: Answer) {
    let changes = directChanges.take()
    switch answer {
    case .success(let json): directRooms = DirectRooms(content: json)
    // Nobody ever had one.
    case .refused(let error, _) where error.status == 404: directRooms = DirectRooms()
    default: return endDirectChange(answer.error ?? .badAnswer)
    }
    for change in changes {
      directRooms.remove(change.room)
      if let user = change.user { directRooms.add(change.room, with: user) }
    }
    setAccountData(.direct, directRooms.content, .writeDirect)
  }

  mutating func directWritten(_ answer: Answer) { endDirectChange(answer.error) }

  private mutating func endDirectChange(_ error: ClientError?) {
    for command in directChanges.end() { finish(command, error.map { .failed($0) } ?? .done) }
    readDirect()
  }
}
