import JSON
import MatrixClient
import MatrixModel
import Transcripts

/// What `read --follow` has shown of a room: tells what is to be shown of an event that is new or different.
struct Transcript: Sendable {
  private var shown: [EventID: TranscriptEntry] = [:]
  private var order: [EventID] = []
  private var unshown: Set<EventID> = []

  /// Messages whose changes are shown.
  static let shownLimit = 10_000

  /// What stands before the first line is not shown, whatever becomes of it.
  mutating func leaveOut(_ items: [TimelineItem]) {
    for item in items { if let event = item.eventID, shown[event] == nil { unshown.insert(event) } }
  }

  /// The entry itself the first time, then what is different of it.
  mutating func take(_ entry: TranscriptEntry) -> [TranscriptLine] {
    if unshown.contains(entry.eventID) { return [] }
    guard let old = shown.updateValue(entry, forKey: entry.eventID) else {
      order.append(entry.eventID)
      if order.count > Self.shownLimit * 2 { forgetOldest() }
      return [.entry(entry)]
    }
    return old.changes(to: entry).map { .change($0) }
  }

  private mutating func forgetOldest() {
    for event in order.prefix(order.count - Self.shownLimit) { shown[event] = nil }
    order.removeFirst(order.count - Self.shownLimit)
  }
}

/// A line of `read`.
enum TranscriptLine: Sendable {
  case entry(TranscriptEntry)
  case change(TranscriptChange)
  /// - at: milliseconds since 1970.
  case keys(EncryptionEvent, at: Int64)

  var text: String {
    switch self {
    case .entry(let entry): entry.text
    case .change(let change): change.text(at: Clock.now())
    case .keys(let event, let time): event.text(at: time)
    }
  }

  func write(to writer: inout JSONWriter, in room: RoomID) {
    switch self {
    case .entry(let entry): entry.write(to: &writer, in: room)
    case .change(let change): change.write(to: &writer, in: room, at: Clock.now())
    case .keys(let event, let time): event.write(to: &writer, in: room, at: time)
    }
  }
}

/// What has become of a message after it was shown.
struct TranscriptChange: Sendable {
  enum Kind: Sendable {
    case edit
    /// Its content is gone.
    case redaction
    case reaction(key: String, by: UserID)
    case reactionRemoved(key: String, by: UserID)
  }

  let kind: Kind
  /// As it was shown.
  let old: TranscriptEntry
  let new: TranscriptEntry

  private static let quoteCharacters = 40

  /// With a line break.
  func text(at time: Int64) -> String {
    let lines = HarmlessText.lines(words).split(separator: "\n", omittingEmptySubsequences: false)
    return HarmlessText.line(Clock.text(time)) + "  -- " + lines.joined(separator: "\n    ") + "\n"
  }

  private var words: String {
    switch kind {
    case .edit: "\(new.sender) edited \(quote(old)) to: \(new.messageWords ?? "")"
    case .redaction: "the message \(quote(old)) of \(new.sender) was removed"
    // An edit that came with it was told before it.
    case .reaction(let key, let user): "\(user) reacted \(HarmlessText.line(key)) to \(quote(new)) of \(new.sender)"
    case .reactionRemoved(let key, let user):
      "\(user) took back \(HarmlessText.line(key)) from \(quote(new)) of \(new.sender)"
    }
  }

  /// How it begins.
  private func quote(_ entry: TranscriptEntry) -> String {
    let words = HarmlessText.line(entry.messageWords.map { $0.split(separator: "\n").first.map(String.init) ?? "" } ?? "")
    return words.count > Self.quoteCharacters ? "“\(words.prefix(Self.quoteCharacters))…”" : "“\(words)”"
  }

  /// `event_id` is that of the message.
  func write(to writer: inout JSONWriter, in room: RoomID, at time: Int64) {
    writer.member("room_id", room)
    writer.member("event_id", new.eventID)
    writer.member("seen_ts", time)
    switch kind {
    case .edit:
      writer.member("kind", "edit")
      writer.member("sender", new.sender)
      if case .message(let message) = new.content { writer.member("text", message.body) }
    case .redaction: writer.member("kind", "redaction")
    case .reaction(let key, let user):
      writer.member("kind", "reaction")
      writer.member("sender", user)
      writer.member("key", key)
    case .reactionRemoved(let key, let user):
      writer.member("kind", "reaction_removed")
      writer.member("sender", user)
      writer.member("key", key)
    }
  }
}

extension TranscriptEntry {
  /// nil for what is no message.
  var messageWords: String? {
    if case .message(let message) = content { message.words } else { nil }
  }

  /// What is different of the same event.
  func changes(to new: TranscriptEntry) -> [TranscriptChange] {
    func change(_ kind: TranscriptChange.Kind) -> TranscriptChange { TranscriptChange(kind: kind, old: self, new: new) }
    if case .redacted = new.content {
      // Its reactions go with it.
      if case .redacted = content { return [] }
      return [change(.redaction)]
    }
    var changes: [TranscriptChange] = []
    // An edit that was taken back shows what was there before.
    if new.messageWords != messageWords, new.isEdited || isEdited { changes.append(change(.edit)) }
    for reaction in new.reactions where !reactions.contains(reaction) {
      changes.append(change(.reaction(key: reaction.key, by: reaction.sender)))
    }
    for reaction in reactions where !new.reactions.contains(reaction) {
      changes.append(change(.reactionRemoved(key: reaction.key, by: reaction.sender)))
    }
    return changes
  }
}
