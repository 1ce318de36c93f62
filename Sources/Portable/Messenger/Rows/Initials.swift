/// The stand-in for a missing avatar: letters of the name on a colour that always belongs to the same identity.
public enum Initials {
  /// Colours the style sheet knows (`mg-colour-0` ...).
  public static let colourCount = 8

  public static func colour(of id: String) -> Int { Int(id.hash32 % UInt32(colourCount)) }

  /// The first scalar of the first and of the last word; the style sheet makes them capitals. Signs like `@` and `#` are
  /// skipped; a name without letters gives an empty text.
  public static func of(_ name: String) -> String {
    var first: Unicode.Scalar?
    var last: Unicode.Scalar?
    var startsWord = true
    for scalar in name.unicodeScalars {
      if scalar.value <= 0x20 {
        startsWord = true
      } else if startsWord, isLetterLike(scalar) {
        if first == nil { first = scalar } else { last = scalar }
        startsWord = false
      }
    }
    var text = String.UnicodeScalarView()
    if let first { text.append(first) }
    // Two symbols (emoji, ideographs) do not fit, so the first is enough.
    if let first, let last, first.value < 0x2E80, last.value < 0x2E80 { text.append(last) }
    return String(text)
  }

  private static func isLetterLike(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // Whole phrases in one sign, and cuneiform: several times as wide as the circle.
    case 0xFDFA...0xFDFD, 0x12000...0x1254F: false
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case 0xC0...0x1FFF, 0x2E80...0xD7FF, 0xF900...0xFDFF, 0xFE70...0x1F_FAFF, 0x20000...0x3FFFF: true
    default: false
    }
  }
}
