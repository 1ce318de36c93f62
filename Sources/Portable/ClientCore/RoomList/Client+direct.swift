import JSON
import MatrixModel

/// Changes of `m.direct` that wait for their turn. The account has one list for all of its devices: it is read anew before it is changed, and
/// only one change is on its way at a time.
struct DirectChanges: Sendable {
  struct Change: Sendable {
    let room: RoomID
    let user: UserID?
    let command: CommandID
  }

  var waiting: [Change] = []
  /// Their list is on its way to the server.
  var sent: [CommandID] = []
  var isUnderWay = false
  /// Who asks for a direct chat that is being made.
  var asking: [UserID: [CommandID]] = [:]
}

extension Client {
  mutating func setDirect(_ room: RoomID, _ user: UserID?, _ id: CommandID) {
    guard rooms[room] != nil else { return finish(id, .failed(.unknownRoom)) }
    if user == session?.userID { return finish(id, .failed(.ownUserID)) }
    directChanges.waiting.append(DirectChanges.Change(room: room, user: user, command: id))
    readDirect()
  }

  private mutating func readDirect() {
    guard !directChanges.waiting.isEmpty, !directChanges.isUnderWay, let user = session?.userID else { return }
    directChanges.isUnderWay = true
    request(.getAccountData, Endpoint.getAccountData.path(user.text, EventType.direct.text), for: .readDirect)
  }

  mutating func directAnswered(_ answer: Answer) {
    let changes = directChanges.waiting
    directChanges.waiting = []
    switch answer {
    case .success(let json): directRooms = DirectRooms(content: json)
    // Nobody ever had one.
    case .refused(let error, _) where error.status == 404: directRooms = DirectRooms()
    default:
      directChanges.isUnderWay = false
      for change in changes { finish(change.command, .failed(answer.error ?? .badAnswer)) }
      return
    }
    for change in changes {
      directRooms.remove(change.room)
      if let user = change.user { directRooms.add(change.room, with: user) }
    }
    directChanges.sent = changes.map { $0.command }
    setAccountData(.direct, directRooms.content, .writeDirect)
  }

  mutating func directWritten(_ answer: Answer) {
    directChanges.isUnderWay = false
    let commands = directChanges.sent
    directChanges.sent = []
    for command in commands { finish(command, answer.error.map { .failed($0) } ?? .done) }
    readDirect()
  }

  /// Nobody will hear of the end in this session.
  mutating func endDirectChanges() {
    let commands = directChanges.waiting.map { $0.command } + directChanges.sent + directChanges.asking.values.joined()
    directChanges = DirectChanges()
    if breadcrumbs.isUnderWay { breadcrumbs.isDirty = true }
    breadcrumbs.isUnderWay = false
    for command in commands { finish(command, .failed(.notSignedIn)) }
  }

  // MARK: Asked for twice

  /// Whether the direct chat with the user is being made already, or made and not brought by a sync yet; then the command ends with that.
  mutating func joinsDirectChat(with user: UserID, _ id: CommandID) -> Bool {
    if directChanges.asking[user] != nil {
      directChanges.asking[user]?.append(id)
      return true
    }
    guard let made = directRooms.rooms(with: user).last(where: { directRooms.isMade($0) && rooms[$0] == nil }) else {
      return false
    }
    finish(id, .room(made))
    return true
  }

  /// How the making of it ended, for those who asked meanwhile.
  mutating func endDirectChat(with user: UserID?, _ result: CommandResult) {
    guard let user else { return }
    for id in directChanges.asking.removeValue(forKey: user) ?? [] { finish(id, result) }
  }
}
