// Which rows a statement reads or writes, as far as its text tells. What it does not tell counts as everything.
extension PostgreSQLText {
  /// A question for the rows of one table.
  struct Reading: Equatable {
    let table: String
    /// If it is for one row by its key: the columns that are compared with `$1`, `$2`….
    let key: [String]?
  }

  /// A statement that writes to one table.
  struct Writing: Equatable {
    let table: String
    /// Of an INSERT: the columns that get `$1`, `$2`… in this order, and perhaps others behind them.
    let columns: [String]?

    /// How many of its first values are the key by which `reading` asks; nil if it may concern any row.
    func keyCount(for reading: Reading) -> Int? {
      guard let key = reading.key, let columns, columns.starts(with: key) else { return nil }
      return key.count
    }
  }

  /// `SELECT … FROM table WHERE a = $1 AND b = $2`; nil if there is a join, another SELECT or anything else about it.
  static func reading(_ sql: String) -> Reading? {
    let words = words(of: sql)
    guard words.first == "SELECT", words.filter({ $0 == "SELECT" }).count == 1, !words.contains("JOIN"),
      let from = words.firstIndex(of: "FROM"), words.count > from + 1
    else { return nil }
    let table = words[from + 1]
    guard words.count > from + 2 else { return Reading(table: table, key: nil) }
    guard words[from + 2] == "WHERE" else { return words[from + 2] == "," ? nil : Reading(table: table, key: nil) }
    var key: [String] = []
    var rest = words[(from + 3)...]
    while rest.count >= 3, rest[rest.startIndex + 1] == "=", rest[rest.startIndex + 2] == "$\(key.count + 1)" {
      key.append(rest[rest.startIndex])
      rest = rest.dropFirst(3)
      if rest.first == "AND" { rest = rest.dropFirst() } else { break }
    }
    return Reading(table: table, key: rest.isEmpty && !key.isEmpty ? key : nil)
  }

  static func writing(_ sql: String) -> Writing? {
    let words = words(of: sql)
    switch words.first {
    case "UPDATE" where words.count > 1: return Writing(table: words[1], columns: nil)
    case "DELETE" where words.count > 2: return Writing(table: words[2], columns: nil)
    case "INSERT" where words.count > 4 && words[3] == "(":
      let columns = words[4...].prefix { $0 != ")" }.filter { $0 != "," }
      // Behind the columns: VALUES ($1, or SELECT $1,.
      var values = words[(4 + 2 * columns.count)...].dropFirst()
      if values.first == "(" { values = values.dropFirst() }
      let parameters = values.split(separator: ",").prefix(columns.count).enumerated().prefix { index, value in
        value.first == "$\(index + 1)" && [nil, ")", "WHERE"].contains(value.dropFirst().first)
      }
      return Writing(table: words[2], columns: Array(columns.prefix(parameters.count)))
    default: return nil
    }
  }

  /// Words, and signs one by one.
  private static func words(of sql: String) -> [String] {
    var words: [String] = []
    var word = ""
    for character in sql {
      if character.isLetter || character.isNumber || character == "_" || character == "$" || character == "." {
        word.append(character)
        continue
      }
      if !word.isEmpty { words.append(word) }
      word = ""
      if !character.isWhitespace { words.append(String(character)) }
    }
    return word.isEmpty ? words : words + [word]
  }
}
