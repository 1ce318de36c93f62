/// What the engine knows of a statement's text without asking the server.
struct PostgreSQLText {
  let parameterCount: Int
  /// Whether it cannot write.
  let isReading: Bool
  /// Whether it is planned with its values each time: how a search in full text is best done depends on the words.
  let isPlannedWithValues: Bool
  /// What it reads, if it only reads, and that from one table.
  let reading: Reading?
  /// Where it writes; nil if it may write anywhere.
  let writing: Writing?

  /// Throws `.misuse` if there is no statement, and unless the parameters are `$1` to `$n` without gaps.
  init(_ sql: StaticString) throws(DatabaseError) {
    precondition(sql.hasPointerRepresentation, "SQL is longer than one character")
    let bytes = UnsafeBufferPointer(start: sql.utf8Start, count: sql.utf8CodeUnitCount)
    parameterCount = try Self.countParameters(bytes, sql)
    let firstWord = sql.description.drop { $0.isWhitespace }.prefix(6).uppercased()
    guard !firstWord.isEmpty else { throw .misuse(message: "no statement in \"\(sql)\"") }
    isReading = firstWord == "SELECT"
    isPlannedWithValues = sql.description.contains(" @@ ")
    reading = isReading ? Self.reading(sql.description) : nil
    writing = isReading ? nil : Self.writing(sql.description)
  }

  private static func countParameters(_ bytes: UnsafeBufferPointer<UInt8>, _ sql: StaticString) throws(DatabaseError) -> Int {
    var numbers: Set<Int> = []
    var isQuoted = false
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "'") { isQuoted.toggle() }
      guard !isQuoted else { continue }
      if byte == UInt8(ascii: "?") { throw .misuse(message: "parameters are $1 to $n without gaps, not ?, in \(sql)") }
      guard byte == UInt8(ascii: "$") else { continue }
      let digits = bytes[index...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      index += digits.count
      numbers.insert(Int(String(decoding: digits, as: UTF8.self)) ?? 0)
    }
    if let gap = (1...max(1, numbers.count)).first(where: { !numbers.contains($0) }), !numbers.isEmpty {
      let names = numbers.sorted().map { "$\($0)" }.joined(separator: ", ")
      throw .misuse(message: "parameters are $1 to $n without gaps, but $\(gap) is missing among \(names), in \(sql)")
    }
    return numbers.count
  }
}
