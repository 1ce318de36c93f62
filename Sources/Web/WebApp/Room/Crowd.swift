import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// The people that a message in a room can mention: known members at once, all others as they load. It reads in slices, so that a room
/// with many thousands of members does not delay typing.
final class Crowd<D: DOM> {
  struct Person {
    let user: UserID
    /// As it is shown. Two people that the server listed may share a name.
    let name: ByteString
    /// In lower case, for the search.
    let lower: [UInt8]
  }

  /// Members read at once.
  static var sliceLimit: Int { 250 }
  /// Larger rooms are loaded page by page.
  private static var wholeLimit: Int { 500 }

  private(set) var people: [Person] = []
  /// Names that were chosen from a list, as they stand in the text.
  private var chosen: [(name: [UInt8], user: UserID)] = []
  /// There are more, or others.
  var onChange: () -> Void = {}
  private let app: App<D>
  private var room: RoomID?
  /// Those who are read next, the last of them first.
  private var waiting: [UserID] = []
  private var seen: Set<UserID> = []
  private var task: HostTask?
  /// The server is asked, or has answered.
  private var isAsked = false

  init(_ app: App<D>) { self.app = app }

  func forget() {
    room = nil
    people = []
    chosen = []
    waiting = []
    seen = []
    isAsked = false
    task?.cancel()
    task = nil
  }

  /// Begins with who spoke last, unless it has begun.
  func gather(_ room: Room) {
    guard self.room != room.id else { return isAsked ? () : askForMore() }
    forget()
    self.room = room.id
    waiting = room.memberIDs + Crowd.speakers(room).reversed()
    readSlice()
  }

  /// Authors of the latest messages, the last of them first.
  static func speakers(_ room: Room) -> [UserID] {
    var users: [UserID] = []
    for item in room.timeline.items.suffix(100).reversed() where !users.contains(item.sender) { users.append(item.sender) }
    return users
  }

  func changed(_ users: [UserID]) {
    guard room != nil else { return }
    for user in users where seen.remove(user) != nil { people.removeAll { $0.user == user } }
    let wasIdle = waiting.isEmpty
    waiting += users
    if wasIdle { readSlice() }
    onChange()
  }

  /// Runs again in a moment as long as somebody waits.
  func readSlice() {
    task = nil
    guard let id = room, let room = app.client.room(id) else { return }
    var count = 0
    while count < Crowd.sliceLimit, let user = waiting.popLast() {
      count += 1
      guard room.membership(of: user) == .join || room.membership(of: user) == .invite else { continue }
      add(user, room.displayName(of: user))
    }
    if waiting.isEmpty { return askForMore() }
    task = Host.after(milliseconds: 0) { [self] in
      readSlice()
      onChange()
    }
  }

  private func add(_ user: UserID, _ name: ByteString) {
    guard user != app.userID, seen.insert(user).inserted else { return }
    people.append(Person(user: user, name: name, lower: name.utf8.map { $0 &- 0x41 < 26 ? $0 | 0x20 : $0 }))
  }

  // MARK: Naming

  /// What is written for them, which no other's name is.
  func choose(_ person: Person) -> String {
    let isShared = people.contains { $0.user != person.user && $0.name == person.name }
    let text = isShared ? person.name.string + " (" + person.user.string + ")" : person.name.string
    chosen.append((Array(text.utf8), person.user))
    return text
  }

  /// Those that a text may have, the ones that were chosen first. O(members).
  var names: [(name: [UInt8], user: UserID)] { chosen + people.map { ($0.name.utf8, $0.user) } }

  // MARK: The server

  private func askForMore() {
    guard let id = room, let room = app.client.room(id), !room.hasAllMembers, !isAsked else { return }
    isAsked = true
    // The client tells of everybody who comes with it.
    if room.joinedMemberCount <= Crowd.wholeLimit { return app.ask(.people(.loadMembers(id))) }
    ask(id, from: nil)
  }

  private func ask(_ id: RoomID, from: ByteString?) {
    app.ask(.members(of: id, limit: Crowd.sliceLimit, from: from)) { [self] result in
      guard id == room else { return }
      switch result {
      case .success(let page):
        for member in page.members { add(member.userID, Member.shownName(member.displayName, of: member.userID)) }
        onChange()
        if let next = page.nextBatch { ask(id, from: next) }
      case .failure(.refused(let status, _, _, _)) where status != 429: app.ask(.people(.loadMembers(id)))
      case .failure: isAsked = false
      }
    }
  }
}
