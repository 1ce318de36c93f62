import MatrixModel

/// How much history the store keeps, in all rooms.
struct StoredEvents: Sendable {
  var count = 0
  var bound = Limits.storedEventsInAll
  /// With more of them, quiet rooms give up theirs: the bound, or what was left when no room could give more.
  var limit = Limits.storedEventsInAll
  /// Those that are to give up theirs, the next one last.
  var quietRooms: [RoomID] = []
}
