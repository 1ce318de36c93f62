import ClientCore
import JSON
import MatrixModel

/// What later events say of earlier ones.
package struct ExportRelations: Sendable {
  /// Where a line stands in the file of events.
  package struct Place: Sendable {
    package let offset: Int64
    package let count: Int
    let timestampMilliseconds: Int64
  }

  struct Reaction: Sendable {
    let key: ByteString
    var count: Int
  }

  /// An edit counts only where its sender is the message's.
  private struct EditKey: Hashable {
    let message: EventID
    let sender: UserID
  }

  /// Edits, reactions and answered messages that are kept; further ones are not shown.
  private let limit: Int
  /// Kinds of reactions to one message.
  static let reactionsLimit = 100

  private var edits: [EditKey: Place] = [:]
  private var reactions: [EventID: [Reaction]] = [:]
  private var answered: Set<EventID> = []
  private var count = 0

  package init(limit: Int = 1_000_000) { self.limit = limit }

  /// - Parameters:
  ///   - offset: of its line in the file of events.
  ///   - bytes: of the line.
  package mutating func note(_ event: Event, at offset: Int64, count bytes: Int) {
    guard count < limit else { return }
    if let message = event.edit?.of, let sender = event.sender {
      let key = EditKey(message: message, sender: sender)
      let time = event.originServerTimestamp ?? 0
      guard edits[key].map({ $0.timestampMilliseconds <= time }) ?? true else { return }
      if edits.updateValue(Place(offset: offset, count: bytes, timestampMilliseconds: time), forKey: key) == nil { count += 1 }
    } else if let reaction = event.reaction {
      add(reaction.key, to: reaction.to)
    } else if let target = event.item?.replyTo, answered.insert(target).inserted {
      count += 1
    }
  }

  private mutating func add(_ key: ByteString, to message: EventID) {
    var all = reactions[message] ?? []
    if let i = all.firstIndex(where: { $0.key == key }) {
      all[i].count += 1
    } else if all.count < Self.reactionsLimit {
      all.append(Reaction(key: key, count: 1))
      count += 1
    }
    reactions[message] = all
  }

  /// Where the newest edit by the event's sender stands.
  package func edit(of event: Event) -> Place? {
    guard let id = event.eventID, let sender = event.sender else { return nil }
    return edits[EditKey(message: id, sender: sender)]
  }

  /// By first appearance.
  func reactions(to event: EventID) -> [Reaction] { reactions[event] ?? [] }

  /// Whether a reply quotes it.
  func isAnswered(_ event: EventID) -> Bool { answered.contains(event) }
}
