public import JSON

extension MessageContent {
  /// Bytes of a formatted text that are read for a preview.
  private static let previewBytes = 4_000

  /// Returns the text in one line as it reads when it is shown: without marks of HTML or Markdown, hidden parts as `[Spoiler]`. O(1): only the
  /// first few thousand bytes are looked at.
  public var previewText: ByteString {
    guard let formattedBody else { return MessageContent.line(body.utf8.prefix(MessageContent.previewBytes)) }
    let html = ByteString(decoding: Array(formattedBody.utf8.prefix(MessageContent.previewBytes)))
    let text = MessageContent.line(HTML.plainText(html).utf8)
    // A picture without a name is all there is.
    return text.isEmpty ? MessageContent.line(body.utf8.prefix(MessageContent.previewBytes)) : text
  }

  /// White space of any kind becomes one space; none stands at the ends.
  private static func line(_ bytes: some Sequence<UInt8>) -> ByteString {
    var line: [UInt8] = []
    var hasSpace = false
    for byte in bytes {
      if byte == 0x20 || (byte >= 9 && byte <= 13) {
        hasSpace = !line.isEmpty
        continue
      }
      if hasSpace { line.append(0x20) }
      hasSpace = false
      line.append(byte)
    }
    return ByteString(decoding: line)
  }
}
