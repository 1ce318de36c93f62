/// Text in a page: nothing of it is markup, in an element as in an attribute in quotes.
package enum HTMLText {
  package static func escaped(_ text: String) -> String {
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

  /// The beginning of a text, in one line.
  /// - Parameter limit: Unicode scalars.
  static func excerpt(_ text: String, limit: Int = 140) -> String {
    var line = String.UnicodeScalarView()
    var count = 0
    for scalar in HarmlessText.lines(text).unicodeScalars {
      let isSpace = scalar == " " || scalar == "\n" || scalar == "\t"
      if isSpace, line.last ?? " " == " " { continue }
      guard count < limit else {
        line.append("…")
        break
      }
      line.append(isSpace ? " " : scalar)
      count += 1
    }
    return escaped(String(line))
  }
}
