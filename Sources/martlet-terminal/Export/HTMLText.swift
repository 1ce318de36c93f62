/// Text in a page: nothing of it is markup, in an element as in an attribute in quotes.
enum HTMLText {
  static func escaped(_ text: String) -> String {
    var result = ""
    result.reserveCapacity(text.utf8.count)
    for scalar in HarmlessText.lines(text).unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The first so many characters, in one line.
  static func excerpt(_ text: String, limit: Int = 140) -> String {
    let line = HarmlessText.lines(String(text.prefix(limit + 1))).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return escaped(line.count > limit ? line.prefix(limit) + "…" : line)
  }
}
