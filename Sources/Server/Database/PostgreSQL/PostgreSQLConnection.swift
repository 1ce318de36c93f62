import CPostgreSQL
import Glibc

/// One connection to a PostgreSQL server with the statements that the server has prepared for it. A connection that is lost is made anew when
/// the next transaction begins. Every wait for the server blocks the thread.
@usableFromInline
final class PostgreSQLConnection {
  let address: PostgreSQLAddress
  private let role: Connection.Role
  private let waitsForDisk: Bool
  /// This server's name among those that may write to the database; nil if it has the database alone.
  private let node: String?
  private let presence: DatabasePresence?
  /// When the server could not be reached first, in nanoseconds; nil if it could.
  private var awaySince: UInt64?
  /// Whether transactions of this connection have their limits.
  private var hasLimits = false
  /// libpq's connection; nil behind `close`.
  private(set) var handle: OpaquePointer?
  /// Keyed by the literal's address: no text is hashed on the hot path.
  var statements: [UnsafeRawPointer: PostgreSQLStatement] = [:]
  var names = 0
  /// Counts the connections: each has statements of its own.
  private(set) var connections = 0
  var pipeline = PostgreSQLPipeline()
  var answers = PostgreSQLAnswers()
  /// Ways to the server and back.
  var exchanges = 0
  /// Whether a transaction is open, or will be with the next statement.
  var isOpen = false
  /// What the server has to hear of the transaction before its first statement.
  var beginning: Beginning?
  var part = PostgreSQLPart()
  /// Whether the transaction may have written.
  var hasWritten = false
  /// Whether this connection has seen where the head is.
  var knowsHead = false

  /// Throws `.unavailable` if the server cannot be reached, `.unusable` for a database that Martlet cannot use, and for a writer `.occupied`
  /// while another server writes to it, `.sameNode` while another node has its name.
  init(_ address: PostgreSQLAddress, _ configuration: DatabaseConfiguration, as role: Connection.Role) throws(DatabaseError) {
    self.address = address
    self.role = role
    waitsForDisk = configuration.synchronous == .full
    node = configuration.node?.name
    presence = configuration.presence
    try connect()
  }

  deinit { close() }

  func close() {
    PQfinish(handle)
    handle = nil
    dropQueued()
    _ = pipeline.takeUnanswered()
    answers.removeAwaited()
    (isOpen, beginning, knowsHead, hasLimits) = (false, nil, false, false)
  }

  // MARK: Connecting

  var isConnected: Bool { handle != nil && PQstatus(handle) == CONNECTION_OK }

  private static let pauseMicroseconds: UInt32 = 50_000

  /// Before a transaction. Waits for a server that has just gone away; who comes later is refused at once, until the server is back.
  func connectAgain() throws(DatabaseError) {
    if hasLimits, isAlive { return }
    while true {
      do throws(DatabaseError) {
        if !isAlive { try connect() }
        try limit()
        break
      } catch .unavailable(let message) {
        let now = MonotonicClock.nanoseconds()
        presence?.noteAway(message)
        let since = awaySince ?? now
        awaySince = since
        guard now - since < DatabasePresence.patienceNanoseconds else { throw .unavailable(message: message) }
        if !isConnected { usleep(Self.pauseMicroseconds) }
      }
    }
    presence?.noteBack()
    awaySince = nil
  }

  /// Whether the server has not ended the connection, as far as can be seen without asking it. Its last words are read first, then the end.
  private var isAlive: Bool { isConnected && PQconsumeInput(handle) == 1 && PQconsumeInput(handle) == 1 && isConnected }

  /// Neither a statement nor a node that has stopped may hold the head's row, or an old state of the rows, for long. Migrations and copies,
  /// which are none of `begin`'s transactions, take the time they need.
  private func limit() throws(DatabaseError) {
    if hasLimits { return }
    _ = try execute(
      role == .writer
        ? "SET idle_in_transaction_session_timeout = '2s'; SET lock_timeout = '5s'; SET statement_timeout = '10s'"
        : "SET idle_in_transaction_session_timeout = '30s'; SET statement_timeout = '10s'")
    hasLimits = true
  }

