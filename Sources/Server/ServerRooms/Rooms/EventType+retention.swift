import MatrixModel

extension EventType {
  /// MSC1763, "Per-room retention".
  package static let retention: EventType = "m.room.retention"
}
