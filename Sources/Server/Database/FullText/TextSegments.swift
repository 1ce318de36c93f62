/// Where words begin and end, the same for what is indexed and for what is searched for.
enum TextSegments {
  /// A run of letters and digits.
  struct Word {
    var text = ""
    /// The word itself, or of a script without spaces each character.
    var characters: [String] = []
    var isSpaced = true
    var length = 0
  }

  /// The words of a text, in order. Neither quotes nor any other sign is in one.
  static func words(of text: String) -> [Word] {
    var words: [Word] = []
    var word = Word()
    func end() {
      if word.length > 0 { words.append(word) }
      word = Word()
    }
    for scalar in text.unicodeScalars {
      guard isWordPart(scalar) else {
        end()
        continue
      }
      let isSpaced = !isUnspaced(scalar)
      if isSpaced != word.isSpaced { end() }
      word.isSpaced = isSpaced
      word.text.unicodeScalars.append(scalar)
      word.length += 1
      if isSpaced { word.characters = [word.text] } else { word.characters.append(String(scalar)) }
    }
    end()
    return words
  }

  /// The text with spaces around each character of a script that has none between words.
  static func spaced(_ text: String) -> String {
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

  /// As the tokenizer of the index has it: letters, digits, marks that belong to them, private use.
  private static func isWordPart(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar) }
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
