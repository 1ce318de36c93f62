import MatrixModel

extension EventType {
  // The names that clients in use send (MSC3381, MSC3672).
  static let unstablePollStart: EventType = "org.matrix.msc3381.poll.start"
  static let unstablePollResponse: EventType = "org.matrix.msc3381.poll.response"
  static let unstablePollEnd: EventType = "org.matrix.msc3381.poll.end"
  static let unstableBeacon: EventType = "org.matrix.msc3672.beacon"
  static let unstableBeaconInfo: EventType = "org.matrix.msc3672.beacon_info"
}
