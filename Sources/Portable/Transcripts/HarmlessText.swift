import MatrixModel

/// What strangers wrote, made harmless for a terminal or a page: control characters (escape sequences begin with one), marks that turn
/// the direction of writing and invisible tags become U+FFFD.
package enum HarmlessText {
  /// In one line.
  package static func line(_ text: String) -> String { filtered(text, keepsLines: false) }

  /// With its line breaks and tabs.
  package static func lines(_ text: String) -> String { filtered(text, keepsLines: true) }

  private static func filtered(_ text: String, keepsLines: Bool) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isLayout = keepsLines && (scalar == "\n" || scalar == "\t")
      result.append(isLayout || !isHarmful(scalar) ? scalar : "\u{FFFD}")
    }
    return String(result)
  }

  private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    // Directional marks, tags.
    case 0x061C, 0x200E, 0x200F, 0xE0000...0xE007F: true
    default: scalar.isControl
    }
  }
}
