import Database
import JSON
import MatrixModel

/// The users that a user ignores. Spec: Client-Server API, "Ignoring Users".
package enum IgnoredUsers {
  /// Users taken from one list; what comes after is passed over.
  static let countLimit = 10_000

  /// The users that `m.ignored_user_list` of `user` names. One look by key; a list that is not as the spec says names none.
  package static func of(_ user: UserID, in transaction: ReadTransaction) throws -> Set<UserID> {
    guard let content = try AccountData.content(transaction, of: .ignoredUserList, user, in: nil) else { return [] }
    return named(in: content, by: user)
  }

  static func named(in content: [UInt8], by user: UserID) -> Set<UserID> {
    guard let users = (try? JSON.parse(content))?["ignored_users"] else { return [] }
    var ignored: Set<UserID> = []
    for member in users.members {
      guard ignored.count < countLimit else { break }
      // Who lists themselves would lose their own messages.
      if let other = UserID(member.key), other != user { ignored.insert(other) }
    }
    return ignored
  }
}
