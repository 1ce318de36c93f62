import JSON

/// A pattern for `LIKE … ESCAPE '!'` over text that is in lower case.
package enum SearchPattern {
  /// Matches what has `term` in it, without regard to case; everything, where the term is empty.
  package static func containing(_ term: ByteString) -> String {
    var pattern = "%"
    for scalar in term.string.lowercased().unicodeScalars {
      if scalar == "%" || scalar == "_" || scalar == "!" { pattern.unicodeScalars.append("!") }
      pattern.unicodeScalars.append(scalar)
    }
    return term.isEmpty ? pattern : pattern + "%"
  }
}
