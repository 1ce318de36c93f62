import CPostgreSQL
import Glibc

/// One connection to a PostgreSQL server with the statements that the server has prepared for it. A connection that is lost is made anew when
/// the next transaction begins. Every wait for the server blocks the thread.
@usableFromInline
final class PostgreSQLConnection {
  let address: PostgreSQLAddress
  private let role: Connection.Role
  private let waitsForDisk: Bool
  /// Whether other servers may write to the database.
  private let isNode: Bool
  /// libpq's connection; nil behind `close`.
  private(set) var handle: OpaquePointer?
  /// Keyed by the literal's address: no text is hashed on the hot path.
  private var statements: [UnsafeRawPointer: PostgreSQLStatement] = [:]
  private var names = 0
  /// Counts the connections: each has statements of its own.
  private var connections = 0
  /// A transaction for reading has begun, and the server has not heard of it yet.
  var beginsWithNext = false
  var part = PostgreSQLPart()
  /// How many commits wrote something, as of the last `beginBatch`.
  var batch: Int64 = 0
  /// Whether the transaction may have written.
  var hasWritten = false

  /// Throws `.unavailable` if the server cannot be reached, `.unusable` for a database that Martlet cannot use, and for a writer `.occupied`
  /// while another server writes to it.
  init(_ address: PostgreSQLAddress, _ configuration: DatabaseConfiguration, as role: Connection.Role) throws(DatabaseError) {
    self.address = address
    self.role = role
    waitsForDisk = configuration.synchronous == .full
    isNode = configuration.node != nil
    try connect()
  }

  deinit { close() }

  func close() {
    PQfinish(handle)
    handle = nil
    beginsWithNext = false
  }

  // MARK: Connecting

  private var isConnected: Bool { handle != nil && PQstatus(handle) == CONNECTION_OK }

  /// Before a transaction.
  func connectAgain() throws(DatabaseError) {
    if !isConnected { try connect() }
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
      if role == .writer { try PostgreSQLNodeLock.take(on: self, isShared: isNode) }
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

  // MARK: Statements

  func take(_ sql: StaticString) throws(DatabaseError) -> PostgreSQLStatement {
    precondition(sql.hasPointerRepresentation, "SQL is longer than one character")
    let key = UnsafeRawPointer(sql.utf8Start)
    let statement: PostgreSQLStatement
    if let kept = statements[key] {
      statement = kept.isTaken ? PostgreSQLStatement(beside: kept) : kept
    } else {
      statement = try PostgreSQLStatement(sql)
      statements[key] = statement
    }
    statement.begin()
    return statement
  }

  /// True when there is a row.
  func step(_ statement: PostgreSQLStatement) throws(DatabaseError) -> Bool {
    if statement.result == nil { statement.take(try run(statement)) }
    return statement.advance()
  }

  /// Runs a statement without rows; the number of rows changed.
  func run(_ statement: PostgreSQLStatement) throws(DatabaseError) -> Int {
    let result = try run(statement) as OpaquePointer
    statement.take(result)
    guard PQresultStatus(result) == PGRES_COMMAND_OK else {
      throw .misuse(message: "execute of a statement with rows: \(statement.sql)")
    }
    return PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
  }

  private func run(_ statement: PostgreSQLStatement) throws(DatabaseError) -> OpaquePointer {
    // A lost connection is not made anew here: what the transaction did before would be missing.
    guard isConnected else { throw lost(statement.sql.description) }
    if !statement.text.isReading {
      hasWritten = true
      if let savepoint = part.savepointBeforeWriting() { _ = try execute(savepoint) }
    }
    guard beginsWithNext else {
      return try checked(runAlone(statement, try name(of: statement)), in: statement.sql.description)
    }
    do throws(DatabaseError) {
      return try runBehindBegin(statement)
    } catch .unavailable {
      // The connection was lost since it was last used. The transaction has not read anything yet.
      try connect()
      beginsWithNext = true
      return try runBehindBegin(statement)
    }
  }

  private func runBehindBegin(_ statement: PostgreSQLStatement) throws(DatabaseError) -> OpaquePointer {
    try checked(runBehindBegin(statement, try name(of: statement)), in: statement.sql.description)
  }

  private func runAlone(_ statement: PostgreSQLStatement, _ name: String?) -> OpaquePointer? {
    let count = Int32(statement.types.count)
    return statement.withValues { values, lengths, formats in
      if let name { return PQexecPrepared(handle, name, count, values, lengths, formats, 1) }
      let types = statement.types.map(\.postgreSQLType)
      return withText(statement.sql) { PQexecParams(handle, $0, count, types, values, lengths, formats, 1) }
    }
  }

  /// The first statement of a reading transaction: one way to the server for both.
  private func runBehindBegin(_ statement: PostgreSQLStatement, _ name: String?) -> OpaquePointer? {
    beginsWithNext = false
    let count = Int32(statement.types.count)
    guard PQenterPipelineMode(handle) == 1 else { return nil }
    var isSent = PQsendQueryParams(handle, Self.beginReading, 0, nil, nil, nil, nil, 0) == 1
    isSent =
      statement.withValues { values, lengths, formats in
        if let name { return PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1) }
        let types = statement.types.map(\.postgreSQLType)
        return withText(statement.sql) { PQsendQueryParams(handle, $0, count, types, values, lengths, formats, 1) }
      } == 1 && isSent
    isSent = PQpipelineSync(handle) == 1 && isSent
    var results: [OpaquePointer] = []
    var isAtEnd = !isSent
    while !isAtEnd {
      guard let result = PQgetResult(handle) else {
        isAtEnd = PQstatus(handle) != CONNECTION_OK
        continue
      }
      isAtEnd = PQresultStatus(result) == PGRES_PIPELINE_SYNC
      if isAtEnd { PQclear(result) } else { results.append(result) }
    }
    _ = PQexitPipelineMode(handle)
    // The one of the statement, or the first that failed.
    let chosen = results.firstIndex { PQresultStatus($0) == PGRES_FATAL_ERROR } ?? (results.count > 1 ? 1 : nil)
    for (index, result) in results.enumerated() where index != chosen { PQclear(result) }
    return chosen.map { results[$0] }
  }

