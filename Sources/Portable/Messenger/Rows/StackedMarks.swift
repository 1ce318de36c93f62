extension String {
  /// Whether marks that stand above or below a letter might be piled up in it. False only for scripts that have none: Latin with its own
  /// accented letters, Greek, Cyrillic, Han, kana, Hangul, punctuation, emoji. True where there are none does no harm: such a text is
  /// clipped for nothing, which costs time.
  var mayStackMarks: Bool {
    var text = self
    return text.withUTF8 { bytes in
      var i = 0
      while i < bytes.count {
        let lead = bytes[i]
        guard lead >= 0x80 else {
          i += 1
          continue
        }
        guard let length = String.plainLength(lead, bytes, i) else { return true }
        i += length
      }
      return false
    }
  }

  /// The length of a scalar of more than one byte that is known to be no mark; nil for any other.
  private static func plainLength(_ lead: UInt8, _ bytes: UnsafeBufferPointer<UInt8>, _ i: Int) -> Int? {
    // U+0080 to U+02FF, U+0370 to U+047F.
    if lead < 0xE0 { return lead <= 0xCB || (lead >= 0xCE && lead <= 0xD1) || (lead == 0xCD && bytes[i + 1] >= 0xB0) ? 2 : nil }
    let (second, third) = (bytes[i + 1], bytes[i + 2])
    switch lead {
    // Not U+20C0 to U+20FF, nor U+2CC0 to U+2DFF.
    case 0xE2: return second == 0x83 || (second >= 0xB3 && second <= 0xB7) ? nil : 3
    // Neither U+302A to U+302F nor U+3099 and U+309A.
    case 0xE3:
      return (second == 0x80 && third >= 0xAA && third <= 0xAF) || (second == 0x82 && third >= 0x99 && third <= 0x9A) ? nil : 3
    case 0xE4...0xE9, 0xEB, 0xEC: return 3
    // Hangul, from U+AC00 to U+D7BF.
    case 0xEA: return second >= 0xB0 ? 3 : nil
    case 0xED: return second <= 0x9E ? 3 : nil
    // Variation selectors, and what is wide or narrow.
    case 0xEF: return (second == 0xB8 && third < 0x90) || second >= 0xBC ? 3 : nil
    // U+1F000 to U+1FFFF.
    case 0xF0: return second == 0x9F ? 4 : nil
    default: return nil
    }
  }
}
