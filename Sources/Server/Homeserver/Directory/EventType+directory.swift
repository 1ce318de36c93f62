import MatrixModel

extension EventType {
  /// Spec: Client-Server API, "Spaces".
  package static let spaceChild: EventType = "m.space.child"
  /// MSC1763, "Per-room retention".
  package static let retention: EventType = "m.room.retention"
}
