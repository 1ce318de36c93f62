import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import WebHost

/// Rooms and people that fit what is typed: what the account knows at once, everybody else as the server answers.
final class TargetFinder<D: DOM> {
  enum Target: Equatable {
    case room(RoomID)
    /// A person without a direct chat with the user.
    case person(UserID)
  }

  /// One of them, as it is shown.
  struct Line {
    let target: Target
    /// Decides on the colour.
    let id: String
    let name: String
    let avatar: MediaURI?
    let isPerson: Bool
    /// Unread messages.
    let count: Int
    /// What tells it from others of its name.
    let distinction: String?
    /// nil where the name is enough.
    var detail: String?
  }

  private static var list: RoomListID { 2 }
  private static var roomsLimit: Int { 12 }
  private static var peopleLimit: Int { 6 }
  /// Typing mostly goes on within this time; then the server is not asked yet.
  private static var pauseMilliseconds: Double { 200 }

  /// The best first.
  private(set) var lines: [Line] = []
  /// The server has named more people.
  var onMore: () -> Void = {}
  private let app: App<D>
  private let sections: [RoomListSection]
  private var people: PeopleFinder
  private var words = ""
  private var isOpen = true

  /// - Parameter hasSpaces: spaces are looked for, too.
  init(_ app: App<D>, hasSpaces: Bool) {
    self.app = app
    sections = hasSpaces ? [.all, .spaces] : [.all]
    people = PeopleFinder(own: app.userID, contacts: app.client.contacts())
  }

  /// Looks for that. Without words the latest rooms are found, and nobody else.
  func type(_ words: String) {
    self.words = words
    people.type(ByteString(words))
    find()
    guard let term = people.term else { return }
    let version = people.version
    Host.after(milliseconds: Self.pauseMilliseconds) { [self] in
      if isOpen, version == people.version { ask(term, version) }
    }
  }

  /// Answers that are on their way are dropped.
  func close() { isOpen = false }

  private func ask(_ term: ByteString, _ version: Int) {
    app.ask(.searchUsers(term, limit: Self.peopleLimit)) { [self] result in
      guard isOpen, case .success(let found) = result else { return }
      let named = found.users.map { PeopleFinder.Person($0.id, name: $0.displayName, avatar: $0.avatar) }
      guard people.directoryAnswered(named, for: version) else { return }
      find()
      onMore()
    }
  }

  // MARK: What fits

  private func find() {
    lines = []
    var query = RoomListQuery.search(ByteString(words), pageSize: Self.roomsLimit)
    query.sections = sections
    app.ask(.roomList(.open(Self.list, query)))
    var spokenTo: Set<UserID> = []
    for id in sections.flatMap({ app.client.roomList(Self.list)?.rooms(in: $0) ?? [] }) {
      guard let room = app.client.room(id) else { continue }
      if let user = room.directUserID { spokenTo.insert(user) }
      lines.append(line(of: room))
    }
    app.ask(.roomList(.close(Self.list)))
    guard !words.utf8.isEmpty else { return tellApart() }
    for person in people.found.prefix(Self.peopleLimit) where spokenTo.insert(person.userID).inserted {
      // Their chat may be called otherwise than what was typed.
      lines.append(app.chat(with: person.userID).map { line(of: $0) } ?? line(of: person))
    }
    tellApart()
  }

  private func line(of room: Room) -> Line {
    Line(
      target: .room(room.id), id: room.directUserID?.string ?? room.id.string, name: Strings.words(for: room.name),
      avatar: room.avatar, isPerson: room.isDirect, count: room.notificationCount,
      distinction: room.directUserID?.string ?? room.canonicalAlias?.string)
  }

  private func line(of person: PeopleFinder.Person) -> Line {
    let id = person.userID.string
    return Line(
      target: .person(person.userID), id: id,
      name: person.isNamed ? person.name.string : Strings[.startChatWith, id], avatar: person.avatar, isPerson: true, count: 0,
      distinction: person.isNamed ? id : nil, detail: people.sharesName(person) ? id : nil)
  }

  /// IDs and addresses stand beside names that several have.
  private func tellApart() {
    for index in lines.indices {
      let name = lines[index].name
      let isShared = lines.indices.contains { $0 != index && lines[$0].name.hasSameBytes(as: name) }
      if isShared { lines[index].detail = lines[index].distinction }
    }
  }
}
