import JSON

/// Words that are looked for in messages: each has to begin a word of the text. Without case, diacritics and marks, as in `FoldedText`.
package struct SoughtWords: Sendable {
  /// More are left out.
  package static let wordLimit = 16

  package let words: [FoldedText]

  package init(_ text: ByteString) {
    var words: [FoldedText] = []
    SoughtWords.forEachWord(of: text) { word in
      if words.count < SoughtWords.wordLimit, !word.isEmpty { words.append(word) }
    }
    self.words = words
  }

  package var isEmpty: Bool { words.isEmpty }

  /// Whether all of them are in these texts, each in any.
  package func areFound(in texts: [ByteString]) -> Bool {
    var missing = words
    for text in texts where !missing.isEmpty {
      SoughtWords.forEachWord(of: text) { word in
        if !missing.isEmpty { missing.removeAll { word.begins(with: $0) } }
      }
    }
    return missing.isEmpty && !words.isEmpty
  }

  /// Text without spaces comes in pieces that overlap by half.
  package static func forEachWord(of text: ByteString, _ body: (FoldedText) -> Void) {
    let limit = ContentLimits.foldedCharacters
    var word: [Unicode.Scalar] = []
    for scalar in text.string.unicodeScalars {
      if scalar.value <= 0x20 || scalar.value == 0xA0 || scalar.value == 0x3000 {
        body(FoldedText(word))
        word = []
        continue
      }
      if word.count == limit {
        body(FoldedText(word))
        word.removeFirst(limit / 2)
      }
      word.append(scalar)
    }
    body(FoldedText(word))
  }
}

extension FoldedText {
  /// Whether a word in it begins so. Thai, Chinese, Japanese and others are written without spaces: there it may be anywhere, and other letters begin a
  /// word behind them.
  func begins(with word: FoldedText) -> Bool {
    guard !word.isEmpty, word.scalars.count <= scalars.count else { return false }
    let isAnywhere = word.scalars.contains(where: FoldedText.isUnspaced)
    for start in 0...(scalars.count - word.scalars.count) where has(word, at: start) {
      if start == 0 || isAnywhere { return true }
      let before = scalars[start - 1]
      if !FoldedText.isWord(before) || FoldedText.isUnspaced(before) { return true }
    }
    return false
  }
}
