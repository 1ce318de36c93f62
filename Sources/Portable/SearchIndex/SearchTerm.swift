import EventContent
import JSON

/// What of a text stands in the index: its words, folded as `FoldedText` is, and of scripts without spaces each two characters that follow one another,
/// and the last one alone. So each word that is looked for begins a term.
struct SearchTerm {
  /// More characters of a word are left out.
  static let characterLimit = 24
  /// Of one message.
  static let countLimit = 16_384

  let utf8: [UInt8]
  /// Which record of a span has it.
  let bucket: Int

  private init(_ scalars: ArraySlice<UInt32>) {
    var utf8: [UInt8] = []
    utf8.reserveCapacity(scalars.count)
    for scalar in scalars { utf8.append(scalar: scalar) }
    self.utf8 = utf8
    bucket = Int((scalars.first ?? 0) % UInt32(IndexKey.bucketCount))
  }

  static func forEach(in texts: [ByteString], _ body: (SearchTerm) -> Void) {
    for text in texts {
      SoughtWords.forEachWord(of: text) { word in
        forEachRun(of: word.scalars) { run, isUnspaced in
          guard isUnspaced else { return body(SearchTerm(run.prefix(characterLimit))) }
          for i in run.indices { body(SearchTerm(run[i..<min(i + 2, run.endIndex)])) }
        }
      }
    }
  }

  /// Terms that begin so are in each message that has the words; others may have them, too. Empty where the index knows nothing of it.
  static func sought(_ words: SoughtWords) -> [SearchTerm] {
    var terms: [SearchTerm] = []
    for word in words.words {
      // Letters in front of a script without spaces may be the end of a word.
      let skipsSpaced = word.scalars.contains(where: FoldedText.isUnspaced)
      forEachRun(of: word.scalars) { run, isUnspaced in
        guard isUnspaced else {
          if !skipsSpaced { terms.append(SearchTerm(run.prefix(characterLimit))) }
          return
        }
        if run.count == 1 { terms.append(SearchTerm(run)) }
        for i in run.indices.dropLast() { terms.append(SearchTerm(run[i...i + 1])) }
      }
    }
    return terms
  }

  /// Runs of word characters of one kind.
  private static func forEachRun(of scalars: [UInt32], _ body: (ArraySlice<UInt32>, Bool) -> Void) {
    var start = 0
    while start < scalars.count {
      guard FoldedText.isWord(scalars[start]) else {
        start += 1
        continue
      }
      let isUnspaced = FoldedText.isUnspaced(scalars[start])
      var end = start + 1
      while end < scalars.count, FoldedText.isWord(scalars[end]), FoldedText.isUnspaced(scalars[end]) == isUnspaced { end += 1 }
      body(scalars[start..<end], isUnspaced)
      start = end
    }
  }
}

extension [UInt8] {
  fileprivate mutating func append(scalar: UInt32) {
    switch scalar {
    case 0..<0x80: append(UInt8(scalar))
    case 0x80..<0x800:
      append(UInt8(0xC0 | scalar >> 6))
      append(UInt8(0x80 | scalar & 0x3F))
    case 0x800..<0x10000:
      append(UInt8(0xE0 | scalar >> 12))
      append(UInt8(0x80 | scalar >> 6 & 0x3F))
      append(UInt8(0x80 | scalar & 0x3F))
    default:
      append(UInt8(0xF0 | scalar >> 18 & 0x07))
      append(UInt8(0x80 | scalar >> 12 & 0x3F))
      append(UInt8(0x80 | scalar >> 6 & 0x3F))
      append(UInt8(0x80 | scalar & 0x3F))
    }
  }
}
