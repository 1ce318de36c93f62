/// Explains an error of libyaml to somebody who wrote the file: what is wrong, and what was expected in its place.
struct YAMLProblem {
  /// What libyaml says, and what it was reading.
  let problem: String
  /// The place of the problem; both from 1.
  let line: Int
  let column: Int
  /// The place where the thing that libyaml was reading began; nil if it did not say.
  let begin: (line: Int, column: Int)?
  let text: UnsafeBufferPointer<UInt8>

  /// The error with a column and a sentence that says what to write instead. An unusual problem keeps libyaml's words.
  var error: YAMLError {
    if let tab = tabInIndentation {
      return YAMLError(line: line, column: tab, problem: "a tab cannot indent a line; use spaces")
    }
    return YAMLError(line: line, column: column, problem: sentence)
  }

  private var sentence: String {
    switch problem {
    case "mapping values are not allowed in this context": misplacedColon
    case "did not find expected key": misplacedName
    case "could not find expected ':'": "a setting needs a colon and a space behind its name, as in name: value"
    case "found character that cannot start any token":
      "a value cannot begin with \(character.map { "\($0)" } ?? "this character"); put the value into quotes"
    case "did not find expected ',' or ']'":
      "the list that begins\(beginning) needs a comma between its values and ] at its end"
    case "did not find expected ',' or '}'":
      "the mapping that begins\(beginning) needs a comma between its settings and } at its end"
    case "found unexpected end of stream": "the text in quotes that begins\(beginning) does not end"
    case "did not find expected '-' indicator": "expected a line with - at the place of the others, as\(beginning)"
    default: problem
    }
  }

  private var misplacedColon: String {
    if let above = lineAbove, !hasName(above) {
      return "line \(above) needs a colon and a space behind its name, as in name: value"
    }
    if let above = lineAbove, indentation(of: line) > indentation(of: above) {
      return "indented by \(spaces(indentation(of: line))), but line \(above), which has a value, by "
        + "\(indentation(of: above)); indent both by the same number"
    }
    return "only one name and value can stand in a line; put a value that contains a colon into quotes"
  }

  private var misplacedName: String {
    guard let begin else { return problem }
    let found = indentation(of: line)
    guard found != begin.column - 1 else {
      return "expected name: value here; a value in quotes must end in the same line as its setting"
    }
    let outer = "\(begin.column - 1) as in line \(begin.line)"
    guard let above = lineAbove, indentation(of: above) > found else {
      return "indented by \(spaces(found)), expected \(outer)"
    }
    return "indented by \(spaces(found)), expected \(indentation(of: above)) as in line \(above) or \(outer)"
  }

  private var beginning: String { begin.map { " in line \($0.line), column \($0.column)" } ?? " here" }

  // MARK: Lines

  private func spaces(_ count: Int) -> String { "\(count) space\(count == 1 ? "" : "s")" }

  private var character: Character? {
    let rest = SourceLines(text).line(line).dropFirst(column - 1)
    return String(decoding: rest, as: UTF8.self).first
  }

  private func indentation(of line: Int) -> Int { SourceLines(text).line(line).prefix { $0 == UInt8(ascii: " ") }.count }

  /// Whether the line has a colon that ends a name, or is an element of a list.
  private func hasName(_ number: Int) -> Bool {
    let text = SourceLines(text).line(number)
    if text.first(where: { $0 != UInt8(ascii: " ") }) == UInt8(ascii: "-") { return true }
    return text.indices.contains { index in
      text[index] == UInt8(ascii: ":") && (index + 1 == text.endIndex || text[index + 1] == UInt8(ascii: " "))
    }
  }

  /// The nearest line above that is neither empty nor a comment.
  private var lineAbove: Int? {
    stride(from: line - 1, to: 0, by: -1).first { number in
      SourceLines(text).line(number).first { $0 != UInt8(ascii: " ") }.map { $0 != UInt8(ascii: "#") } ?? false
    }
  }

  /// The column of a tab in front of the text of the problem's line; nil if there is none.
  private var tabInIndentation: Int? {
    let blank = SourceLines(text).line(line).prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    return blank.firstIndex(of: UInt8(ascii: "\t")).map { $0 - blank.startIndex + 1 }
  }
}
