import CallCore
import JSON
import MatrixModel
import WebHost

/// What the page tells of a room that has, or may get, a call.
struct KnownRoom {
  let id: RoomID
  private(set) var name = ""
  /// The address of its picture.
  let avatar: String?
  /// Whether anybody may come in.
  let isPublic: Bool
  /// Whether calls of many are end-to-end encrypted there.
  let isEncrypted: Bool
  /// Whether a call of many rings there.
  let isSmall: Bool
  /// The other one of a direct chat.
  let directUser: UserID?
  /// The call of many.
  private(set) var call = RoomCall()
  private(set) var people: [Person] = []

  struct Person {
    let user: ByteString
    let name: String
    let avatar: String?
    /// Whether it is certain that the room has this member.
    var isJoined = false
  }

  private static var peopleLimit: Int { 256 }

  init?(_ json: JSON) {
    guard let id = RoomID(json["room"]) else { return nil }
    self.id = id
    name = json["name"]?.string ?? id.string
    avatar = json["avatar"]?.string
    isPublic = json.bool("public") ?? false
    isEncrypted = json.bool("encrypted") ?? false
    isSmall = json.bool("small") ?? false
    directUser = UserID(json["direct"])
    for entry in (json["people"] ?? json).elements {
      guard let user = entry.text("user") else { continue }
      people.append(
        Person(
          user: user, name: entry["name"]?.string ?? user.string, avatar: entry["avatar"]?.string,
          isJoined: entry.bool("joined") ?? false))
    }
    for entry in (json["members"] ?? json).elements {
      // A user who has left the room is in none of its calls.
      guard let event = Event(entry), let sender = event.sender, person(sender.text) != nil else { continue }
      call.take(event)
    }
  }

  /// Keeps people that the page named earlier: it names only those it has just heard of.
  mutating func remember(_ former: [Person]) {
    for person in former where people.count < Self.peopleLimit && self.person(person.user) == nil { people.append(person) }
  }

  func person(_ user: ByteString) -> Person? { people.first { $0.user == user } }

  /// How many people, however many devices each has.
  func peopleCount(at now: Int64) -> Int {
    var users: [ByteString] = []
    for member in call.members(at: now) where !users.contains(member.user.text) { users.append(member.user.text) }
    return users.count
  }

  /// Returns the person that a connection of the call's session belongs to, as its token says.
  func person(of connection: CallConnection) -> Person {
    let user = (try? JSON.parse(connection.data.utf8))?.text("user_id") ?? ""
    return person(user) ?? Person(user: user, name: user.isEmpty ? "?" : user.string, avatar: nil)
  }
}