  /// The name under which the server has the statement with these types of parameters; nil for one that is planned with its values.
  private func name(of statement: PostgreSQLStatement) throws(DatabaseError) -> String? {
    if statement.text.isPlannedWithValues { return nil }
    let known = statement.names
    if known.connection != connections { (known.connection, known.name, known.others) = (connections, "", []) }
    if !known.name.isEmpty, known.types == statement.types { return known.name }
    if let other = known.others.first(where: { $0.types == statement.types }) { return other.name }
    names += 1
    let name = "s\(names)"
    let types = statement.types.map(\.postgreSQLType)
    let result = withText(statement.sql) { PQprepare(handle, name, $0, Int32(types.count), types) }
    do throws(DatabaseError) {
      PQclear(try checked(result, in: statement.sql.description))
    } catch {
      if case .misuse(let message) = error, message.contains("multiple commands") {
        throw .misuse(message: "more than one statement in \(statement.sql)")
      }
      throw error
    }
    if known.name.isEmpty {
      (known.types, known.name) = (statement.types, name)
    } else {
      known.others.append((statement.types, name))
    }
    return name
  }

  private func withText<Result>(_ sql: StaticString, _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    // A literal ends with a zero byte.
    body(UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self))
  }

  // MARK: Plain SQL

  /// Runs SQL that is not worth keeping prepared: several statements may stand in it, separated by semicolons. Returns the columns of the last
  /// statement's first row as text; none if there is no row.
  func execute(_ sql: String) throws(DatabaseError) -> [String?] {
    guard isConnected else { throw lost(sql) }
    let result = try checked(PQexec(handle, sql), in: sql)
    defer { PQclear(result) }
    guard PQntuples(result) > 0 else { return [] }
    return (0..<PQnfields(result)).map { column in
      PQgetisnull(result, 0, column) != 0 ? nil : String(cString: PQgetvalue(result, 0, column))
    }
  }

  /// As `execute`; returns what the server says that it did, such as `COMMIT`.
  func command(_ sql: String) throws(DatabaseError) -> String {
    guard isConnected else { throw lost(sql) }
    let result = try checked(PQexec(handle, sql), in: sql)
    defer { PQclear(result) }
    return PQcmdStatus(result).map { String(cString: $0) } ?? ""
  }

  /// Begins a COPY to or from the server: `libpq`'s functions for its data follow, and `endCopy`.
  func beginCopy(_ sql: String, _ status: ExecStatusType) throws(DatabaseError) {
    guard isConnected else { throw lost(sql) }
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
