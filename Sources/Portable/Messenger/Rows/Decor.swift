/// What a row looks like beyond its content; most of it comes from its neighbours.
struct Decor: OptionSet, Sendable {
  let rawValue: UInt32
  /// A date separator above.
  static let date = Decor(rawValue: 1)
  /// The "new messages" divider above.
  static let divider = Decor(rawValue: 2)
  /// First of its group: avatar and name.
  static let first = Decor(rawValue: 4)
  /// Last of its group: time.
  static let last = Decor(rawValue: 8)
  static let own = Decor(rawValue: 16)
  static let pending = Decor(rawValue: 32)
  static let failed = Decor(rawValue: 64)
  /// Of a program, or a placeholder for what cannot be shown.
  static let quiet = Decor(rawValue: 128)
  static let emote = Decor(rawValue: 256)
  /// Comes in moving.
  static let entering = Decor(rawValue: 512)
  /// Someone jumped here.
  static let highlighted = Decor(rawValue: 1024)
  /// Parts stand in the bubble, each with its own margins.
  static let composed = Decor(rawValue: 2048)
  /// The bubble is as wide as a picture in it.
  static let media = Decor(rawValue: 4096)
  /// No bubble.
  static let bare = Decor(rawValue: 8192)
  /// Someone read it.
  static let read = Decor(rawValue: 16384)
  /// Has an avatar beside it.
  static let avatar = Decor(rawValue: 32768)
  /// How it comes in.
  static let fading = Decor(rawValue: 65536)
  static let sliding = Decor(rawValue: 131072)
  /// Comes in once the others made room.
  static let late = Decor(rawValue: 262144)
  /// Comes from where it was: two names, so that one motion can follow the other.
  static let shifted = Decor(rawValue: 524288)
  static let shiftedAgain = Decor(rawValue: 1_048_576)
  /// Its avatar comes from another row.
  static let gliding = Decor(rawValue: 2_097_152)
  /// Its file is on the way up or waits for that: it can be given up.
  static let uploading = Decor(rawValue: 4_194_304)
  /// Stands beneath the message it answers, without a quote of it.
  static let beneath = Decor(rawValue: 8_388_608)
  /// The newest message of the reader's own: what became of it stands below it.
  static let told = Decor(rawValue: 16_777_216)
  /// Rows are being chosen, and this one can be.
  static let selectable = Decor(rawValue: 33_554_432)
  static let selected = Decor(rawValue: 67_108_864)

  /// What stands above what a row says, or takes it away: date, divider, name, quote.
  static let heading = Decor(rawValue: 1 | 2 | 4 | 8_388_608)

  /// How a row came in, or from where: what goes does none of it once more.
  static let moving = Decor(rawValue: 512 | 65536 | 131_072 | 262_144 | 524_288 | 1_048_576 | 2_097_152)

  private static let classes: [(Decor, String)] = [
    (.date, " mg-has-date"), (.divider, " mg-has-divider"), (.first, " mg-first"), (.last, " mg-last"),
    (.own, " mg-own"),
    (.pending, " mg-pending"), (.failed, " mg-failed"), (.quiet, " mg-quiet"), (.emote, " mg-emote"),
    (.entering, " mg-entering"), (.highlighted, " mg-highlighted"), (.composed, " mg-composed"), (.media, " mg-media"),
    (.bare, " mg-bare"), (.read, " mg-read"), (.avatar, " mg-has-avatar"),
    (.fading, " mg-fading"), (.sliding, " mg-sliding"), (.late, " mg-late"), (.shifted, " mg-shifted"),
    (.shiftedAgain, " mg-shifted-again"), (.gliding, " mg-gliding"),
    (.uploading, " mg-uploading"), (.beneath, " mg-beneath"),
    (.selectable, " mg-selectable"), (.selected, " mg-selected")
  ]

  /// The class list of a row's element.
  func classList(_ kind: RowKind) -> String { "mg-row " + kind.className + classes }

  var classes: String {
    var list = ""
    for (decor, name) in Decor.classes where contains(decor) { list += name }
    return list
  }
}

