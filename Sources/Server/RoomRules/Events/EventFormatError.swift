import JSON

/// Why something is not an event of its room version.
package enum EventFormatError: Error, Equatable, Sendable {
  /// Not JSON at all.
  case syntax(JSONError)
  /// A fraction, an integer out of range or a key that stands twice.
  case notCanonical
  /// More than `EventLimits.bytes`.
  case tooLarge(bytes: Int)
  /// A field that is missing or of another kind than the room version says.
  case field(StaticString)
  /// A field above its limit in `EventLimits`.
  case fieldTooLarge(StaticString)
  /// The event names its room though the room ID is its own hash.
  case createNamesRoom
  /// The create event stands in `auth_events` though the room ID implies it.
  case authEventsNameCreate

  /// A sentence for people.
  package var message: String {
    switch self {
    case .syntax: "The event is not JSON."
    case .notCanonical: "The event has a number with a fraction, a number out of range or a key twice."
    case .tooLarge(let bytes): "The event has \(bytes) bytes; \(EventLimits.bytes) are allowed."
    case .field(let name): "'\(name)' of the event is missing or malformed."
    case .fieldTooLarge(let name): "'\(name)' of the event is too large."
    case .createNamesRoom: "The create event of this room version has no 'room_id'."
    case .authEventsNameCreate: "'auth_events' must not contain the create event in this room version."
    }
  }

  /// Whether a limit was exceeded (`M_TOO_LARGE`), as against malformed (`M_BAD_JSON`).
  package var isTooLarge: Bool {
    switch self {
    case .tooLarge, .fieldTooLarge: true
    default: false
    }
  }

  package static func == (left: EventFormatError, right: EventFormatError) -> Bool {
    switch (left, right) {
    case (.syntax(let a), .syntax(let b)): a == b
    case (.tooLarge(let a), .tooLarge(let b)): a == b
    case (.field(let a), .field(let b)), (.fieldTooLarge(let a), .fieldTooLarge(let b)):
      ByteString("\(a)") == ByteString("\(b)")
    case (.notCanonical, .notCanonical), (.createNamesRoom, .createNamesRoom),
      (.authEventsNameCreate, .authEventsNameCreate):
      true
    default: false
    }
  }
}
