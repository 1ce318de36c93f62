import JSON
import MatrixModel
import ServerRooms
import ServerSync

extension RoomSnapshot {
  /// Characters of a room's or a person's name in a mail.
  static let titleCharactersLimit = 80

  /// What a room is called for one of its people. Spec: Client-Server API, "Calculating the display name for a room".
  func title(for user: UserID) -> String {
    for given in [self[.name]?.content["name"]?.string, self[.canonicalAlias]?.content["alias"]?.string] {
      let title = OneLine.text(given ?? "", limit: Self.titleCharactersLimit)
      if !title.isEmpty { return title }
    }
    let summary = RoomSummary(of: self, for: user)
    let names = summary.heroes.map { personTitle(of: $0) }
    let others = joinedCount + invitedCount - 1
    guard others > 0 else { return names.isEmpty ? "an empty room" : "an empty room (was \(Self.list(names)))" }
    return others > names.count ? "\(names.joined(separator: ", ")) and \(others - names.count) others" : Self.list(names)
  }

  /// The name of a person in the room.
  func personTitle(of user: UserID) -> String {
    let name = OneLine.text(members[user]?.event.content["displayname"]?.string ?? "", limit: Self.titleCharactersLimit)
    return name.isEmpty ? OneLine.text(user.string, limit: Self.titleCharactersLimit) : name
  }

  private static func list(_ names: [String]) -> String {
    guard names.count > 1, let last = names.last else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }
}
