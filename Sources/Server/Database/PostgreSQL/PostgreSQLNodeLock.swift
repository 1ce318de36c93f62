import Glibc

/// The mark of a server that writes to a database: an advisory lock of the writer's session, which PostgreSQL drops with the connection,
/// however it ends. So who has lost the lock has lost the connection and cannot write. One that has the database alone has it alone; nodes share
/// it, and each also has a lock of its name, so that no two have the same.
enum PostgreSQLNodeLock {
  /// "Martlet" in ASCII. Advisory locks are of one database.
  private static let key: Int64 = 0x4D_61_72_74_6C_65_74
  /// How long the connection of a server that has just ended, or been cut off, may take to go.
  private static let waitMilliseconds = 2_000
  private static let stepMilliseconds = 50

  /// Throws `.occupied` if another server has it, `.sameNode` if another node has the name.
  ///
  /// - Parameter node: the name of a node; nil for a server that has the database alone.
  static func take(on connection: PostgreSQLConnection, as node: String?) throws(DatabaseError) {
    let function = node == nil ? "pg_try_advisory_lock" : "pg_try_advisory_lock_shared"
    guard try isTaken("\(function)(\(key))", connection) else {
      throw .occupied(name: connection.address.description, holder: try holder(connection))
    }
    // Locks of two numbers are others than those of one.
    if let node, try !isTaken("pg_try_advisory_lock(\(key >> 32), \(number(of: node)))", connection) { throw .sameNode(node) }
  }

  private static func isTaken(_ lock: String, _ connection: PostgreSQLConnection) throws(DatabaseError) -> Bool {
    for step in 0...waitMilliseconds / stepMilliseconds {
      if step > 0 { usleep(UInt32(stepMilliseconds) * 1_000) }
      if try connection.execute("SELECT \(lock)").first == "t" { return true }
    }
    return false
  }

  /// FNV-1a: the same in all nodes.
  private static func number(of name: String) -> Int32 {
    Int32(bitPattern: name.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 })
  }

  /// Runs `body` while no other node is in here.
  static func alone(on connection: PostgreSQLConnection, _ body: () throws(DatabaseError) -> Void) throws(DatabaseError) {
    _ = try connection.execute("SELECT pg_advisory_lock(\(key + 1))")
    try body()
    _ = try connection.execute("SELECT pg_advisory_unlock(\(key + 1))")
  }

  private static func holder(_ connection: PostgreSQLConnection) throws(DatabaseError) -> String? {
    let row = try connection.execute(
      """
      SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
      WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND classid = \(key >> 32) AND objid = \(key & 0xFFFF_FFFF)
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      """)
    return row.first ?? nil
  }
}
