import Messenger
import PageWidgets
import WebHost

/// Emoji and what they are called: what a person picks from and what `:` completes. A file has them, a line each: `emoji names`. It is fetched
/// when they are first needed: `emoji.LANGUAGE.txt` with the names of Unicode's CLDR (`Scripts/emoji-names`), or else `Web/emoji.txt` with
/// English ones, which is kept for the time without a network.
struct Emoji: Equatable {
  /// As the file has them, each behind a line `#name`.
  enum Category: Int, CaseIterable {
    /// What most people use, until it is known what this person does. Each stands in its own category again.
    case often
    case people, nature, food, activities, travel, objects, symbols, flags
  }

  let text: String
  /// The names, with commas between them. The first is the one that is shown; the others are in small letters.
  let names: String
  var category = Category.often

  /// The first of the names.
  var name: String { String(decoding: names.utf8.prefix { $0 != UInt8(ascii: ",") }, as: UTF8.self) }

  /// Modifiers of the Fitzpatrick scale, behind none. Source: UTS #51, "Diversity".
  static var tones: [String] { ["", "🏻", "🏼", "🏽", "🏾", "🏿"] }

  /// With the modifier, in the place of the selector of its look, where it takes one: its last name ends in `*` then.
  func text(tone: String) -> String {
    let bytes = Array(text.utf8)
    guard !tone.utf8.isEmpty, Array(names.utf8).last == UInt8(ascii: "*"), let first = bytes.first else { return text }
    return String(decoding: bytes.prefix(first >= 0xF0 ? 4 : 3), as: UTF8.self) + tone
  }

  /// Parses the file. A line without names begins the next category or is empty.
  static func read(_ file: [UInt8]) -> [Emoji] {
    var all: [Emoji] = []
    var category = Category.often
    for line in file.split(separator: 0x0A) {
      guard let end = line.firstIndex(of: 0x20) else {
        let isFirst = all.isEmpty
        if line.first == UInt8(ascii: "#"), !isFirst { category = Category(rawValue: category.rawValue + 1) ?? category }
        continue
      }
      let (text, names) = (String(decoding: line[..<end], as: UTF8.self), String(decoding: line[(end + 1)...], as: UTF8.self))
      all.append(Emoji(text: text, names: names, category: category))
    }
    return all
  }

  /// Those that have a word that begins with the text, then those with the text anywhere; all for an empty one.
  static func matching(_ text: String, in all: [Emoji], limit: Int = .max) -> [Emoji] {
    let wanted = text.asciiLowercased
    if wanted.utf8.isEmpty { return all }
    var first: [Emoji] = []
    var others: [Emoji] = []
    // Those that are often used stand first, and once.
    let often = all.prefix { $0.category == .often }
    for emoji in all where emoji.category == .often || !often.contains(where: { $0.text.hasSameBytes(as: emoji.text) }) {
      switch Match.rank(emoji.names.asciiLowercased, wanted) {
      case .none: break
      case 0?, 1?: first.append(emoji)
      default: others.append(emoji)
      }
    }
    return Array((first + others).prefix(limit))
  }
}

/// The emoji, once they are here.
final class EmojiShelf {
  var all: [Emoji] = []
  var habits = EmojiHabits()
  private var waiting: [() -> Void] = []

  /// Calls `then` when they are here, or could not be had: at once, or later.
  func load(_ then: @escaping () -> Void) {
    guard all.isEmpty else { return then() }
    waiting.append(then)
    guard waiting.count == 1 else { return }
    let language = String(decoding: Host.language.utf8.prefix { $0 != UInt8(ascii: "-") }, as: UTF8.self)
    fetch(["emoji." + language + ".txt", "emoji.txt"])
  }

  /// The first of the files that is there.
  private func fetch(_ files: [String]) {
    guard let file = files.first else { return finish() }
    Host.fetch(HostRequest(method: "GET", url: file)) { [self] answer in
      guard answer.status == 200 else { return fetch(Array(files.dropFirst())) }
      all = Emoji.read(answer.body)
      finish()
    }
  }

  private func finish() {
    let told = waiting
    waiting = []
    for then in told { then() }
  }
}

enum ByteTable {
  static func bytes(_ text: StaticString) -> [UInt8] {
    Array(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}

/// How well a name fits what a person has typed.
enum Match {
  /// 0 where the name begins so, 1 where a word of it does, 2 where it stands anywhere; nil where it does not. Both in small letters.
  static func rank(_ name: String, _ wanted: String) -> Int? { rank(Array(name.utf8), Array(wanted.utf8)) }

  static func rank(_ name: [UInt8], _ wanted: [UInt8]) -> Int? {
    guard let first = wanted.first else { return 0 }
    var best: Int?
    var start = 0
    while start + wanted.count <= name.count {
      defer { start += 1 }
      guard name[start] == first, name[start..<start + wanted.count].elementsEqual(wanted) else { continue }
      if start == 0 { return 0 }
      if isBreak(name[start - 1]) { return 1 }
      best = 2
    }
    return best
  }

  private static func isBreak(_ byte: UInt8) -> Bool {
    byte < 0x80 && !(byte >= 0x30 && byte <= 0x39) && !(byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A)
  }
}
