import JSON
import MatrixModel

/// The users that the account ignores. Spec: `m.ignored_user_list`.
public struct IgnoredUsers: Sendable {
  public private(set) var users: Set<UserID> = []
  /// Entries of the list as they came: what else they say survives a change.
  private var entries: [(key: ByteString, value: [UInt8])] = []

  init() {}

  init(content: JSON) {
    guard let listed = content["ignored_users"] else { return }
    for member in listed.members {
      entries.append((member.key, Array(member.value.bytes)))
      if let user = UserID(member.key) { users.insert(user) }
    }
  }

  public func contains(_ user: UserID) -> Bool { users.contains(user) }

  mutating func set(_ user: UserID, _ isIgnored: Bool) {
    guard contains(user) != isIgnored else { return }
    if isIgnored {
      users.insert(user)
      entries.append((user.text, Array("{}".utf8)))
    } else {
      users.remove(user)
      entries.removeAll { $0.key == user.text }
    }
  }

  var content: [UInt8] {
    JSONWriter.object { writer in
      writer.key("ignored_users")
      writer.object { writer in
        for entry in entries {
          writer.key(entry.key)
          writer.raw(entry.value)
        }
      }
    }
  }
}
