import MatrixModel

/// Events whose keys have not come. They are in memory only: what is forgotten here is asked for again when it is shown again.
struct WaitingEvents: Sendable {
  static let eventsOfSession = 200, sessionLimit = 2_000

  private var events: [RoomKeys.Name: [EncryptedEvent]] = [:]

  /// The newest of a session stay.
  mutating func add(_ event: EncryptedEvent) {
    var known = events[event.name] ?? []
    guard !known.isEmpty || events.count < Self.sessionLimit else { return }
    known.removeAll { $0.id == event.id }
    if known.count >= Self.eventsOfSession { known.removeFirst() }
    known.append(event)
    events[event.name] = known
  }

  mutating func take(_ name: RoomKeys.Name) -> [EncryptedEvent] { events.removeValue(forKey: name) ?? [] }
}
