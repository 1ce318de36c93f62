import CPostgreSQL

/// Answers to what the jobs of a batch will ask: their questions go to the server together, with the batch's BEGIN.
///
/// An answer is forgotten when the batch writes to the rows that it is of. If it is of one row by its key, those are an INSERT with that key and
/// any UPDATE or DELETE of the table; otherwise they are whatever writes to the table.
struct PostgreSQLAnswers {
  private enum Answer {
    case awaited
    case known(OpaquePointer)
  }

  /// The answers to one literal, by the values of the question.
  private struct Group {
    let reading: PostgreSQLText.Reading
    var answers: [[UInt8]: Answer] = [:]
  }

  /// By the literal's address.
  private var groups: [UnsafeRawPointer: Group] = [:]
  /// Questions under way.
  private(set) var awaited = 0

  /// A question is to be sent. False if that is of no use.
  mutating func ask(_ statement: PostgreSQLStatement) -> Bool {
    guard let reading = statement.text.reading else { return false }
    let key = statement.key(of: statement.types.count)
    guard groups[statement.address]?.answers[key] == nil else { return false }
    groups[statement.address, default: Group(reading: reading)].answers[key] = .awaited
    awaited += 1
    return true
  }

  /// Takes the result over if the question was not forgotten meanwhile. Without rows it is the batch's failure.
  mutating func answer(_ address: UnsafeRawPointer, _ key: [UInt8], with result: OpaquePointer) {
    awaited -= 1
    guard PQresultStatus(result) == PGRES_TUPLES_OK, case .awaited = groups[address]?.answers[key] else {
      return PQclear(result)
    }
    groups[address]?.answers[key] = .known(result)
  }

  func has(_ statement: PostgreSQLStatement) -> Bool {
    groups.isEmpty ? false : groups[statement.address]?.answers[statement.key(of: statement.types.count)] != nil
  }

  /// The result, which is the caller's from now on.
  mutating func take(_ statement: PostgreSQLStatement) -> OpaquePointer? {
    guard
      case .known(let result) = groups[statement.address]?.answers.removeValue(forKey: statement.key(of: statement.types.count))
    else { return nil }
    return result
  }

  /// The batch writes.
  mutating func forget(_ statement: PostgreSQLStatement) {
    guard !groups.isEmpty, let writing = statement.text.writing else { return removeAll() }
    for (address, group) in groups where group.reading.table == writing.table {
      if let count = writing.keyCount(for: group.reading) {
        if let answer = groups[address]?.answers.removeValue(forKey: statement.key(of: count)) { Self.clear(answer) }
      } else {
        group.answers.values.forEach(Self.clear)
        groups[address] = nil
      }
    }
  }

  /// Keeps count of what is under way.
  mutating func removeAll() {
    for group in groups.values { group.answers.values.forEach(Self.clear) }
    groups = [:]
  }

  /// The connection is lost.
  mutating func removeAwaited() {
    removeAll()
    awaited = 0
  }

  private static func clear(_ answer: Answer) { if case .known(let result) = answer { PQclear(result) } }
}
