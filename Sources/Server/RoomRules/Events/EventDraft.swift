import JSON
import MatrixModel

/// An event that is about to be built: all that its sender decides, before hashes and signature.
package struct EventDraft: RoomEvent {
  package var version: RoomVersion
  /// nil for `m.room.create` of versions where the room ID is the create event's hash.
  package var roomID: RoomID?
  package var type: EventType
  package var sender: UserID
  package var stateKey: ByteString?
  package var content: JSON
  /// The event that a redaction redacts, for versions where it stands on the top level; elsewhere it is in `content`.
  package var redacts: EventID?
  package var prevEvents: [EventID]
  package var authEvents: [EventID]
  package var depth: Int64
  /// Milliseconds since 1970.
  package var originServerTimestamp: Int64

  package init(
    version: RoomVersion, roomID: RoomID?, type: EventType, sender: UserID, stateKey: ByteString? = nil, content: JSON,
    redacts: EventID? = nil, prevEvents: [EventID] = [], authEvents: [EventID] = [], depth: Int64 = 1,
    originServerTimestamp: Int64
  ) {
    self.version = version
    self.roomID = roomID
    self.type = type
    self.sender = sender
    self.stateKey = stateKey
    self.content = content
    self.redacts = redacts
    self.prevEvents = prevEvents
    self.authEvents = authEvents
    self.depth = depth
    self.originServerTimestamp = originServerTimestamp
  }

  package var namedRoomID: RoomID? { roomID }
}
