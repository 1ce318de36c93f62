import Testing

@testable import Database

@Suite("Statements and values")
struct StatementTests {
  let folder = try! Folder()

  @Test("Every kind of value comes back as it went in", arguments: Engine.present)
  func valuesRoundTrip(engine: Engine) throws {
    let database = try folder.open(on: engine)
    let body = [UInt8](0...255)
    // PostgreSQL has no U+0000 in text.
    let name = engine == .sqlite ? "a\u{0}ü🐦" : "aü🐦"
    let (author, blob, stars) = try database.writeBlocking { transaction in
      try transaction.addNote(by: name, body: body, stars: .max)
      return try #require(
        try transaction.first("SELECT author, body, stars FROM note") { ($0.text(0), $0.blob(1), $0.integer(2)) })
    }
    #expect(Array(author.utf8) == Array(name.utf8))
    #expect(blob == body)
    #expect(stars == .max)
  }

  @Test("NULL, an empty blob and zero are three different things", arguments: Engine.present)
  func nullIsNotEmpty(engine: Engine) throws {
    let database = try folder.open(on: engine)
    try database.writeBlocking { transaction in
      try transaction.addNote(by: "null")
      try transaction.addNote(by: "empty", body: [], stars: 0)
    }
    let rows = try database.readBlocking { transaction in
      try transaction.all("SELECT body, stars FROM note ORDER BY position") {
        ($0.optionalBlob(0), $0.optionalInteger(1), $0.isNull(0), $0.blob(0), $0.integer(1))
      }
    }
    #expect(rows[0].0 == nil && rows[0].1 == nil && rows[0].2 && rows[0].3 == [] && rows[0].4 == 0)
    #expect(rows[1].0 == [] && rows[1].1 == 0 && !rows[1].2)
  }

  @Test("Empty text is text, not NULL", arguments: Engine.present)
  func emptyText(engine: Engine) throws {
    let database = try folder.open(on: engine)
    let texts = try database.writeBlocking { transaction in
      try transaction.addNote(by: "")
      try transaction.addNote(by: "x")
      return try transaction.all("SELECT author FROM note WHERE author = $1", TextBytes([])) { $0.optionalText(0) }
    }
    #expect(texts == [""])
  }

  @Test("Parameters go by their number, in whatever order they appear", arguments: Engine.present)
  func parametersByNumber(engine: Engine) throws {
    let database = try folder.open(on: engine)
    let row = try database.readBlocking { transaction in
      try transaction.first("SELECT $2, $1, $3, $2", "one", "two", Int64(3)) {
        [$0.text(0), $0.text(1), "\($0.integer(2))", $0.text(3)]
      }
    }
    #expect(row == ["two", "one", "3", "two"])
  }

  @Test("Text compares byte by byte: two spellings of one character are two texts", arguments: Engine.present)
  func textComparesBinary(engine: Engine) throws {
    let database = try folder.open(on: engine)
    let found = try database.writeBlocking { transaction in
      try transaction.addNote(by: "caf\u{E9}")
      try transaction.addNote(by: "cafe\u{301}")
      try transaction.addNote(by: "CAF\u{E9}")
      return try transaction.all("SELECT position FROM note WHERE author = $1", TextBytes(Array("cafe\u{301}".utf8))) {
        $0.integer(0)
      }
    }
    #expect(found == [2])
  }

  @Test("A value larger than the scratch memory arrives whole", arguments: [-1, 0, 1], Engine.present)
  func largeValues(difference: Int, engine: Engine) throws {
    let database = try folder.open(on: engine)
    let body = (0..<ScratchBuffer.capacity + difference).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let author = String(repeating: "x", count: 300)
    let stored = try database.writeBlocking { transaction in
      try transaction.addNote(by: author, body: body)
      return try transaction.first("SELECT author, body FROM note") { ($0.text(0), $0.blob(1)) }
    }
    #expect(stored?.0 == author)
    #expect(stored?.1 == body)
  }

  @Test("A row closure may run the same statement again, and others", arguments: Engine.present)
  func statementsNest(engine: Engine) throws {
    let database = try folder.open(on: engine)
    try database.writeBlocking { transaction in
      for name in ["a", "b", "c"] { try transaction.addNote(by: name, stars: 1) }
    }
    let pairs = try database.readBlocking { transaction in try StatementTests.pairs(transaction, depth: 2, atLeast: "a")
    }
    #expect(pairs == ["a", "a", "b", "c", "b", "b", "c", "c", "c"])
  }

  /// The same literal at every depth, with a parameter that lives in scratch memory.
  private static func pairs(_ transaction: ReadTransaction, depth: Int, atLeast author: String) throws -> [String] {
    guard depth > 0 else { return [] }
    var names: [String] = []
    try transaction.query("SELECT author FROM note WHERE author >= $1 ORDER BY author", author) { row in
      let name = row.text(0)
      names.append(name)
      names += try pairs(transaction, depth: depth - 1, atLeast: name)
    }
    return names
  }

  @Test("An upsert tells what it returns, `changes` how many rows it changed", arguments: Engine.present)
  func upsertAndCounts(engine: Engine) throws {
    let database = try folder.open(on: engine)
    try database.writeBlocking { transaction in
      let upsert = { (stars: Int64) in
        try transaction.first(
          """
          INSERT INTO note(position, author, stars) VALUES ($1, 'a', $2)
          ON CONFLICT (author) DO UPDATE SET stars = excluded.stars RETURNING position, stars
          """, transaction.nextPosition(), stars
        ) { [$0.integer(0), $0.integer(1)] }
      }
      #expect(try upsert(5) == [1, 5])
      #expect(try upsert(6) == [1, 6])
      try transaction.addNote(by: "b", stars: 6)
      #expect(try transaction.changes("UPDATE note SET stars = 7 WHERE stars = $1", 6) == 2)
      #expect(try transaction.changes("DELETE FROM note WHERE author = $1", "nobody") == 0)
    }
  }

  @Test("The type of a parameter is the one that its value is bound as, and that of nil is its value's")
  func parameterTypes() throws {
    let database = try folder.open()
    func bound<Value: SQLParameter & Sendable>(_ value: Value) throws -> String? {
      try database.readBlocking { try $0.first("SELECT typeof($1)", value) { $0.text(0) } }
    }
    func name<Value: SQLParameter>(_ type: Value.Type) -> String { "\(type.sqlType)" }
    #expect(try bound(Int64(1)) == name(Int64.self))
    #expect(try bound(1) == name(Int.self))
    #expect(try bound(true) == name(Bool.self))
    #expect(try bound("a") == name(String.self))
    #expect(try bound([UInt8(1)]) == name([UInt8].self))
    #expect(try bound([UInt8(1), 2][1...]) == name(ArraySlice<UInt8>.self))
    #expect(try bound(TextBytes([97])) == name(TextBytes.self))
    #expect(name(Int64?.self) == "integer" && name(String?.self) == "text" && name([UInt8]?.self) == "blob")
  }

  @Test("A sum that is cast is an integer, and NULL, which reads as 0, if there are no rows", arguments: Engine.present)
  func sums(engine: Engine) throws {
    let database = try folder.open(on: engine)
    func sum() throws -> (type: String, value: Int64)? {
      try database.readBlocking { transaction in
        switch engine {
        case .sqlite:
          try transaction.first("SELECT typeof(CAST(SUM(stars) AS BIGINT)), CAST(SUM(stars) AS BIGINT) FROM note") {
            ($0.text(0), $0.integer(1))
          }
        case .postgreSQL:
          try transaction.first("SELECT pg_typeof(CAST(SUM(stars) AS BIGINT))::text, CAST(SUM(stars) AS BIGINT) FROM note") {
            ($0.text(0), $0.integer(1))
          }
        }
      }
    }
    #expect(try sum()?.value == 0)
    try database.writeBlocking { transaction in
      for (index, author) in ["a", "b"].enumerated() { try transaction.addNote(by: author, stars: 1 << 40 + Int64(index)) }
    }
    #expect(try #require(try sum()) == (engine == .sqlite ? "integer" : "bigint", (2 << 40) + 1))
  }

  @Test("A broken rule is told apart by its kind", arguments: Engine.present)
  func constraints(engine: Engine) throws {
    let database = try folder.open(on: engine)
    func kind(_ body: @escaping @Sendable (WriteTransaction) throws -> Void) -> DatabaseError.Constraint? {
      do { try database.writeBlocking(body) } catch DatabaseError.constraint(let kind, _) { return kind } catch {}
      return nil
    }
    try database.writeBlocking { _ = try $0.addNote(by: "a") }
    #expect(kind { try $0.addNote(by: "a") } == .unique)
    #expect(kind { try $0.execute("INSERT INTO note(position, author) VALUES (1, 'b')") } == .unique)
    #expect(kind { try $0.addNote(by: "b", stars: -1) } == .check)
    #expect(kind { try $0.execute("INSERT INTO note(position, author) VALUES (9, NULL)") } == .notNull)
    #expect(kind { try $0.execute("INSERT INTO note(position, author, stars) VALUES (9, 'b', 'x')") } == .dataType)
  }

  @Test("A mistake in the program is misuse, and says where", arguments: Engine.present)
  func misuse(engine: Engine) throws {
    let database = try folder.open(on: engine)
    func message(_ body: @escaping @Sendable (WriteTransaction) throws -> Void) -> String? {
      do { try database.writeBlocking(body) } catch DatabaseError.misuse(let message) { return message } catch {}
      return nil
    }
    #expect(try #require(message { try $0.execute("INSERT INTO nowhere VALUES (1)") }).contains("nowhere"))
    #expect(try #require(message { try $0.execute("DELETE FROM note WHERE author = $1") }).contains("0 values for 1"))
    #expect(try #require(message { try $0.execute("DELETE FROM note", 1) }).contains("1 values for 0"))
    #expect(try #require(message { try $0.execute("DELETE FROM note WHERE author = ?", "a") }).contains("$1"))
    #expect(try #require(message { try $0.execute("DELETE FROM note WHERE author = $2", "a") }).contains("$2"))
    #expect(try #require(message { try $0.execute("DELETE FROM note; DELETE FROM note") }).contains("more than one"))
    #expect(try #require(message { try $0.execute("SELECT 1") }).contains("rows"))
    #expect(try #require(message { try $0.execute("  ") }).contains("no statement"))
  }

  @Test("A read cannot write", arguments: Engine.present)
  func readsAreReadOnly(engine: Engine) throws {
    let database = try folder.open(on: engine)
    #expect(throws: DatabaseError.self) {
      try database.readBlocking { _ = try $0.first("DELETE FROM note RETURNING position") { $0.integer(0) } }
    }
    try database.writeBlocking { _ = try $0.addNote(by: "a") }
    #expect(try database.readBlocking { try $0.authors() } == ["a"])
  }
}
