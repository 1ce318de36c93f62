import ClientCore
import JSON
import MatrixModel
import Messenger
import PageWidgets

/// Several people mentioned by one word after `@`, as `@room` mentions all: the moderators, and the members who are online.
/// A room may also have its own groups (`RoomGroup`). On the wire each person is mentioned (`m.mentions`).
enum MentionGroup: UInt8 {
  case moderators, here

  static let all: [MentionGroup] = [.moderators, .here]

  /// As it stands in the text, in every language.
  var word: String { self == .moderators ? "moderators" : "here" }
  var note: Strings.Key { self == .moderators ? .groupModerators : .groupHere }

  /// Returns the group's members without the user.
  func users<D: DOM>(of room: Room, _ app: App<D>) -> [UserID] {
    var found: [UserID] = []
    switch self {
    case .moderators:
      guard let powers = room.powerLevels else { break }
      found = powers.creators
      for (name, level) in powers.users where level >= 50 { if let user = UserID(name) { found.append(user) } }
      found = found.filter { room.membership(of: $0) ?? .join == .join }
    case .here: found = app.client.members(of: room.id) { $0.isHere }
    }
    return found.filter { $0 != app.userID }
  }

  /// Returns the people that a text mentions by a group.
  static func mentions<D: DOM>(in text: String, of room: Room, _ app: App<D>) -> Mentions {
    var mentions = Mentions()
    let groups = room.groups
    for index in MentionWriting.called(all.map { Array($0.word.utf8) } + groups.map { Array($0.name.utf8) }, in: text) {
      let users = index < all.count ? all[index].users(of: room, app) : groups[index - all.count].called(in: room, app)
      for user in users { mentions.add(user) }
    }
    return mentions
  }
}

extension RoomGroup {
  /// Returns those who are in the room, without the user. Members that are not loaded yet count as joined.
  func called<D: DOM>(in room: Room, _ app: App<D>) -> [UserID] {
    users.filter { $0 != app.userID && (room.membership(of: $0) ?? .join) == .join }
  }
}
