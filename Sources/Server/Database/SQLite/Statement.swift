import CSQLite

/// One prepared statement, confined to its connection's thread.
@usableFromInline
final class Statement {
  @usableFromInline let handle: OpaquePointer
  let sql: StaticString
  let parameterCount: Int
  /// SQLite's index of `$1`, `$2`…; nil when they appear in ascending order, as nearly always. SQLite takes `$1` for a
  /// name and numbers names by first appearance, PostgreSQL goes by the number.
  private let indexes: [Int32]?
  /// Set while rows are being read, so that the same SQL inside its own row closure gets a statement of its own.
  var isTaken = false
  var scratchMark = 0

  init(_ sql: StaticString, on database: OpaquePointer) throws(DatabaseError) {
    self.sql = sql
    handle = try Self.prepare(sql, on: database)
    parameterCount = Int(sqlite3_bind_parameter_count(handle))
    do throws(DatabaseError) {
      indexes = try Self.indexes(of: handle, count: parameterCount, sql)
    } catch {
      sqlite3_finalize(handle)
      throw error
    }
  }

  deinit { sqlite3_finalize(handle) }

  /// `number` counts from 1. Past the last parameter the answer is past SQLite's last too; `SQLBinder.check` reports it.
  func index(ofParameter number: Int) -> Int32 {
    guard let indexes, number <= indexes.count else { return Int32(truncatingIfNeeded: number) }
    return indexes[number - 1]
  }

  private static func prepare(_ sql: StaticString, on database: OpaquePointer) throws(DatabaseError) -> OpaquePointer {
    var handle: OpaquePointer?
    var tail: UnsafePointer<CChar>?
    let start = UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
    let length = Int32(sql.utf8CodeUnitCount)
    let result = sqlite3_prepare_v3(database, start, length, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, &tail)
    guard result == SQLITE_OK else { throw .sqlite(result, on: database, in: sql.description) }
    guard let handle else { throw .misuse(message: "no statement in \"\(sql)\"") }
    if let tail, tail < start + Int(length),
      UnsafeBufferPointer(start: tail, count: start + Int(length) - tail)
        .contains(where: { $0 > 32 })
    {
      sqlite3_finalize(handle)
      throw .misuse(message: "more than one statement in \(sql)")
    }
    return handle
  }

  private static func indexes(of handle: OpaquePointer, count: Int, _ sql: StaticString) throws(DatabaseError)
    -> [Int32]?
  {
    var indexes = [Int32](repeating: 0, count: count)
    for index in 0..<count {
      let name = sqlite3_bind_parameter_name(handle, Int32(index + 1)).map { String(cString: $0) } ?? "?"
      guard name.utf8.first == UInt8(ascii: "$"), let number = Int(name.dropFirst()), 1...count ~= number else {
        throw .misuse(message: "parameters are $1 to $n without gaps, not \(name), in \(sql)")
      }
      indexes[number - 1] = Int32(index + 1)
    }
    return indexes == (0..<count).map { Int32($0 + 1) } ? nil : indexes
  }
}
