import MatrixModel

extension StoredEvent {
  /// What counts as somebody saying something, as clients sort rooms by it: MSC4186, `bump_stamp`.
  package static let activityTypes: Set<EventType> = [
    .create, .message, .encrypted, .sticker, "m.call.invite", "m.poll.start", "org.matrix.msc3381.poll.start",
    "m.beacon_info", "org.matrix.msc3672.beacon_info"
  ]

  package var isActivity: Bool { Self.activityTypes.contains(type) }
}
