import JSON
import MatrixModel

/// Some of a room's members by a name of their own (`martlet.mention_groups`). Documentation/Extensions.md describes it.
public struct RoomGroup: Sendable, Equatable {
  /// What is more is passed over.
  public static let groupsLimit = 50
  public static let usersLimit = 200
  /// Bytes.
  private static let nameLimit = 32

  public var name: ByteString
  /// Some of them may not be in the room.
  public var users: [UserID]

  public init(_ name: ByteString, _ users: [UserID]) {
    self.name = name
    self.users = users
  }

  /// Whether it can be written behind `@` and stands for nobody else there.
  public static func isName(_ name: ByteString) -> Bool {
    var small: [UInt8] = []
    for byte in name.utf8 {
      // " # : @
      if byte <= 0x20 || byte == 0x7F || byte == 0x22 || byte == 0x23 || byte == 0x3A || byte == 0x40 { return false }
      small.append(byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte)
    }
    for taken in ["room", "here", "moderators"] where Array(taken.utf8) == small { return false }
    return !small.isEmpty && small.count <= nameLimit
  }

  package static func read(_ json: JSON?) -> [RoomGroup] {
    var groups: [RoomGroup] = []
    guard let json else { return groups }
    for member in json.members where groups.count < groupsLimit && isName(member.key) {
      var users: [UserID] = []
      for user in member.value.elements where users.count < usersLimit { if let user = UserID(user) { users.append(user) } }
      groups.append(RoomGroup(member.key, users))
    }
    return groups
  }

  package static func write(_ groups: [RoomGroup], to writer: inout JSONWriter) {
    writer.key("groups")
    writer.object { writer in
      for group in groups {
        writer.key(group.name)
        writer.array { writer in for user in group.users { writer.write(user) } }
      }
    }
  }
}
