import JSON
import MatrixModel

/// An event as the server sent it, unknown fields and all.
public struct EventSource: Sendable {
  /// A JSON object.
  public let bytes: [UInt8]

  /// nil where the bytes are no JSON: then the server or store is at fault.
  public var json: JSON? { Answer.parse(bytes) }
}

/// Events that were asked for by their ID. The last ones stay, so that a second look costs no request.
struct EventSources: Sendable {
  struct Key: Hashable, Sendable {
    let room: RoomID
    let event: EventID
  }

  /// What an event is wanted for.
  enum Purpose: Sendable {
    case command(CommandID)
    case quote(RoomID, CommandID)
    case threadRoot(TimelineKey)
    case pin(TimelineKey)
  }

  private var known: [Key: [UInt8]] = [:]
  /// The oldest first.
  private var order: [Key] = []
  private var byteCount = 0
  /// Who waits for an event: one request for all.
  var waiting: [Key: [Purpose]] = [:]

  subscript(key: Key) -> [UInt8]? { known[key] }

  mutating func keep(_ bytes: [UInt8], _ key: Key) {
    forget(key)
    guard bytes.count <= Limits.eventSourceBytes else { return }
    known[key] = bytes
    order.append(key)
    byteCount += bytes.count
    while order.count > Limits.eventSources || byteCount > Limits.eventSourceBytes, let oldest = order.first {
      forget(oldest)
    }
  }

  mutating func forget(_ key: Key) {
    guard let bytes = known.removeValue(forKey: key) else { return }
    byteCount -= bytes.count
    order.removeAll { $0 == key }
  }
}
