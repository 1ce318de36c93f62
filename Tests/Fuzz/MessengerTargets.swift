import Messenger

/// The file of a contact: whatever stands in it, each text is one line of a bounded length, and what is pressed leads nowhere else.
func fuzzVCard(_ bytes: UnsafeRawBufferPointer) {
  guard let card = VCard(Array(bytes)) else { return }
  let texts = [card.name, card.organisation] + card.numbers + card.addresses
  if card.name.isEmpty { fatalError("a card without a name") }
  if card.numbers.count > 10 || card.addresses.count > 10 { fatalError("more lines than are shown") }
  for text in texts {
    // Three parts of 200 bytes, each of which may stand for a character of three.
    if text.utf8.count > 2000 { fatalError("a text is longer than it may be") }
    if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) { fatalError("a text has a control character") }
  }
  for text in texts {
    let number = VCard.url(ofNumber: text)
    if let number, !number.hasPrefix("tel:") || number.utf8.count > 20 { fatalError("a number leads to \(number)") }
    let address = VCard.url(ofAddress: text)
    if let address, !address.hasPrefix("mailto:") || address.contains("?") { fatalError("an address leads to \(address)") }
  }
}

/// What stands in a picture's box until it is loaded: nothing, or a bitmap of one size.
func fuzzBlurHash(_ bytes: UnsafeRawBufferPointer) {
  guard let image = BlurHash.image(String(decoding: bytes, as: UTF8.self)) else { return }
  // 54 bytes before 16 by 16 pixels of three bytes, three of them in four letters.
  let prefix = "data:image/bmp;base64,"
  if !image.hasPrefix(prefix) || image.utf8.count != prefix.utf8.count + (54 + 16 * 16 * 3) / 3 * 4 {
    fatalError("a bitmap of another size: \(image)")
  }
}

/// Text with links in it: the pieces are the text, and a link opens something.
func fuzzLinks(_ bytes: UnsafeRawBufferPointer) {
  let text = String(decoding: bytes, as: UTF8.self)
  for findsTerms in [false, true] {
    guard let segments = LinkScanner.segments(of: text, findsTerms: findsTerms) else { continue }
    if Array(segments.map(\.text).joined().utf8) != Array(text.utf8) { fatalError("the pieces are another text") }
    for (index, segment) in segments.enumerated() {
      if segment.text.isEmpty { fatalError("an empty piece") }
      if !segment.isLink, index > 0, !segments[index - 1].isLink { fatalError("two pieces of plain text in a row") }
      // Of bytes: a `#` before an accent begins another character.
      let isTerm = segment.url.utf8.first == UInt8(ascii: "#") || segment.url.hasPrefix("date:")
      if segment.url == "#\u{200C}" || segment.url == "#\u{200D}" { fatalError("a tag of which nobody sees anything") }
      if isTerm, !findsTerms { fatalError("a term that nobody wanted: \(segment.url)") }
      if segment.isLink, !isTerm, !LinkScanner.isSafe(segment.url) { fatalError("a link that may do anything: \(segment.url)") }
    }
  }
}
