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
    let commands = directChanges.waiting.map { $0.command } + directChanges.sent
    directChanges = DirectChanges()
    if breadcrumbs.isUnderWay { breadcrumbs.isDirty = true }
    breadcrumbs.isUnderWay = false
    for command in commands { finish(command, .failed(.notSignedIn)) }
  }
}
