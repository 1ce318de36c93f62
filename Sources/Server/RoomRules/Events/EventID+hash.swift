import JSON
import MatrixModel

extension EventID {
  /// `$` and the reference hash. Spec: "Event IDs" of room version 4.
  package init(hash: [UInt8]) {
    self.init(trusted: ByteString(decoding: [UInt8(ascii: "$")] + UnpaddedBase64.encode(hash, .urlSafe)))
  }

  /// The create event of a room whose ID is its hash. Spec: room version 12, "Event format".
  package init(createEventOf room: RoomID) {
    self.init(trusted: ByteString(decoding: [UInt8(ascii: "$")] + room.text.utf8.dropFirst()))
  }
}

extension RoomID {
  /// The room that a create event makes, where the room ID is its hash. Spec: room version 12, "Event format".
  package init(createEvent: EventID) {
    self.init(trusted: ByteString(decoding: [UInt8(ascii: "!")] + createEvent.text.utf8.dropFirst()))
  }
}
