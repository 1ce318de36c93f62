import JSON
import MatrixModel

/// What is more than its letters without being marked: addresses, user IDs, room aliases, `@room`, names of pictures.
extension MarkdownInline {
  /// False where nothing of that kind begins here.
  mutating func readAutolink() -> Bool {
    if text[position] == UInt8(ascii: "<") { return readBracketedLink() }
    if position > 0, MarkdownInline.isWord(text[position - 1]) || text[position - 1] == UInt8(ascii: "/") { return false }
    switch text[position] {
    case UInt8(ascii: "@"): return readRoomMention() || readIdentifier()
    case UInt8(ascii: "#"): return readIdentifier()
    default: return readAddress()
    }
  }

  private mutating func readBracketedLink() -> Bool {
    let limit = min(text.count, position + ContentLimits.linkBytes)
    var end = position + 1
    while end < limit, text[end] != UInt8(ascii: ">"), text[end] != UInt8(ascii: "<"), !MarkdownInline.isSpace(text[end]) {
      end += 1
    }
    guard end < limit, text[end] == UInt8(ascii: ">") else { return false }
    let shown = (position + 1)..<end
    var target = Array(text[shown])
    if !HTMLAttribute.hasAllowedScheme(target) {
      // An address for mail.
      guard let at = target.firstIndex(of: UInt8(ascii: "@")), at > 0, target[(at + 1)...].contains(UInt8(ascii: ".")),
        !target.contains(UInt8(ascii: ":"))
      else { return false }
      target = Array("mailto:".utf8) + target
    }
    if let link = Permalink(ByteString(decoding: target)) { note(link) }
    addAutolink(target: target, shown: shown)
    position = end + 1
    return true
  }

  private mutating func readAddress() -> Bool {
    let rest = text[position...].prefix(8)
    guard HTMLReader.isName(rest.prefix(7), "http://") || HTMLReader.isName(rest, "https://") else { return false }
    let host = position + (text[position + 4] | 0x20 == UInt8(ascii: "s") ? 8 : 7)
    let limit = min(text.count, position + ContentLimits.linkBytes)
    var end = host
    var depth = 0
    while end < limit, isAddress(text[end]) {
      depth += text[end] == UInt8(ascii: "(") ? 1 : text[end] == UInt8(ascii: ")") ? -1 : 0
      end += 1
    }
    trim: while end > host {
      switch text[end - 1] {
      case UInt8(ascii: "."), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ":"), UInt8(ascii: "!"), UInt8(ascii: "?"),
        UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "|"), UInt8(ascii: "]"):
        end -= 1
      case UInt8(ascii: ")") where depth < 0:
        depth += 1
        end -= 1
      default: break trim
      }
    }
    guard end > host, end < limit || limit == text.count else { return false }
    if let link = Permalink(ByteString(decoding: text[position..<end])) { note(link) }
    addAutolink(target: Array(text[position..<end]), shown: position..<end)
    position = end
    return true
  }

  private func isAddress(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte != 0x7F && byte != UInt8(ascii: "<") && byte != UInt8(ascii: ">") && byte != UInt8(ascii: "\"")
      && byte != UInt8(ascii: "`") && (byte != UInt8(ascii: "]") || brackets.isEmpty)
  }

  private mutating func readRoomMention() -> Bool {
    let end = position + 5
    guard end <= text.count, text[position..<end].elementsEqual("@room".utf8) else { return false }
    if end < text.count, MarkdownInline.isWord(text[end]) || text[end] == UInt8(ascii: ":") { return false }
    mentions.room = true
    HTMLEntities.escape(text[position..<end], to: &done)
    position = end
    return true
  }

  /// `:name:`, as the picture of that name. Behind a letter or a digit a colon is a colon: `10:30:00`. MSC2545.
  mutating func readEmoticon() -> Bool {
    let first = position + 1
    if position > 0, text[position - 1] < 0x80, MarkdownInline.isWord(text[position - 1]) { return false }
    let end = first + text[first...].prefix(ContentLimits.shortcodeBytes).prefix { $0 > 0x20 && $0 != UInt8(ascii: ":") }.count
    guard end > first, end < text.count, text[end] == UInt8(ascii: ":"),
      let source = emoticon(ByteString(decoding: text[first..<end]))
    else { return false }
    append("<img data-mx-emoticon src=\"")
    HTMLEntities.escape(source.text.utf8[...], to: &done)
    append("\" alt=\"")
    HTMLEntities.escape(text[position...end], to: &done)
    append("\" title=\"")
    HTMLEntities.escape(text[position...end], to: &done)
    append("\" height=\"32\">")
    hasMarkup = true
    position = end + 1
    return true
  }

  /// `@user:server` or `#alias:server`.
  private mutating func readIdentifier() -> Bool {
    let limit = min(text.count, position + 256)
    var colon = position + 1
    while colon < limit, isLocalpart(text[colon]) { colon += 1 }
    guard colon > position + 1, colon < limit, text[colon] == UInt8(ascii: ":") else { return false }
    var end = colon + 1
    while end < limit, isServer(text[end]) { end += 1 }
    while end > colon + 1,
      text[end - 1] == UInt8(ascii: ".") || text[end - 1] == UInt8(ascii: ":") || text[end - 1] == UInt8(ascii: "-")
    {
      end -= 1
    }
    guard let target = Permalink.Target(ByteString(decoding: text[position..<end])) else { return false }
    let link = Permalink(target)
    note(link)
    addAutolink(target: Array(link.matrixTo.utf8), shown: position..<end)
    position = end
    return true
  }

  private func isLocalpart(_ byte: UInt8) -> Bool {
    byte &- 48 < 10 || (byte | 0x20) &- 97 < 26
      || [UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "="), UInt8(ascii: "-"), UInt8(ascii: "/"), UInt8(ascii: "+")]
        .contains(byte)
  }

  private func isServer(_ byte: UInt8) -> Bool {
    byte &- 48 < 10 || (byte | 0x20) &- 97 < 26 || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
      || byte == UInt8(ascii: ":")
  }
}
