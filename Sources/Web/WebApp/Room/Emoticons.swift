import ClientCore
import JSON
import MatrixModel
import PageWidgets
import PageWords

/// Pictures that may stand in a text under a name, as the packs of the account and of the room one writes in have them. They are asked for
/// when somebody first writes a colon there.
struct Emoticons {
  /// Of all packs together.
  private static let limit = 1_000

  private(set) var all: [ImagePack.Emoticon] = []
  fileprivate var room: RoomID?
  /// Called when there are more.
  fileprivate var waiting: [() -> Void] = []
  fileprivate var isLoading = false

  mutating func forget() { self = Emoticons() }

  fileprivate mutating func end() {
    isLoading = false
    waiting = []
  }

  subscript(name: ByteString) -> MediaURI? {
    for emoticon in all where emoticon.shortcode == name { return emoticon.source }
    return nil
  }

  /// Those with the text in their names; all for an empty one.
  func matching(_ text: String, limit: Int) -> [ImagePack.Emoticon] {
    let wanted = text.asciiLowercased
    return Array(all.filter { Match.rank($0.shortcode.string.asciiLowercased, wanted) != nil }.prefix(limit))
  }

  /// Of several of one name the first stays: that of the account, of the room, of others.
  /// - Parameter title: of the pack.
  fileprivate mutating func add(_ pack: ImagePack, _ title: String) {
    for var emoticon in pack.emoticons where all.count < Emoticons.limit && self[emoticon.shortcode] == nil {
      emoticon.pack = ByteString(title)
      all.append(emoticon)
    }
  }
}

extension App {
  /// Of one without a name that of its room.
  func title(of pack: ImagePack) -> String {
    if !pack.name.isEmpty { return pack.name.string }
    return pack.room.flatMap { client.room($0) }.map { Strings.words(for: $0.name) } ?? Strings[.ownStickers]
  }

  /// Calls `then` when there are more; not where they are here.
  func loadEmoticons(of room: RoomID, _ then: @escaping () -> Void) {
    if emoticons.room != room {
      emoticons.forget()
      emoticons.room = room
      emoticons.isLoading = true
      loadEmoticons(of: [room], for: room)
    }
    if emoticons.isLoading { emoticons.waiting.append(then) }
  }

  /// - Parameter rooms: itself first; those whose packs the account wants everywhere come behind.
  private func loadEmoticons(of rooms: [RoomID], for room: RoomID) {
    ask(.imagePacks(in: rooms)) { [self] result in
      guard emoticons.room == room else { return }
      // Asked again in the next room.
      guard case .success(let found) = result else { return emoticons.end() }
      let isFirst = rooms.first == room
      let count = emoticons.all.count
      for pack in found.packs where isFirst || pack.room != nil { emoticons.add(pack, title(of: pack)) }
      if emoticons.all.count > count {
        for then in emoticons.waiting { then() }
      }
      let others = found.rooms.filter { $0 != room }
      if isFirst, !others.isEmpty { loadEmoticons(of: others, for: room) } else { emoticons.end() }
    }
  }
}
