import JSON
import MatrixModel

/// Searches the messages of a room that the store holds, the newest first: in encrypted rooms no server can. It goes through all of them: a room has at
/// most `Limits.storedEvents`.
package struct StoredSearch: Sendable {
  private struct Edited: Hashable {
    let event: EventID
    let sender: UserID
  }

  private let room: RoomID
  private let words: SoughtWords
  /// The segment that was read last.
  private var last: ByteString?
  private var isAtEnd: Bool
  /// What is newer than the messages it is about.
  private var redacted: Set<EventID> = []
  private var edits: [Edited: MessageContent] = [:]

  /// Without a word nothing is found.
  package init(_ text: ByteString, in room: RoomID) {
    self.room = room
    words = SoughtWords(text)
    isAtEnd = words.isEmpty
  }

  /// The records to read next; nil at the end.
  package var nextRange: StoreRange? {
    guard !isAtEnd else { return nil }
    return StoreRange(prefix: StoreKey.timeline(of: room), before: last, isDescending: true, limit: Limits.loadedSegments)
  }

  /// - Parameter records: of `nextRange`, decrypted as far as there are keys.
  /// - Returns: the messages that have all words, as they are now.
  package mutating func take(_ records: [StoreRecord]) -> [StoredMatch] {
    guard let oldest = records.last else {
      isAtEnd = true
      return []
    }
    last = oldest.key
    var matches: [StoredMatch] = []
    for record in records {
      for event in (Segment(record)?.events ?? []).reversed() { if let match = take(event) { matches.append(match) } }
    }
    return matches
  }

  private mutating func take(_ event: TimelineEvent) -> StoredMatch? {
    switch event.kind {
    case .redaction(let target): redacted.insert(target)
    case .edit(let target, let content):
      let edited = Edited(event: target, sender: event.sender)
      if !redacted.contains(event.eventID), edits[edited] == nil { edits[edited] = content }
    case .item(.message(let original), _):
      guard !redacted.contains(event.eventID) else { return nil }
      let bundled = event.bundledEdit.flatMap { $0.sender == event.sender && !redacted.contains($0.eventID) ? $0.content : nil }
      let content = edits[Edited(event: event.eventID, sender: event.sender)] ?? bundled ?? original
      guard words.areFound(in: content.searchedTexts) else { return nil }
      return StoredMatch(
        eventID: event.eventID, sender: event.sender, timestampMilliseconds: event.timestampMilliseconds,
        threadRoot: event.threadRoot, content: content)
    default: break
    }
    return nil
  }
}

/// A message that a search in the store has found.
public struct StoredMatch: Sendable {
  public let eventID: EventID
  public let sender: UserID
  public let timestampMilliseconds: Int64
  /// The root of the thread it was said in.
  public let threadRoot: EventID?
  /// With its newest edit.
  public let content: MessageContent
}

extension MessageContent {
  /// What a person would look for: texts, captions, names of files, answers of a poll.
  fileprivate var searchedTexts: [ByteString] {
    var texts = [body]
    for part in [self] + gallery {
      if let attachment = part.attachment { texts.append(attachment.fileName) }
      if part.body != body { texts.append(part.body) }
    }
    for answer in poll?.answers ?? [] { texts.append(answer.text) }
    return texts
  }
}
