import JSON
import MatrixModel

/// A built event: its identity, its canonical bytes and the two fragments that storage keeps.
package struct SignedEvent: Sendable {
  package let eventID: EventID
  /// The draft's room ID, or for a create event that has none the one its hash makes.
  package let roomID: RoomID
  /// The whole event in canonical JSON, as other servers get it.
  package let bytes: [UInt8]
  package let fragments: EventFragments
}
