import Messenger
import WebHost

/// Which emoji this person uses: the last picks, the newest first, as the browser keeps them.
struct EmojiHabits {
  /// Of how many picks is remembered.
  private static var limit: Int { 64 }
  private(set) var picks: [String]

  /// - Parameter kept: picks with blanks between them.
  init(_ kept: String = Host.setting(Settings.emojiPicks) ?? "") {
    picks = Array(kept.utf8).split(separator: 0x20).prefix(Self.limit).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Pictures of packs, which have names between colons, are not counted: other rooms do not have them.
  mutating func pick(_ emoji: String) {
    guard emoji.utf8.first != UInt8(ascii: ":") else { return }
    picks.insert(emoji, at: 0)
    picks.removeLast(max(0, picks.count - Self.limit))
    Host.setSetting(Settings.emojiPicks, picks.joined(separator: " "))
  }

  /// Those that were picked most, the newest first among equals, then what most people use.
  func favourites(_ count: Int, besides common: [String]) -> [String] {
    var found: [(emoji: String, times: Int)] = []
    for pick in picks {
      if let index = found.firstIndex(where: { $0.emoji.hasSameBytes(as: pick) }) {
        found[index].times += 1
      } else {
        found.append((pick, 1))
      }
    }
    // Stable: equals stay in their order.
    var chosen: [String] = []
    for times in stride(from: Self.limit, to: 0, by: -1) {
      for entry in found where entry.times == times { chosen.append(entry.emoji) }
    }
    for emoji in common where !chosen.contains(where: { $0.hasSameBytes(as: emoji) }) { chosen.append(emoji) }
    return Array(chosen.prefix(count))
  }
}

extension EmojiHabits {
  /// What stands at a message before anything was picked.
  static var common: [String] { ["👍", "❤️", "😂", "🎉", "😮", "😢"] }

  var quick: [String] { favourites(6, besides: Self.common) }
}
