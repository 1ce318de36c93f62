import ClientCore
import JSON
import MatrixModel
import Messenger

/// What a text that begins with `/` asks for.
enum SlashCommand {
  case message(Written)
  case command((Room) -> Command?)
  /// It lacks something: how it is used.
  case wrong(String)
  /// None of the client's: its name, and what is behind it.
  case unknown(String, String)

  static let names: [StaticString] = [
    "me", "shrug", "plain", "invite", "kick", "ban", "topic", "nick", "join", "leave", "silent"
  ]

  init(_ text: String) {
    let bytes = ByteString(text)
    guard bytes.hasPrefix("/") else {
      self = .message(Written(text: text))
      return
    }
    // Two slashes stand for one literal slash.
    if bytes.hasPrefix("//") {
      self = .message(Written(text: String(decoding: bytes.utf8.dropFirst(), as: UTF8.self)))
      return
    }
    let end = bytes.utf8.firstIndex { $0 <= 0x20 } ?? bytes.count
    let name = ByteString(decoding: bytes.utf8[1..<end])
    // A path is not a command.
    if name.utf8.contains(UInt8(ascii: "/")) || name.isEmpty {
      self = .message(Written(text: text))
      return
    }
    self = SlashCommand.read(name, String(decoding: bytes.utf8[end...], as: UTF8.self).trimmed)
  }

  private static func read(_ name: ByteString, _ rest: String) -> SlashCommand {
    let isEmpty = rest.utf8.isEmpty
    let (first, reason) = split(rest)
    if name == "me" { return isEmpty ? .wrong("/me …") : .message(Written(text: rest, style: .emote)) }
    if name == "plain" { return isEmpty ? .wrong("/plain …") : .message(Written(text: rest, isPlain: true)) }
    if name == "shrug" { return .message(Written(text: rest + (isEmpty ? "" : " ") + "¯\\_(ツ)_/¯", isPlain: true)) }
    if name == "silent" { return isEmpty ? .wrong("/silent …") : SlashCommand(rest).silently }
    if name == "leave" { return .command { .rooms(.leave($0.id)) } }
    if name == "topic" { return isEmpty ? .wrong("/topic …") : .command { .rooms(.setTopic($0.id, ByteString(rest))) } }
    if name == "nick" { return isEmpty ? .wrong("/nick …") : .command { _ in .account(.setDisplayName(ByteString(rest))) } }
    if name == "join" { return isEmpty ? .wrong("/join #room:server") : .command { _ in .rooms(.join(ByteString(rest))) } }
    guard name == "invite" || name == "kick" || name == "ban" else { return .unknown(name.string, rest) }
    guard let user = UserID(first) else { return .wrong("/" + name.string + " @user:server") }
    if name == "invite" { return .command { .people(.invite($0.id, user: user.text)) } }
    let why = reason.isEmpty ? nil : reason
    return name == "kick"
      ? .command { .people(.kick($0.id, user, reason: why)) } : .command { .people(.ban($0.id, user, reason: why)) }
  }

  /// What is said this way is said so that nobody is notified.
  private var silently: SlashCommand {
    guard case .message(var written) = self else { return self }
    written.isSilent = true
    return .message(written)
  }

  private static func split(_ text: String) -> (ByteString, ByteString) {
    let bytes = Array(text.utf8)
    let end = bytes.firstIndex { $0 <= 0x20 } ?? bytes.count
    return (ByteString(decoding: bytes[..<end]), ByteString(String(decoding: bytes[end...], as: UTF8.self).trimmed))
  }
}

/// `@Name` of a member becomes a link to them, which Markdown makes a mention.
enum MentionWriting {
  /// O(text + at signs · names).
  static func linked(_ text: String, _ names: [(name: [UInt8], user: UserID)]) -> String {
    let bytes = Array(text.utf8)
    guard bytes.contains(UInt8(ascii: "@")) else { return text }
    var out: [UInt8] = []
    var index = 0
    while index < bytes.count {
      guard let found = named(names, bytes, index) else {
        out.append(bytes[index])
        index += 1
        continue
      }
      // The sign stays, so that an edit finds the name again.
      out += Array("[@".utf8)
      for byte in found.name {
        if byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: "\\") {
          out.append(UInt8(ascii: "\\"))
        }
        out.append(byte)
      }
      out += Array("](".utf8) + Permalink(.user(found.user)).matrixTo.utf8 + [UInt8(ascii: ")")]
      index += 1 + found.name.count
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// Which of the words the text has behind `@`: the longest one at each place.
  static func called(_ words: [[UInt8]], in text: String) -> [Int] {
    let bytes = Array(text.utf8)
    let names = words.map { (name: $0, user: UserID(trusted: "")) }
    var called: [Int] = []
    for index in bytes.indices {
      guard let found = named(names, bytes, index), let word = words.firstIndex(of: found.name) else { continue }
      if !called.contains(word) { called.append(word) }
    }
    return called
  }

  /// The name that an `@` there begins.
  private static func named(
    _ names: [(name: [UInt8], user: UserID)], _ text: [UInt8], _ at: Int
  ) -> (name: [UInt8], user: UserID)? {
    guard text[at] == UInt8(ascii: "@"), at == 0 || text[at - 1] <= 0x20 || text[at - 1] == UInt8(ascii: "(") else {
      return nil
    }
    return longest(names, text, at + 1)
  }

  private static func longest(
    _ names: [(name: [UInt8], user: UserID)], _ text: [UInt8], _ start: Int
  ) -> (name: [UInt8], user: UserID)? {
    var best: (name: [UInt8], user: UserID)?
    for entry in names {
      let end = start + entry.name.count
      guard end <= text.count, entry.name.count > best?.name.count ?? 0, text[start..<end].elementsEqual(entry.name) else {
        continue
      }
      // In the middle of a word it is another one.
      let next = text[end...].prefix { $0 == UInt8(ascii: "-") }.endIndex
      if next < text.count, isWord(text[next]) { continue }
      best = entry
    }
    return best
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    byte >= 0x80 || byte >= 0x30 && byte <= 0x39 || byte == UInt8(ascii: "_") || byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A
  }
}
