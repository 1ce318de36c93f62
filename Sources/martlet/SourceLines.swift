import Shell

/// The lines of a settings file, for messages about it.
struct SourceLines {
  private let lines: [ArraySlice<UInt8>]

  /// The number of characters that an excerpt shows of a line.
  private static let width = 120

  init(_ text: some Sequence<UInt8>) {
    lines = Array(text).split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: "\n") }.map { line in
      line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }
  }

  /// Returns the line with this number, from 1, without its end; empty if there is no such line.
  func line(_ number: Int) -> ArraySlice<UInt8> { lines.indices.contains(number - 1) ? lines[number - 1] : [] }

  /// Returns the line with up to two lines above and below, with their numbers and a mark. Tabs are shown as →. Values that may be secrets are left out, because
  /// messages end up in logs.
  func excerpt(around number: Int) -> String {
    let last = lines.last.map { $0.isEmpty } ?? true ? lines.count - 1 : lines.count
    let end = max(1, min(last, number + 2))
    let shown = max(1, min(end, number - 2))...end
    let digits = "\(shown.upperBound)".count
    let harmless = withoutSecrets()
    return shown.map { at in
      let label = String(repeating: " ", count: digits - "\(at)".count) + "\(at)"
      let text = harmless.indices.contains(at - 1) ? String(harmless[at - 1].map { $0 == "\t" ? "→" : $0 }) : ""
      return "\(at == number ? ">" : " ") \(label) | \(Table.harmless(String(text.prefix(Self.width))))"
    }.joined(separator: "\n")
  }

  /// Returns the lines with `[redacted]` in place of what may be a secret: everything behind a word such as `password`, and the lines that
  /// belong to that setting. A file with errors cannot be read precisely, so this hides too much rather than too little.
  private func withoutSecrets() -> [String] {
    var secretIndentation: Int?
    return lines.map { line in
      let text = String(decoding: line, as: UTF8.self)
      let indentation = line.prefix { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }.count
      if let end = Self.endOfSecretName(in: line) {
        secretIndentation = indentation
        return String(decoding: line[..<end], as: UTF8.self) + " [redacted]"
      }
      guard let secret = secretIndentation else { return text }
      let body = line.dropFirst(indentation)
      let beginsSetting = indentation <= secret && body.first != UInt8(ascii: "-") && body.contains(UInt8(ascii: ":"))
      guard !beginsSetting else {
        secretIndentation = nil
        return text
      }
      return body.isEmpty ? "" : String(decoding: line.prefix(indentation), as: UTF8.self) + "[redacted]"
    }
  }

  /// The colon behind the first word that names a secret, or the end of the word if there is no colon; nil if there is no such word.
  private static func endOfSecretName(in line: ArraySlice<UInt8>) -> Int? {
    let folded = line.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    let ends = ["secret", "password", "token", "key"].compactMap { word -> Int? in
      let word = Array(word.utf8)
      guard folded.count >= word.count else { return nil }
      return (0...(folded.count - word.count)).first { folded[$0...].starts(with: word) }.map { $0 + word.count }
    }
    guard let end = ends.min() else { return nil }
    let colon = folded[end...].firstIndex(of: UInt8(ascii: ":"))
    return line.startIndex + (colon.map { $0 + 1 } ?? end)
  }
}
