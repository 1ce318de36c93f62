import JSON
import MatrixModel

/// Events of a room that the account keeps for itself under a tag (`m.favourite`, `m.hidden`): the room account data `m.tagged_events`.
/// MSC2437.
public struct TaggedEvents: Sendable {
  public private(set) var tags: [ByteString: [EventID]] = [:]
  /// What was said with each, by tag and event.
  private var details: [ByteString: [EventID: [UInt8]]] = [:]

  public static let type: EventType = "m.tagged_events"
  /// The tag of saved messages.
  public static let favourite: ByteString = "m.favourite"

  public init() {}

  public init(_ content: JSON) {
    guard let listed = content["tags"] else { return }
    for tag in listed.members {
      for member in tag.value.members.prefix(Limits.taggedEvents) {
        guard let event = EventID(member.key) else { continue }
        tags[tag.key, default: []].append(event)
        details[tag.key, default: [:]][event] = Array(member.value.bytes)
      }
    }
  }

  /// When the event got the tag, in milliseconds since 1970; 0 if nobody knows.
  public func time(of event: EventID, tag: ByteString) -> Int64 {
    details[tag]?[event].flatMap { try? JSON.parse($0) }?.integer("tagged_at") ?? 0
  }

  public func has(_ event: EventID, tag: ByteString) -> Bool { tags[tag]?.contains(event) ?? false }

  /// - Parameter now: milliseconds since 1970.
  public mutating func set(_ event: EventID, tag: ByteString, now: Int64) {
    guard !has(event, tag: tag) else { return }
    tags[tag, default: []].append(event)
    details[tag, default: [:]][event] = JSONWriter.object { $0.member("tagged_at", now) }
  }

  public mutating func remove(_ event: EventID, tag: ByteString) {
    tags[tag]?.removeAll { $0 == event }
    if tags[tag]?.isEmpty ?? false { tags[tag] = nil }
  }

  public var content: [UInt8] {
    JSONWriter.object { writer in
      writer.key("tags")
      writer.object { writer in
        for (tag, events) in tags.ordered(by: { $0.key < $1.key }) {
          writer.key(tag)
          writer.object { writer in
            for event in events {
              writer.key(event.text)
              writer.raw(details[tag]?[event] ?? Array("{}".utf8))
            }
          }
        }
      }
    }
  }
}
