import Database
import ServerCore

/// What becomes of content in the bucket, as rows: so that no name is without its object, whoever uploads and deletes the same content
/// at once, and whenever a server is killed.
///
/// Content without a row is what `martlet media copy` has brought, or nothing.
struct MediaObjects: Sendable {
  enum State: String, Sendable {
    /// The object may be there, or somebody may be writing it. No name relies on it.
    case arriving
    /// The object is there, and had a name.
    case alive
    /// The object is there, and the last name has gone.
    case doomed
    /// The object is being removed: nobody may rely on it or write it.
    case deleting
  }

  static let statements = [
    """
    CREATE TABLE media_object(hash TEXT PRIMARY KEY, state TEXT NOT NULL, since INTEGER NOT NULL) STRICT
    """,
    "CREATE INDEX media_object_since ON media_object(state, since)"
  ]

  /// The state that a naming write found does not let it rely on the object.
  struct Gone: Error {}

  /// What an upload does first.
  enum Arrival: Sendable {
    /// Nothing: the object is there.
    case isThere
    case write
    /// Wait until the object is removed, and ask again.
    case wait
  }

  let clock: WallClock

  func arrive(_ hash: String, _ tx: WriteTransaction) throws -> Arrival {
    switch try Self.state(of: hash, tx) {
    case .alive: return .isThere
    case .doomed:
      // The sweep leaves it alone for as long again.
      try set(hash, .doomed, tx)
      return .isThere
    case .deleting: return .wait
    case .arriving, nil:
      try set(hash, .arriving, tx)
      return .write
    }
  }

  /// Part of the write that names content. Throws `Gone` if the object may have been removed since `arrive`.
  func name(_ hash: String, _ tx: WriteTransaction) throws {
    switch try Self.state(of: hash, tx) {
    case .alive: return
    case .arriving, .doomed: try set(hash, .alive, tx)
    case .deleting, nil: throw Gone()
    }
  }

  /// Part of the write that has taken a name from content.
  func unname(_ hash: String, _ tx: WriteTransaction) throws {
    guard try !BucketStore.isUsed(hash, tx) else { return }
    switch try Self.state(of: hash, tx) {
    case .alive: try set(hash, .doomed, tx)
    // The row has never said that the object is there: `media copy` may have brought it, or not yet.
    case .arriving, nil: try set(hash, .arriving, tx)
    case .doomed, .deleting: return
    }
  }

  /// Content to be removed now: without a name for `age` milliseconds, or left over from an earlier sweep. At most `limit`.
  func doomed(for age: Int64, limit: Int, _ tx: WriteTransaction) throws -> [String] {
    let time = clock.now() - age
    var found = try tx.all("SELECT hash FROM media_object WHERE state = 'deleting' LIMIT $1", limit) { $0.text(0) }
    for state in [State.doomed, .arriving] {
      let old = try tx.all(
        "SELECT hash FROM media_object WHERE state = $1 AND since <= $2 LIMIT $3", state.rawValue, time, limit - found.count
      ) { $0.text(0) }
      for hash in old {
        let isUsed = try BucketStore.isUsed(hash, tx)
        try set(hash, isUsed ? .alive : .deleting, tx)
        if !isUsed { found.append(hash) }
      }
    }
    return found
  }

  /// After the object was removed.
  func remove(_ hash: String, _ tx: WriteTransaction) throws {
    try tx.execute("DELETE FROM media_object WHERE hash = $1 AND state = 'deleting'", hash)
  }

  static func state(of hash: String, _ tx: ReadTransaction) throws -> State? {
    try tx.first("SELECT state FROM media_object WHERE hash = $1", hash) { State(rawValue: $0.text(0)) } ?? nil
  }

  private func set(_ hash: String, _ state: State, _ tx: WriteTransaction) throws {
    try tx.execute(
      """
      INSERT INTO media_object(hash, state, since) VALUES($1, $2, $3)
      ON CONFLICT(hash) DO UPDATE SET state = excluded.state, since = excluded.since
      """, hash, state.rawValue, clock.now())
  }
}
