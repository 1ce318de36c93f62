import JSON
import MatrixModel

/// Who may do what. Spec: `m.room.power_levels`.
struct PowerLevels: Sendable {
  private var users: [UserID: Int64] = [:]
  private var usersDefault: Int64

  init(content: JSON) {
    usersDefault = content["users_default"]?.integer ?? 0
    if let listed = content["users"] {
      for member in listed.members {
        if let user = UserID(member.key), let level = member.value.integer { users[user] = level }
      }
    }
  }

  /// As content of the event, as far as it is kept here.
  var record: [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("users_default", usersDefault)
      writer.key("users")
      writer.object { writer in
        for (user, level) in users {
          writer.key(user)
          writer.write(level)
        }
      }
    }
    return writer.bytes
  }

  func level(of user: UserID) -> Int64 { users[user] ?? usersDefault }
}
