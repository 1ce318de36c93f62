import JSON
import MatrixModel

/// What names one entry of a room's state: event type and state key.
package struct StateMapKey: Hashable, Sendable {
  package let type: EventType
  package let stateKey: ByteString

  package init(_ type: EventType, _ stateKey: ByteString = "") {
    self.type = type
    self.stateKey = stateKey
  }
}

extension StateMapKey: Comparable {
  package static func < (left: StateMapKey, right: StateMapKey) -> Bool {
    left.type == right.type ? left.stateKey < right.stateKey : left.type < right.type
  }
}
