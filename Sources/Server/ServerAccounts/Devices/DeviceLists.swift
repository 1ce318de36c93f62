import Database
import MatrixModel
import ServerCore

/// The stream of users whose devices or cross-signing keys changed.
///
/// Spec: Client-Server API, "Tracking the device list for a user".
package final class DeviceLists: Sendable {
  package let database: Database
  private let notifier: Notifier
  package let census: DeviceCensus

  package init(database: Database, notifier: Notifier, census: DeviceCensus) {
    self.database = database
    self.notifier = notifier
    self.census = census
  }

  /// Returns the users, of all servers, whose devices or keys, as `viewer` sees them, changed after `start`, up to and including `end`.
  /// A user who changed once more after `end` is not among them, and will be in the next interval.
  package static func changed(_ tx: ReadTransaction, for viewer: UserID, after start: Int64, upTo end: Int64) throws
    -> [UserID]
  {
    try tx.all(
      """
      SELECT user_id FROM device_list_change WHERE position > $1 AND position <= $2
      UNION SELECT user_id FROM own_signature_change WHERE signer_user_id = $3 AND position > $1 AND position <= $2
      """, start, end, viewer
    ) { row in row.identifier(0) }
  }

  /// Users who are joined to a room in which `userID` is joined, `userID` included.
  package static func sharingRooms(_ tx: ReadTransaction, with userID: UserID) throws -> Set<UserID> {
    var users: Set<UserID> = [userID]
    try tx.query(
      """
      SELECT DISTINCT other.user_id FROM membership mine
      JOIN membership other ON other.room = mine.room AND other.membership = $2
      WHERE mine.user_id = $1 AND mine.membership = $2
      """, userID, Int(Membership.join.rawValue)
    ) { row in users.insert(row.identifier(0)) }
    return users
  }

  /// Notes that the user's devices or keys changed, and wakes who shares a room.
  func changed(_ tx: WriteTransaction, _ userID: UserID) throws {
    let position = tx.nextPosition()
    try tx.execute(
      """
      INSERT INTO device_list_change(user_id, position) VALUES($1, $2)
      ON CONFLICT(user_id) DO UPDATE SET position = excluded.position
      """, userID, position)
    let users = try Self.sharingRooms(tx, with: userID)
    notifier.publish(position: position, users: Array(users), in: tx)
  }

  /// Notes that `signer` has signed a key of another user: nobody else sees that, so nobody else is told.
  func changed(_ tx: WriteTransaction, _ userID: UserID, for signer: UserID) throws {
    let position = tx.nextPosition()
    try tx.execute(
      """
      INSERT INTO own_signature_change(signer_user_id, user_id, position) VALUES($1, $2, $3)
      ON CONFLICT(signer_user_id, user_id) DO UPDATE SET position = excluded.position
      """, signer, userID, position)
    notifier.publish(position: position, users: [signer], in: tx)
  }
}
