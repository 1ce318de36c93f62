import JSON

/// Text for finding and sorting: without case, diacritics and marks, at most `ContentLimits.foldedCharacters` of it.
///
/// Latin, Greek, Cyrillic, Armenian and full-width letters are folded; other scripts stand as they are. Not the Unicode tables, which would
/// have to come with the page's program.
package struct FoldedText: Sendable, Hashable {
  package private(set) var scalars: [UInt32] = []

  /// How well a name fits what is looked for, the best first.
  package enum Match: UInt8, Sendable { case wordPrefix, substring, subsequence }

  package init() {}

  package init(_ text: ByteString) {
    var count = 0
    for scalar in text.string.unicodeScalars {
      guard count < ContentLimits.foldedCharacters else { return }
      count += 1
      append(scalar.value)
    }
  }

  init(_ scalars: [Unicode.Scalar]) {
    for scalar in scalars.prefix(ContentLimits.foldedCharacters) { append(scalar.value) }
  }

  /// What somebody types to find something: white space around it does not count.
  package init(term: ByteString) {
    self.init(term)
    while let last = scalars.last, last <= 0x20 { scalars.removeLast() }
    scalars = Array(scalars.drop { $0 <= 0x20 })
  }

  package var isEmpty: Bool { scalars.isEmpty }

  package static func < (left: FoldedText, right: FoldedText) -> Bool {
    left.scalars.lexicographicallyPrecedes(right.scalars)
  }

  /// nil where the term's characters are not all there, in order. O(characters of both, multiplied).
  package func match(_ term: FoldedText) -> Match? {
    guard !term.isEmpty else { return .wordPrefix }
    guard hasSubsequence(term) else { return nil }
    var best = Match.subsequence
    var start = 0
    while start + term.scalars.count <= scalars.count {
      if scalars[start] == term.scalars[0], has(term, at: start) {
        if start == 0 || !FoldedText.isWord(scalars[start - 1]) { return .wordPrefix }
        best = .substring
      }
      start += 1
    }
    return best
  }

  func has(_ term: FoldedText, at start: Int) -> Bool {
    for i in term.scalars.indices where scalars[start + i] != term.scalars[i] { return false }
    return true
  }

  private func hasSubsequence(_ term: FoldedText) -> Bool {
    var next = 0
    for scalar in scalars where next < term.scalars.count && scalar == term.scalars[next] { next += 1 }
    return next == term.scalars.count
  }

  /// Whether the character belongs to a word: letters, digits, and what else is no punctuation.
  package static func isWord(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x30...0x39, 0x61...0x7A: true
    case 0..<0xAA, 0xAB...0xB1, 0xB4, 0xB6...0xB8, 0xBB, 0xBF, 0x2000...0x206F, 0x3000...0x3004, 0x3008...0x3020: false
    default: true
    }
  }

  /// Whether the script is written without spaces, as Chinese, Japanese and Thai are: a word may begin at each character. Symbols count, too.
  package static func isUnspaced(_ scalar: UInt32) -> Bool { scalar >= 0xE00 && isWord(scalar) }

  // MARK: Folding

  private mutating func append(_ scalar: UInt32) {
    switch scalar {
    case 0x41...0x5A: scalars.append(scalar | 0x20)
    case 0..<0xC0: scalars.append(scalar)
    case 0xC0..<0x234: appendLatin(FoldedText.latin, at: scalar - 0xC0, scalar)
    case 0x1E00..<0x1F00: appendLatin(FoldedText.latinAdditional, at: scalar - 0x1E00, scalar)
    // Marks that stand on the letter before them.
    case 0x300...0x36F, 0x483...0x487, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: break
    case 0x370..<0x400: scalars.append(FoldedText.greek(scalar))
    case 0x400..<0x530: scalars.append(FoldedText.cyrillic(scalar))
    case 0x531...0x556: scalars.append(scalar + 48)
    case 0xFF01...0xFF5E: append(scalar - 0xFF01 + 0x21)
    default: scalars.append(scalar)
    }
  }

  private mutating func appendLatin(_ table: StaticString, at offset: UInt32, _ scalar: UInt32) {
    let base = table.utf8Start[Int(offset)]
    switch base {
    case UInt8(ascii: "?"): scalars.append(scalar)
    case UInt8(ascii: "1"): scalars += [0x61, 0x65]
    case UInt8(ascii: "2"): scalars += [0x6F, 0x65]
    case UInt8(ascii: "3"): scalars += [0x73, 0x73]
    case UInt8(ascii: "4"): scalars += [0x74, 0x68]
    case UInt8(ascii: "5"): scalars += [0x69, 0x6A]
    default: scalars.append(UInt32(base))
    }
  }

  private static func greek(_ scalar: UInt32) -> UInt32 {
    switch scalar {
    case 0x386, 0x3AC: 0x3B1
    case 0x388, 0x3AD: 0x3B5
    case 0x389, 0x3AE: 0x3B7
    case 0x38A, 0x390, 0x3AA, 0x3AF, 0x3CA: 0x3B9
    case 0x38C, 0x3CC: 0x3BF
    case 0x38E, 0x3AB, 0x3B0, 0x3CB, 0x3CD: 0x3C5
    case 0x38F, 0x3CE: 0x3C9
    case 0x3C2: 0x3C3
    case 0x391...0x3A1, 0x3A3...0x3A9: scalar + 32
    default: scalar
    }
  }

  private static func cyrillic(_ scalar: UInt32) -> UInt32 {
    switch scalar {
    case 0x400, 0x401, 0x450, 0x451: 0x435
    case 0x403, 0x453: 0x433
    case 0x407, 0x457: 0x456
    case 0x40C, 0x45C: 0x43A
    case 0x40D, 0x419, 0x439, 0x45D: 0x438
    case 0x40E, 0x45E: 0x443
    case 0x400...0x40F: scalar + 80
    case 0x410...0x42F: scalar + 32
    case 0x460...0x481, 0x48A...0x4BF, 0x4D0...0x52F: scalar | 1
    default: scalar
    }
  }

  /// The letter without its diacritics of U+00C0 to U+0233; digits stand for two letters, `?` for the character itself.
  private static let latin: StaticString =
    """
    aaaaaa1ceeeeiiiidnooooo?ouuuuy43aaaaaa1ceeeeiiiidnooooo?ouuuuy4y\
    aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii55jjkkkllllllll\
    llnnnnnnnnnoooooo22rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs\
    b???????????????????????????????oo?????????????uu???????????????\
    ?????????????aaiioouuuuuuuuuu?aaaa11??ggkkoooo??j???gg??nnaa11oo\
    aaaaeeeeiiiioooorrrruuuusstt??hh??????aaeeooooooooyy
    """

  /// U+1E00 to U+1EFF, likewise.
  private static let latinAdditional: StaticString =
    """
    aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmm\
    mmmmnnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvv\
    wwwwwwwwwwxxxxyyzzzzzzhtwyas??3?aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeee\
    eeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy??????
    """
}
