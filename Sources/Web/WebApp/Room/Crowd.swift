import ClientCore
import JSON
import MatrixModel
import Messenger
import WebHost

/// The people that a message in a room can mention: known members at once, all others as they load. It reads in slices, so that a room
/// with many thousands of members does not delay typing.
final class Crowd<D: DOM> {
  typealias Person = PeopleFinder.Person

  /// Members read at once.
  static var sliceLimit: Int { 250 }
  /// Names looked at for what is typed before the page may draw.
  private static var lookedAtOnce: Int { 1_000 }
  /// Larger rooms are loaded page by page.
  private static var wholeLimit: Int { 500 }

  /// Finds them by a few letters. Two people from the server's list may share a name.
  var finder: PeopleFinder { didSet { lookOn() } }
  /// Names that were chosen from a list, as they stand in the text.
  private var chosen: [(name: [UInt8], user: UserID)] = []
  /// There are more, or others.
  var onChange: () -> Void = {}
  private let app: App<D>
  private let hasOwn: Bool
  private let chosenLimit: Int
  private var room: RoomID?
  /// Those who are read next, the last of them first.
  private var waiting: [UserID] = []
  private var task: HostTask?
  private var looking: HostTask?
  private var sought: (text: ByteString, limit: Int)?
  /// The server is asked, or has answered.
  private var isAsked = false

  /// - Parameters:
  ///   - hasOwn: the account's own user is one of them.
  ///   - chosenLimit: of people who are chosen at once.
  init(_ app: App<D>, hasOwn: Bool = false, chosenLimit: Int = PeopleFinder.chosenLimit) {
    self.app = app
    self.hasOwn = hasOwn
    self.chosenLimit = chosenLimit
    finder = PeopleFinder(own: nil)
    forget()
  }

  func forget() {
    finder = PeopleFinder(own: hasOwn ? nil : app.userID, limit: PeopleFinder.membersLimit, chosenLimit: chosenLimit)
    // Natively nothing would go on.
    if Host.hasFrames { finder.lookedAtOnce = Crowd.lookedAtOnce }
    sought = nil
    room = nil
    chosen = []
    waiting = []
    isAsked = false
    task?.cancel()
    task = nil
    looking?.cancel()
    looking = nil
  }

  /// Begins with who spoke last, unless it has begun.
  func gather(_ room: Room) {
    guard self.room != room.id else { return isAsked ? () : askForMore() }
    let chosen = finder.chosen
    forget()
    self.room = room.id
    finder.add(chosen)
    for person in chosen { finder.choose(person.userID) }
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
    finder.forget(users)
    let wasIdle = waiting.isEmpty
    waiting += users
    if wasIdle { readSlice() }
    onChange()
  }

  /// Runs again in a moment as long as somebody waits.
  func readSlice() {
    task = nil
    guard let id = room, let room = app.client.room(id) else { return }
    var read: [Person] = []
    for _ in 0..<Crowd.sliceLimit {
      guard let user = waiting.popLast() else { break }
      guard room.membership(of: user) == .join || room.membership(of: user) == .invite else { continue }
      read.append(Person(user, shownAs: room.displayName(of: user), avatar: room.avatar(of: user)))
    }
    finder.add(read)
    if waiting.isEmpty { return askForMore() }
    task = Host.after(milliseconds: 0) { [self] in
      readSlice()
      onChange()
    }
  }

  // MARK: Finding

  /// Looks for a text: some people are found at once, and `onChange` tells of others. Nothing begins anew if it is looked for already.
  func look(for text: ByteString, limit: Int = PeopleFinder.shownLimit) {
    if let sought, sought.text == text, sought.limit == limit { return }
    sought = (text, limit)
    finder.foundLimit = limit
    finder.type(text)
  }

  /// Goes on looking until all are found, for somebody who takes what stands there.
  func lookAtAll() {
    looking?.cancel()
    looking = nil
    while !finder.hasLookedAtAll { finder.lookOn() }
  }

  private func lookOn() {
    guard looking == nil, !finder.hasLookedAtAll else { return }
    looking = Host.after(milliseconds: 0) { [self] in
      looking = nil
      finder.lookOn()
      onChange()
    }
  }

  // MARK: Naming

  /// What is written for them, which no other's name is.
  func choose(_ person: Person) -> String {
    let text = finder.sharesName(person) ? person.name.string + " (" + person.userID.string + ")" : person.name.string
    chosen.append((Array(text.utf8), person.userID))
    return text
  }

  /// Names that a text may have, the ones that were chosen first. O(members).
  var names: [(name: [UInt8], user: UserID)] { chosen + finder.people.map { ($0.name.utf8, $0.userID) } }

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
        finder.add(page.members.map { Person($0.userID, name: $0.displayName, avatar: $0.avatar) })
        onChange()
        if let next = page.nextBatch { ask(id, from: next) }
      case .failure(.refused(let status, _, _, _)) where status != 429: app.ask(.people(.loadMembers(id)))
      case .failure: isAsked = false
      }
    }
  }
}
