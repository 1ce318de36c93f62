import MatrixModel
import ServerRooms

extension PushEvaluator {
  /// The evaluator of an event by what its room is now.
  package init(_ event: StoredEvent, in room: RoomSnapshot) {
    self.init(
      PushEvent(
        type: event.type, stateKey: event.stateKey, sender: event.sender, roomID: room.roomID, eventID: event.eventID,
        content: event.content, memberCount: room.joinedCount,
        senderPowerLevel: room.powerLevels.level(of: event.sender).value,
        notificationLevels: room[.powerLevels]?.content["notifications"]))
  }
}
