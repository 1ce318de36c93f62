import Messenger

/// Made-up conversations, the same ones every time.
struct Generator {
  private var state: UInt32
  private var timeMilliseconds: Int64
  private var nextID: UInt64
  private var sender = 1
  static let senders: [Sender] = [
    Sender(id: "@me:example.org", name: "Me", isOwn: true),
    Sender(id: "@alice:example.org", name: "Alice", isOwn: false),
    Sender(id: "@boris:example.org", name: "Борис", isOwn: false),
    Sender(id: "@chloe:example.org", name: "Chloé Martin", isOwn: false),
    Sender(id: "@daisuke:example.org", name: "大輔", isOwn: false),
    Sender(id: "@eve:example.org", name: "Eve 🦊", isOwn: false)
  ]
  private static let words: [String] = [
    "the", "release", "is", "ready", "please", "look", "at", "it", "tomorrow", "coffee", "naïve", "straße", "сообщение",
    "привет", "日本語", "ok", "thanks", "maybe", "later", "today", "call", "screen", "photo", "weekend", "train", "music",
    "garden", "window", "message", "timeline", "😀", "👍", "🎉", "👩‍👩‍👧", "🚀"
  ]

  init(seed: UInt32, timeMilliseconds: Int64, firstID: UInt64) {
    state = seed
    self.timeMilliseconds = timeMilliseconds
    nextID = firstID
  }

  private mutating func number(_ limit: UInt32) -> UInt32 {
    state = state &* 1_664_525 &+ 1_013_904_223
    return (state >> 8) % limit
  }

  mutating func next() -> TimelineRow {
    if number(10) >= 6 { sender = Int(number(6)) }
    timeMilliseconds += Int64(1 + number(240)) * 1000
    if number(60) == 0 { timeMilliseconds += 6 * 3_600_000 }
    let isImage = number(25) == 0
    var text = ""
    for word in 0..<(number(8) == 0 ? 20 + number(60) : 1 + number(15)) {
      if word > 0 { text += " " }
      text += Generator.words[Int(number(UInt32(Generator.words.count)))]
    }
    if number(30) == 0 { text += " https://example.org/\(nextID)" }
    let body: MessageRow.Body =
      isImage
      ? .image(
        ImageBody(name: "photo", thumbnail: nil, width: Int(200 + number(2000)), height: Int(200 + number(1500))))
      : .text(text)
    defer { nextID += 1 }
    return TimelineRow(
      id: RowID(nextID), timestampMilliseconds: timeMilliseconds,
      content: .message(MessageRow(sender: Generator.senders[sender], body: body)))
  }

  mutating func rows(_ count: Int) -> [TimelineRow] {
    var rows: [TimelineRow] = []
    rows.reserveCapacity(count)
    for _ in 0..<count { rows.append(next()) }
    return rows
  }
}
