import MatrixModel
import RoomRules

extension StoredEvent: RoomEvent {
  /// Of stored events the rules look at state only, of which they need no predecessors.
  package var prevEvents: [EventID] { [] }
  package var namedRoomID: RoomID? { nil }
}
