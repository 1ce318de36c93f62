import CPostgreSQL

// Statements: taken, queued or asked, answered. What is sent together is decided here, and nowhere else.
extension PostgreSQLConnection {
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
    if statement.result == nil { statement.take(try ask(statement)) }
    return statement.advance()
  }

  /// Runs a statement without rows; the number of rows changed.
  func run(_ statement: PostgreSQLStatement) throws(DatabaseError) -> Int {
    let result = try ask(statement)
    statement.take(result)
    guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw Self.hasRows(statement) }
    return PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
  }

  /// Runs a statement without rows whose answer nobody looks at. If it fails, the next `ask` or the commit throws that.
  func queue(_ statement: PostgreSQLStatement) throws(DatabaseError) {
    try checkTransaction(for: statement)
    guard !statement.text.isReading else { throw Self.hasRows(statement) }
    hasWritten = true
    answers.forget(statement)
    statement.isQueued = true
    pipeline.queue(statement)
    guard pipeline.isFull else { return }
    saveIfNeeded()
    PQclear(try exchange())
  }

  private static func hasRows(_ statement: PostgreSQLStatement) -> DatabaseError {
    .misuse(message: "execute of a statement with rows: \(statement.sql)")
  }

  /// Sends all that is queued, and this statement, and waits for the answers.
  func ask(_ statement: PostgreSQLStatement) throws(DatabaseError) -> OpaquePointer {
    try checkTransaction(for: statement)
    if let answer = try foreseen(statement) { return answer }
    if !statement.text.isReading {
      hasWritten = true
      answers.forget(statement)
    }
    if !statement.text.isReading || !pipeline.queued.isEmpty { saveIfNeeded() }
    let isFirstRead = beginning == .reading
    do throws(DatabaseError) {
      return try exchange(sending: statement)
    } catch .unavailable(let message) {
      // The connection was lost since it was last used: the transaction has not read anything yet. A batch is the writer's to repeat.
      guard isFirstRead else { throw .unavailable(message: message) }
      try beginReading()
      return try exchange(sending: statement)
    }
  }

  /// Sends what a job of the batch will ask. `ask` finds the answer.
  func foresee(_ statement: PostgreSQLStatement) throws(DatabaseError) {
    guard answers.ask(statement) else { return }
    try send(statement, as: .question(statement.sql, key: statement.key(of: statement.types.count)))
  }

  private func foreseen(_ statement: PostgreSQLStatement) throws(DatabaseError) -> OpaquePointer? {
    guard answers.has(statement) else { return nil }
    if answers.awaited > 0 {
      if !pipeline.queued.isEmpty { saveIfNeeded() }
      PQclear(try exchange())
    }
    return answers.take(statement)
  }

  private func checkTransaction(for statement: PostgreSQLStatement) throws(DatabaseError) {
    // A lost connection is not made anew here: what the transaction did before would be missing.
    guard isConnected else { throw lost(statement.sql.description) }
    if !isOpen { pipeline.failure = nil }
    if let failure = pipeline.failure { throw failure.error }
  }

  /// Before statements of a job are sent while it goes on, and may still throw.
  private func saveIfNeeded() {
    guard part.isOpen, !part.isSaved, let savepoint = try? take(Self.savepoint) else { return }
    savepoint.isQueued = true
    pipeline.queueFirst(savepoint)
    part.save()
  }

  // MARK: Sending

  /// Hands to libpq what is queued: it sends by itself when it has eight kilobytes, and the rest with the next exchange.
  func sendQueued() throws(DatabaseError) {
    let statements = pipeline.takeQueued()
    defer { for statement in statements { release(statement) } }
    for statement in statements { try send(statement) }
  }

  /// Forgets what is queued.
  func dropQueued() {
    for statement in pipeline.takeQueued() { release(statement) }
  }

  private func release(_ statement: PostgreSQLStatement) {
    statement.isQueued = false
    statement.end()
  }

  func send(_ sql: StaticString) throws(DatabaseError) {
    let statement = try take(sql)
    defer { statement.end() }
    try send(statement)
  }

  func send(_ statement: PostgreSQLStatement, as message: PostgreSQLPipeline.Unanswered? = nil) throws(DatabaseError) {
    guard isConnected else { throw lost(statement.sql.description) }
    try sendBeginning()
    if PQpipelineStatus(handle) == PQ_PIPELINE_OFF { PQenterPipelineMode(handle) }
    let count = Int32(statement.types.count)
    let name = try name(of: statement)
    let isSent = statement.withValues { values, lengths, formats in
      if let name { return PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1) }
      let types = statement.types.map(\.postgreSQLType)
      return withText(statement.sql) { PQsendQueryParams(handle, $0, count, types, values, lengths, formats, 1) }
    }
    guard isSent == 1 else { throw lost(statement.sql.description) }
    pipeline.sent(message ?? .statement(statement.sql, part: part.number))
  }

  /// The name under which the server has the statement with these types of parameters; nil for one that is planned with its values.
  private func name(of statement: PostgreSQLStatement) throws(DatabaseError) -> String? {
    if statement.text.isPlannedWithValues { return nil }
    if let name = statement.names.name(for: statement.types, on: connections) { return name }
    names += 1
    let name = "s\(names)"
    let types = statement.types.map(\.postgreSQLType)
    guard withText(statement.sql, { PQsendPrepare(handle, name, $0, Int32(types.count), types) }) == 1 else {
      throw lost(statement.sql.description)
    }
    statement.names.add(name, for: statement.types)
    pipeline.sent(.prepare(statement.names, name: name, statement.sql, part: part.number))
    return name
  }

  private func withText<Result>(_ sql: StaticString, _ body: (UnsafePointer<CChar>) -> Result) -> Result {
    // A literal ends with a zero byte.
    body(UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self))
  }

  // MARK: Answers

  private func exchange(sending statement: PostgreSQLStatement) throws(DatabaseError) -> OpaquePointer {
    try sendQueued()
    try send(statement)
    guard let result = try exchange() else { throw lost(statement.sql.description) }
    return result
  }

  /// One way to the server and back: sends all that is queued and waits for all answers. Returns the one to the last statement, nil if there
  /// was none.
  func exchange() throws(DatabaseError) -> OpaquePointer? {
    try sendQueued()
    guard !pipeline.unanswered.isEmpty else { return nil }
    guard PQpipelineSync(handle) == 1 else { throw lost("a batch") }
    pipeline.sent(.sync)
    exchanges += 1
    return try awaitAnswers()
  }

  private func awaitAnswers() throws(DatabaseError) -> OpaquePointer? {
    var last: OpaquePointer?
    for message in pipeline.takeUnanswered() {
      guard let result = PQgetResult(handle), isConnected else {
        PQclear(last)
        throw lost("a batch")
      }
      if case .sync = message {
        PQclear(result)
        continue
      }
      while isConnected, let more = PQgetResult(handle) { PQclear(more) }
      note(result, of: message)
      if case .question(let sql, let key) = message {
        answers.answer(UnsafeRawPointer(sql.utf8Start), key, with: result)
        continue
      }
      PQclear(last)
      last = result
    }
    guard let failure = pipeline.failure else { return last }
    PQclear(last)
    throw failure.error
  }

  /// Keeps the first failure.
  private func note(_ result: OpaquePointer, of message: PostgreSQLPipeline.Unanswered) {
    let status = PQresultStatus(result)
    guard status != PGRES_TUPLES_OK, status != PGRES_COMMAND_OK else { return }
    if case .prepare(let names, let name, _, _) = message { names.remove(name) }
    guard pipeline.failure == nil, status != PGRES_PIPELINE_ABORTED else { return }
    switch message {
    case .prepare(_, _, let sql, let part):
      var error = DatabaseError.postgreSQL(result, in: sql.description)
      if case .misuse(let message) = error, message.contains("multiple commands") {
        error = .misuse(message: "more than one statement in \(sql)")
      }
      pipeline.failure = .init(error: error, part: part)
    case .statement(let sql, let part):
      pipeline.failure = .init(error: .postgreSQL(result, in: sql.description), part: part)
    case .head(let sql):
      let isMoved = PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } == Self.headIsMoved
      pipeline.failure = .init(error: .postgreSQL(result, in: sql.description), part: 0, head: isMoved ? .hasMoved : .isHeld)
    case .question(let sql, _): pipeline.failure = .init(error: .postgreSQL(result, in: sql.description), part: 0)
    case .sync: break
    }
  }
}
