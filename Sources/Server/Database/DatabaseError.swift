/// Everything that can go wrong between a caller and its rows. `description` names the path or the statement and the reason.
@usableFromInline package enum DatabaseError: Error, Equatable, Sendable {
  /// What kind of rule a statement broke.
  @usableFromInline package enum Constraint: Equatable, Sendable {
    case unique, notNull, check, foreignKey, dataType, other
  }

  /// The file or its folder cannot be used at all.
  case unusable(path: String, reason: String)
  /// Another process has the database open; `processID` is what its lock file says, nil when unreadable.
  case locked(path: String, processID: Int32?)
  /// Another server writes to the PostgreSQL database; `holder` is what it calls itself, nil if that cannot be seen.
  case occupied(name: String, holder: String?)
  /// Another node has the same name.
  case sameNode(String)
  /// This node differs from another in terms that all must have alike.
  case disagreement(with: String, terms: [String])
  /// The work of this node's lease is another's by now: this one was stopped for too long.
  case displaced(lease: String)
  /// The database was migrated by a newer program.
  case newer(path: String, version: Int, supported: Int)
  /// A migration could not be applied, or the applied ones are not the ones this program knows. The old version stands.
  case migration(version: Int, name: String, reason: String)
  /// A statement broke a rule of its table. Nothing of that statement is kept.
  case constraint(Constraint, message: String)
  /// Another process holds a lock for longer than the busy timeout, or the server ended a statement that took too long.
  case busy(message: String)
  /// The disk, or the database, is full.
  case full(message: String)
  /// The file is not a sound database.
  case corrupt(message: String)
  /// The operating system refused to read or write, or an earlier error has ended the transaction.
  case io(message: String)
  /// PostgreSQL cannot be reached, or the connection was lost. A commit may be durable all the same.
  case unavailable(message: String)
  /// A mistake in the program: SQL that does not compile, a wrong number of parameters, a write in a read.
  case misuse(message: String)
  /// The queue of waiting jobs is at its limit; the job was not taken.
  case overloaded
  /// `close()` was called before the job was queued.
  case closed

  /// Whether the same call may succeed a moment later with nothing repaired.
  package var isTransient: Bool {
    switch self {
    case .busy, .overloaded, .locked, .unavailable, .occupied: true
    default: false
    }
  }
}

extension DatabaseError: CustomStringConvertible {
  @usableFromInline package var description: String {
    switch self {
    case .unusable(let path, let reason): "cannot use the database \(path): \(reason)"
    case .locked(let path, let processID):
      "the database \(path) is in use by another process"
        + (processID.map { " (process \($0))" } ?? "") + ", which holds the lock \(LockFile.path(for: path))"
    case .occupied(let name, let holder):
      "the database \(name) is in use by another server" + (holder.map { " (\($0))" } ?? "")
        + "; stop that one first, or give each of them cluster.bind"
    case .sameNode(let name):
      "another node has the name \(name); give each node a cluster.node of its own, or stop the other one"
    case .disagreement(let node, let terms):
      "this node differs from \(node), which runs, in \(terms.joined(separator: ", ")); all nodes need the same. "
        + "For a key, copy the file from the data_dir of \(node). To change a setting, stop all nodes first"
    case .displaced(let lease): "another node has the lease \(lease) by now"
    case .newer(let path, let version, let supported):
      "the database \(path) has schema version \(version), this program knows versions up to \(supported): "
        + "start the newer program, or restore an older copy"
    case .migration(let version, let name, let reason): "migration \(version) (\(name)): \(reason)"
    case .constraint(_, let message): message
    case .busy(let message), .full(let message), .corrupt(let message), .io(let message), .misuse(let message),
      .unavailable(let message):
      message
    case .overloaded: "the database has too many waiting jobs"
    case .closed: "the database is closed"
    }
  }
}
