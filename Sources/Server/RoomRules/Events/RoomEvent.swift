import JSON
import MatrixModel

/// What the authorization rules look at: a signed `PDU`, or an `EventDraft` before it is worth signing.
package protocol RoomEvent: Sendable {
  var type: EventType { get }
  var sender: UserID { get }
  /// nil for events that are not state.
  var stateKey: ByteString? { get }
  var content: JSON { get }
  var prevEvents: [EventID] { get }
  /// `room_id` as it stands in the event: nil for the create event of versions where the room ID is its hash.
  var namedRoomID: RoomID? { get }
}

extension RoomEvent {
  /// nil for events that are not state.
  package var stateMapKey: StateMapKey? { stateKey.map { StateMapKey(type, $0) } }
}
