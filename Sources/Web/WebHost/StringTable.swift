/// The words of one language: a line `name = words` for each text, the names in the order that the program counts them in.
///
/// `{0}` to `{2}` in the words stand for what the program knows. Where a number decides, forms stand side by side with `|`
/// between them. Lines that begin with `#` are for translators.
public struct StringTable: Sendable {
  private let bytes: [UInt8]
  /// Of each text, where its words are.
  private var places: [Range<Int>] = []
  /// Around what is filled in, so that a name in another script does not turn the sentence around it. Source: UAX #9, FSI and
  /// PDI.
  private let isolates: (before: [UInt8], after: [UInt8])
  /// Before a text that begins with what is filled in. Where the first letter decides on the direction, one within isolates does not count, and
  /// there may be no other. Source: UAX #9, P2 and RLM.
  private let mark: [UInt8]

  /// - Parameter isRightToLeft: whether the language is written so.
  public init(_ file: String, isRightToLeft: Bool = false) {
    bytes = Array(file.utf8)
    isolates = isRightToLeft ? ([0xE2, 0x81, 0xA8], [0xE2, 0x81, 0xA9]) : ([], [])
    mark = isRightToLeft ? [0xE2, 0x80, 0x8F] : []
    let separator = Array(" = ".utf8)
    for line in bytes.split(separator: UInt8(ascii: "\n")) where line.first != UInt8(ascii: "#") {
      guard let name = line.firstIndex(of: separator[0]), line[name...].starts(with: separator) else { continue }
      places.append(name + separator.count..<line.endIndex)
    }
  }

  public var count: Int { places.count }

  /// Returns the number of the text with that name, or nil if there is no such text. O(file).
  public func number(of name: String) -> Int? {
    let wanted = Array(name.utf8) + [UInt8(ascii: " "), UInt8(ascii: "=")]
    return places.firstIndex { place in
      let start = place.lowerBound - wanted.count - 1
      return start >= 0 && bytes[start...].starts(with: wanted) && (start == 0 || bytes[start - 1] == UInt8(ascii: "\n"))
    }
  }

  /// - Parameter form: which of those side by side; the last where there are fewer.
  /// - Returns: nothing for a text that is not there.
  public func words(_ text: Int, form: Int = 0, _ arguments: [String] = []) -> String {
    guard places.indices.contains(text) else { return "" }
    let words = bytes[places[text]]
    let forms = words.split(separator: UInt8(ascii: "|"))
    return String(decoding: filled(forms.isEmpty ? words : forms[max(0, min(form, forms.count - 1))], arguments), as: UTF8.self)
  }

  private func filled(_ words: ArraySlice<UInt8>, _ arguments: [String]) -> [UInt8] {
    var filled = words.first == UInt8(ascii: "{") && !arguments.isEmpty ? mark : []
    var i = words.startIndex
    while i < words.endIndex {
      if words[i] == UInt8(ascii: "{"), i + 2 < words.endIndex, words[i + 2] == UInt8(ascii: "}") {
        let number = Int(words[i + 1]) - 0x30
        if arguments.indices.contains(number) { filled += isolates.before + Array(arguments[number].utf8) + isolates.after }
        i += 3
      } else {
        filled.append(words[i])
        i += 1
      }
    }
    return filled
  }
}
