/// How the text of a message is drawn.
enum TextLook: UInt8 {
  case plain
  /// What stands above and below its letters is cut off at the bubble.
  case clipped
  /// A few emoji, and nothing else.
  case large

  init(_ text: String) { self = text.isFewEmoji ? .large : text.mayStackMarks ? .clipped : .plain }
}

extension String {
  private static var emojiLimit: Int { 6 }

  /// Whether it is one emoji to six (a flag counts as two), with nothing but spaces between them. By blocks, which need no tables: signs that stand
  /// among emoji count as some.
  var isFewEmoji: Bool {
    guard utf8.count <= 256, let first = utf8.first, first >= 0xE2 else { return false }
    var count = 0
    var isJoined = false
    for scalar in unicodeScalars {
      switch scalar.value {
      // Spaces, selectors, skin tones, tags.
      case 0x20, 0x0A, 0xFE0F, 0x1F3FB...0x1F3FF, 0xE0020...0xE007F: continue
      case 0x200D: isJoined = true
      case 0x1F000...0x1FAFF, 0x2600...0x27BF, 0x231A...0x23FF, 0x2B50, 0x2B55, 0x3030, 0x303D:
        if !isJoined { count += 1 }
        isJoined = false
      default: return false
      }
    }
    return count > 0 && count <= String.emojiLimit
  }
}
