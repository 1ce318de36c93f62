/// Where words begin and end, the same for what is indexed and for what is searched for.
enum TextSegments {
  /// What a search looks for as a whole: a word, or words that single signs join, such as `1.19.2` and `data-dir`.
  struct Term: Equatable {
    /// As it is written, with the signs inside.
    var text = ""
    /// The words, or each character of a script without spaces. They follow each other in a text that matches.
    var parts: [String] = []
    var isSpaced = true
  }

  /// Returns the terms of a text, in order. A term's parts have letters and digits only, neither quotes nor any other sign.
  static func terms(of text: String) -> [Term] {
    var terms: [Term] = []
    var term = Term()
    var part = String.UnicodeScalarView()
    func endPart() {
      if !part.isEmpty { term.parts.append(String(part)) }
      part = String.UnicodeScalarView()
    }
    func endTerm() {
      endPart()
      if !term.parts.isEmpty { terms.append(term) }
      term = Term()
    }
    let scalars = Array(text.unicodeScalars)
    for (index, scalar) in scalars.enumerated() {
      if isWordPart(scalar) {
        let isSpaced = !isUnspaced(scalar)
        if isSpaced != term.isSpaced { endTerm() }
        term.isSpaced = isSpaced
        part.append(scalar)
        if !isSpaced { endPart() }
      } else if term.isSpaced, !part.isEmpty, index + 1 < scalars.count,
        joins(scalar, scalars[index - 1], scalars[index + 1])
      {
        endPart()
      } else {
        endTerm()
        continue
      }
      term.text.unicodeScalars.append(scalar)
    }
    endTerm()
    return terms
  }

  /// Returns what is indexed of a text: the text with spaces around each character of a script that has none between words.
  /// Each term in which letters and digits meet follows once more with spaces there, so that `1.19.2` finds `v1.19.2`.
  static func indexed(_ text: String) -> String {
    let spaced = spaced(text)
    guard mayMixLettersAndDigits(text) else { return spaced }
    let split = terms(of: text).compactMap(split)
    return split.isEmpty ? spaced : spaced + "\n" + split.joined(separator: "\n")
  }

  private static func spaced(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnspaced) else { return text }
    var spaced = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      guard isUnspaced(scalar) else {
        spaced.append(scalar)
        continue
      }
      spaced.append(" ")
      spaced.append(scalar)
      spaced.append(" ")
    }
    return String(spaced)
  }

  // MARK: Letters and digits

  /// Pieces of a term that are indexed. A hash or a key has more: nobody looks for one by its digits.
  static let piecesLimit = 16

  /// Returns the pieces of a term in which letters and digits meet; nil for any other, and for one of more than `piecesLimit`.
  private static func split(_ term: Term) -> String? {
    guard term.isSpaced else { return nil }
    var pieces: [String] = []
    for part in term.parts {
      var wasDigit: Bool?
      for scalar in part.unicodeScalars {
        let isDigit = isDigit(scalar)
        if isDigit != wasDigit { pieces.append("") }
        pieces[pieces.count - 1].unicodeScalars.append(scalar)
        wasDigit = isDigit
      }
      if pieces.count > piecesLimit { return nil }
    }
    return pieces.count > term.parts.count ? pieces.joined(separator: " ") : nil
  }

  /// Whether a digit stands beside a letter, or beside something that may be one. Most texts end here.
  private static func mayMixLettersAndDigits(_ text: String) -> Bool {
    var wasDigit = false
    var wasLetter = false
    for byte in text.utf8 {
      let isDigit = (0x30...0x39).contains(byte)
      let isLetter = byte >= 0x80 || (0x61...0x7A).contains(byte | 0x20)
      if isDigit && wasLetter || isLetter && wasDigit { return true }
      (wasDigit, wasLetter) = (isDigit, isLetter)
    }
    return false
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

  // MARK: Characters

  /// Whether a sign between two characters makes one term of both. A comma does so in numbers only.
  private static func joins(_ sign: Unicode.Scalar, _ before: Unicode.Scalar, _ after: Unicode.Scalar) -> Bool {
    guard isWordPart(after), !isUnspaced(after) else { return false }
    switch sign {
    case ".", "-", "_", ":", "/", "@", "+", "'", "\u{2019}", "\u{2010}", "\u{2011}": return true
    case ",": return isDigit(before) && isDigit(after)
    default: return false
    }
  }

  /// As the tokenizer of the index has it: letters, digits, marks that belong to them, private use.
  private static func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || isDigit(scalar) }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber, .letterNumber,
      .otherNumber, .privateUse:
      return true
    // The index takes accents off letters, and leaves other marks between words.
    case .nonspacingMark: return (0x300...0x36F).contains(scalar.value)
    default: return false
    }
  }

  /// Han, Kana, Hangul, and the scripts of South East Asia that are written without spaces.
  private static func isUnspaced(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0x3005...0x3007, 0x3040...0x30FF, 0x31F0...0x31FF,
      0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7AF, 0xF900...0xFAFF, 0xFF66...0xFF9D, 0x20000...0x323AF:
      true
    default: false
    }
  }
}