/// The templates of rows.
enum RowKind: Int, Sendable {
  case message = 0
  case line, gap

  static let count = 3

  var className: String {
    switch self {
    case .message: "mg-message"
    case .line: "mg-line"
    case .gap: "mg-gap"
    }
  }

  init(_ content: TimelineRow.Content) {
    switch content {
    case .message: self = .message
    case .line, .fold, .offer: self = .line
    case .gap: self = .gap
    }
  }
}

extension Decor {
  /// What a body of parts looks like.
  init(_ parts: [ContentPart], _ tone: MessageRow.Tone) {
    self = .composed
    if tone == .notice { insert(.quiet) }
    if tone == .emote { insert(.emote) }
    for part in parts {
      switch part {
      case .image, .video, .gallery: insert(.media)
      case .sticker: if parts.count == 1 { formUnion([.media, .bare]) }
      default: break
      }
    }
  }
}

extension RowStore {
  /// The decoration of a row among its present neighbours.
  func decor(at index: Int, divider: RowID?, groupingMilliseconds: Int64, avatars: AvatarPlace) -> Decor {
    var decor: Decor = []
    let isDivided = divider != nil && entries[index].row.id == divider
    if entries[index].isAnswer { decor.insert(.beneath) } else if beginsDay(index) { decor.insert(.date) }
    if isDivided { decor.insert(.divider) }
    decor.formUnion(own(index))
    guard entries[index].author != 0 else { return decor }
    if index == 0 || isDivided || !isGroup(index - 1, index, groupingMilliseconds) { decor.insert(.first) }
    if index + 1 == count || (divider != nil && entries[index + 1].row.id == divider)
      || !isGroup(index, index + 1, groupingMilliseconds)
    {
      decor.insert(.last)
    }
    if hasAvatar(decor, avatars) { decor.insert(.avatar) }
    return decor
  }

  /// Answers stand with the day of what they answer.
  private func beginsDay(_ index: Int) -> Bool {
    var before = index - 1
    while before > 0, entries[before].isAnswer { before -= 1 }
    return before < 0 || entries[before].day != entries[index].day
  }

  private func hasAvatar(_ decor: Decor, _ avatars: AvatarPlace) -> Bool {
    guard !decor.contains(.own) else { return false }
    return switch avatars {
    case .none: false
    case .everyMessage: true
    case .groupStart: decor.contains(.first)
    case .groupEnd: decor.contains(.last)
    }
  }

  /// What comes from the row itself.
  private func own(_ index: Int) -> Decor {
    switch entries[index].row.content {
    case .line, .fold, .offer: return []
    case .gap(let state): return state == .loading ? .pending : []
    case .message(let message):
      var decor: Decor = message.sender.isOwn ? .own : []
      switch message.sendState {
      case .sent: break
      case .sending, .queued: decor.insert(.pending)
      case .failed: decor.insert(.failed)
      }
      switch message.body {
      case .notice, .redacted, .undecryptable, .unsupported: decor.insert(.quiet)
      case .emote: decor.insert(.emote)
      case .parts(let parts, let tone):
        decor.formUnion(Decor(parts, tone))
        if decor.contains(.pending), parts.contains(where: { $0.isFile }) { decor.insert(.uploading) }
      case .text: break
      }
      if message.receipt == .read { decor.insert(.read) }
      if let around = message.surroundings, around.reply != nil || !around.header.utf8.isEmpty { decor.insert(.composed) }
      return decor
    }
  }

  /// Two neighbours of one sender, on one day, less than the grouping time apart.
  private func isGroup(_ a: Int, _ b: Int, _ groupingMilliseconds: Int64) -> Bool {
    guard entries[a].day == entries[b].day, entries[a].author == entries[b].author, entries[a].author != 0,
      entries[a].isAnswer == entries[b].isAnswer
    else { return false }
    let (apart, overflows) = entries[b].row.timestampMilliseconds.subtractingReportingOverflow(
      entries[a].row.timestampMilliseconds)
    return !overflows && apart.magnitude < groupingMilliseconds.magnitude
  }
}