  func connect() throws(DatabaseError) {
    close()
    connections += 1
    let parameters = address.connectionParameters
    handle = withCStrings(parameters.map(\.name)) { names in
      withCStrings(parameters.map(\.value)) { values in PQconnectdbParams(names, values, 0) }
    }
    guard isConnected else {
      defer { close() }
      throw .unavailable(message: "PostgreSQL at \(address) cannot be reached: \(lastMessage)")
    }
    // Notices are for people at a console.
    PQsetNoticeReceiver(handle, { _, _ in }, nil)
    do throws(DatabaseError) {
      try PostgreSQLServerCheck.check(self)
      if !waitsForDisk { _ = try execute("SET synchronous_commit = off") }
      if role == .writer { try PostgreSQLNodeLock.take(on: self, as: node) }
    } catch {
      close()
      throw error
    }
  }

  /// libpq's, in one line.
  private var lastMessage: String {
    guard let message = PQerrorMessage(handle) else { return "no reason given" }
    return String(cString: message).split { $0.isNewline || $0 == "\t" }.joined(separator: "; ")
  }

  private func withCStrings<Result>(_ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result) -> Result {
    var copies: [UnsafePointer<CChar>?] = texts.map { UnsafePointer(strdup($0)) }
    defer { for copy in copies { free(UnsafeMutablePointer(mutating: copy)) } }
    copies.append(nil)
    return copies.withUnsafeBufferPointer { body($0.baseAddress) }
  }

  // MARK: Plain SQL

  /// Runs SQL that is not worth keeping prepared: several statements may stand in it, separated by semicolons. Returns the columns of the last
  /// statement's first row as text; none if there is no row.
  func execute(_ sql: String) throws(DatabaseError) -> [String?] {
    let result = try runPlain(sql)
    defer { PQclear(result) }
    guard PQntuples(result) > 0 else { return [] }
    return (0..<PQnfields(result)).map { column in
      PQgetisnull(result, 0, column) != 0 ? nil : String(cString: PQgetvalue(result, 0, column))
    }
  }

  /// As `execute`; returns what the server says that it did, such as `COMMIT`.
  func command(_ sql: String) throws(DatabaseError) -> String {
    let result = try runPlain(sql)
    defer { PQclear(result) }
    return PQcmdStatus(result).map { String(cString: $0) } ?? ""
  }

  private func runPlain(_ sql: String) throws(DatabaseError) -> OpaquePointer {
    try leavePipeline(before: sql)
    let result = try checked(PQexec(handle, sql), in: sql)
    isOpen = PQtransactionStatus(handle) != PQTRANS_IDLE
    if Self.undoes(sql) { pipeline.failure = nil }
    return result
  }

  private static func undoes(_ sql: String) -> Bool { sql.hasPrefix("ROLLBACK") }

  /// Sends and awaits what is under way. What is to be undone need not be sent, and that it has failed does not matter.
  private func leavePipeline(before sql: String) throws(DatabaseError) {
    guard isConnected else { throw lost(sql) }
    if Self.undoes(sql) { dropQueued() }
    do throws(DatabaseError) {
      try sendBeginning()
      PQclear(try exchange())
    } catch {
      guard Self.undoes(sql), isConnected else { throw error }
    }
    if PQpipelineStatus(handle) != PQ_PIPELINE_OFF { PQexitPipelineMode(handle) }
  }

  /// Begins a COPY to or from the server: `libpq`'s functions for its data follow, and `endCopy`.
  func beginCopy(_ sql: String, _ status: ExecStatusType) throws(DatabaseError) {
    try leavePipeline(before: sql)
    let result = PQexec(handle, sql)
    defer { PQclear(result) }
    guard PQresultStatus(result) == status else { throw .postgreSQL(result, in: sql) }
  }

  func endCopy(_ sql: String) throws(DatabaseError) {
    var failure: DatabaseError?
    while let result = PQgetResult(handle) {
      if PQresultStatus(result) != PGRES_COMMAND_OK { failure = failure ?? .postgreSQL(result, in: sql) }
      PQclear(result)
    }
    if let failure { throw failure }
  }

  private func checked(_ result: OpaquePointer?, in sql: String) throws(DatabaseError) -> OpaquePointer {
    switch PQresultStatus(result) {
    case PGRES_TUPLES_OK, PGRES_COMMAND_OK: if let result { return result }
    case PGRES_EMPTY_QUERY:
      PQclear(result)
      throw .misuse(message: "no statement in \"\(sql)\"")
    default: break
    }
    defer { PQclear(result) }
    throw isConnected ? .postgreSQL(result, in: sql) : lost(sql)
  }

  func lost(_ sql: String) -> DatabaseError {
    .unavailable(
      message: "the connection to PostgreSQL at \(address) is lost: \(handle == nil ? "closed" : lastMessage), in \(sql)")
  }
}
