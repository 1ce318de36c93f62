import CPostgreSQL
import Glibc

/// One execution of a statement: its values, then its rows. Confined to its connection's thread.
///
/// The server has the prepared statement, by a name; nested executions of one literal share it.
@usableFromInline
final class PostgreSQLStatement {
  /// The names under which the server has the literal: one for each list of parameter types, nearly always one.
  final class Names {
    /// Of which connection.
    private var connection = 0
    private var known: [(types: [SQLType], name: String)] = []

    func name(for types: [SQLType], on connection: Int) -> String? {
      if self.connection != connection { (self.connection, known) = (connection, []) }
      return known.first { $0.types == types }?.name
    }

    func add(_ name: String, for types: [SQLType]) { known.append((types, name)) }

    /// The server did not take it.
    func remove(_ name: String) { known.removeAll { $0.name == name } }
  }

  let sql: StaticString
  let text: PostgreSQLText
  let names: Names
  /// Set while rows are being read, so that the same SQL inside its own row closure gets an execution of its own.
  var isTaken = false
  /// Set while it waits to be sent, with its values: then it is not given back yet.
  var isQueued = false

  private(set) var types: [SQLType] = []
  /// All values one behind the other; never empty, so that an empty value has an address too.
  private var bytes: [UInt8] = [0]
  /// Where each value begins; -1 for NULL.
  private var starts: [Int] = []
  private var lengths: [Int32] = []
  private var bindingError: DatabaseError?

  private(set) var result: OpaquePointer?
  private var row: Int32 = -1

  init(_ sql: StaticString) throws(DatabaseError) {
    self.sql = sql
    text = try PostgreSQLText(sql)
    names = Names()
  }

  /// Another execution of the same literal.
  init(beside other: PostgreSQLStatement) {
    (sql, text, names) = (other.sql, other.text, other.names)
  }

  deinit { PQclear(result) }

  var parameterCount: Int { text.parameterCount }
  /// Of the literal.
  var address: UnsafeRawPointer { UnsafeRawPointer(sql.utf8Start) }
  /// Of the values.
  var byteCount: Int { bytes.count }

  func begin() {
    isTaken = true
    bindingError = nil
    types.removeAll(keepingCapacity: true)
    starts.removeAll(keepingCapacity: true)
    lengths.removeAll(keepingCapacity: true)
    bytes.removeSubrange(1...)
  }

  /// Frees the rows, and itself for the next execution unless it still has to be sent.
  func end() {
    guard !isQueued else { return }
    PQclear(result)
    result = nil
    row = -1
    isTaken = false
  }

  // MARK: Rows

  /// The result of the execution; the row before the first is the current one.
  func take(_ result: OpaquePointer) {
    self.result = result
    row = -1
  }

  /// False behind the last row.
  func advance() -> Bool {
    row += 1
    return row < PQntuples(result)
  }

  var currentRow: Row {
    guard let result else { preconditionFailure("a row before the statement has run: \(sql)") }
    return .postgreSQL(result, number: row)
  }

  // MARK: Values

  func bindNull(_ type: SQLType) {
    types.append(type)
    starts.append(-1)
    lengths.append(0)
  }

  func bind(_ value: Int64) { withUnsafeBytes(of: value.bigEndian) { add($0, .integer) } }

  func bindBlob(_ value: UnsafeRawBufferPointer) { add(value, .blob) }

  /// PostgreSQL refuses text that is not UTF-8 or has U+0000, and the transaction with it: so it is not asked.
  func bindText(_ value: UnsafeRawBufferPointer) {
    if !Self.isStorable(value) {
      bindingError = .constraint(.dataType, message: "text with U+0000, or that is not UTF-8, in \(sql)")
    }
    add(value, .text)
  }

  /// The first values, one behind the other with their lengths.
  func key(of count: Int) -> [UInt8] {
    var key: [UInt8] = []
    for index in 0..<min(count, starts.count) {
      let start = starts[index]
      withUnsafeBytes(of: start < 0 ? -1 : lengths[index]) { key.append(contentsOf: $0) }
      if start >= 0 { key.append(contentsOf: bytes[start..<start + Int(lengths[index])]) }
    }
    return key
  }

  func checkBinding() throws(DatabaseError) { if let bindingError { throw bindingError } }

  static func isStorable(_ text: UnsafeRawBufferPointer) -> Bool {
    guard let start = text.baseAddress, !text.isEmpty else { return true }
    guard memchr(start, 0, text.count) == nil else { return false }
    if text.allSatisfy({ $0 < 0x80 }) { return true }
    return String(validating: text, as: UTF8.self) != nil
  }

  private func add(_ value: UnsafeRawBufferPointer, _ type: SQLType) {
    types.append(type)
    starts.append(bytes.count)
    lengths.append(Int32(clamping: value.count))
    bytes.append(contentsOf: value)
  }

  /// The values as libpq takes them: addresses (nil for NULL), lengths, and the form of each, which is binary.
  func withValues<Result>(
    _ body: (_ values: [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]) -> Result
  ) -> Result {
    bytes.withUnsafeBytes { bytes in
      let values = starts.map { start in
        start < 0 ? nil : bytes.baseAddress.map { ($0 + start).assumingMemoryBound(to: CChar.self) }
      }
      return body(values, lengths, [Int32](repeating: 1, count: starts.count))
    }
  }
}
