import JSON
import MatrixModel

/// An event of a stored segment, as far as a search needs it.
package struct StoredEvent: Sendable {
  package enum Kind: Sendable {
    /// With the newest edit that the server sent along.
    case message(StoredMatch)
    case edit(EventID, MessageContent)
    case redaction(EventID)
    /// Its key was not there when it came.
    case undecryptable
  }

  /// Among the events of the segment's record, from 0 on.
  package let place: Int
  package let eventID: EventID
  package let sender: UserID
  package let kind: Kind
  /// Whether it came encrypted.
  package let wasEncrypted: Bool

  /// nil for all other events.
  fileprivate init?(_ json: JSON, place: Int) {
    guard let event = TimelineEvent(json) else { return nil }
    switch event.kind {
    case .item(.message(let original), _):
      let bundled = event.bundledEdit.flatMap { $0.sender == event.sender ? $0.content : nil }
      kind = .message(
        StoredMatch(
          eventID: event.eventID, sender: event.sender, timestampMilliseconds: event.timestampMilliseconds,
          threadRoot: event.threadRoot, content: bundled ?? original))
    case .item(.undecryptable, _): kind = .undecryptable
    case .edit(let target, let content): kind = .edit(target, content)
    case .redaction(let target): kind = .redaction(target)
    default: return nil
    }
    self.place = place
    eventID = event.eventID
    sender = event.sender
    wasEncrypted = event.wasEncrypted
  }
}

extension TimelineRecord {
  /// Returns what a search needs of the events of a segment, the oldest first. Empty for a damaged record.
  /// - Parameter isWanted: whether the event at that place is to be read.
  package static func events(of record: StoreRecord, where isWanted: (Int) -> Bool = { _ in true }) -> [StoredEvent] {
    guard let listed = Answer.parse(record.value)?["events"], listed.isArray else { return [] }
    var events: [StoredEvent] = []
    var place = 0
    for json in listed.elements {
      if isWanted(place), let event = StoredEvent(json, place: place) { events.append(event) }
      place += 1
    }
    return events
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

  package func edited(_ content: MessageContent) -> StoredMatch {
    StoredMatch(
      eventID: eventID, sender: sender, timestampMilliseconds: timestampMilliseconds, threadRoot: threadRoot, content: content)
  }
}

extension MessageContent {
  /// What a person would look for: texts, captions, names of files, answers of a poll.
  package var searchedTexts: [ByteString] {
    var texts = [body]
    for part in [self] + gallery {
      if let attachment = part.attachment { texts.append(attachment.fileName) }
      if part.body != body { texts.append(part.body) }
    }
    for answer in poll?.answers ?? [] { texts.append(answer.text) }
    return texts
  }
}
