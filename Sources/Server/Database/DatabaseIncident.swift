/// What happens to a database that the operator should know of.
package enum DatabaseIncident: Equatable, Sendable {
  /// PostgreSQL cannot be reached, or the connection was lost; and it can be reached again.
  case away(message: String)
  case back
  /// The NATS server cannot be reached for two seconds; and it can be reached again.
  case busAway
  case busBack
  /// PostgreSQL did not answer a COMMIT. `isDurable` says how it turned out.
  case unansweredCommit(isDurable: Bool)
  /// The database is in an earlier state than this server left it: so many commits are lost, acknowledged ones among them. The stream goes on
  /// at `position`.
  case wentBack(lostCommits: Int64, position: Int64)
  /// Somebody else has written to the database. The stream goes on at `position`.
  case changedFromOutside(position: Int64)
}
