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

  func level(of user: UserID) -> Int64 { users[user] ?? usersDefault }
}
