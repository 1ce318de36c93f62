import JSON
public import MatrixModel

/// Whom a message speaks to. Spec: "User and room mentions".
public struct Mentions: Sendable {
  public var users: [UserID]
  /// Everyone in the room.
  public var room: Bool

  public init(users: [UserID] = [], room: Bool = false) {
    self.users = users
    self.room = room
  }
}

extension Mentions {
  /// nil where the event does not speak of mentions.
  init?(_ json: JSON?) {
    guard let json, json.isObject else { return nil }
    self.init(room: json["room"]?.bool ?? false)
    for user in json["user_ids"]?.elements ?? json.elements { if let user = UserID(user) { add(user) } }
  }
}
