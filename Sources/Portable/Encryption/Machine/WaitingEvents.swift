import MatrixModel

/// Events that cannot be read yet, and why. They are in memory only: what is forgotten here is asked for again when it is shown again.
struct WaitingEvents: Sendable {
  static let eventsOfSession = 200, sessionLimit = 2_000
  /// Sessions that are looked at again when more is known of devices.
  static let sessionsOfReview = 500

  struct Entry: Sendable {
    let event: EncryptedEvent
    let reason: Undecryptable
  }

  private var entries: [RoomKeys.Name: [Entry]] = [:]

  /// The newest of a session stay.
  mutating func add(_ event: EncryptedEvent, _ reason: Undecryptable) {
    var known = entries[event.name] ?? []
    guard !known.isEmpty || entries.count < Self.sessionLimit else { return }
    known.removeAll { $0.event.id == event.id }
    if known.count >= Self.eventsOfSession { known.removeFirst() }
    known.append(Entry(event: event, reason: reason))
    entries[event.name] = known
  }

  mutating func take(_ name: RoomKeys.Name) -> [Entry] { entries.removeValue(forKey: name) ?? [] }

  /// Sessions of somebody whose events have no key.
  func sessions(of sender: UserID) -> [RoomKeys.Name] {
    let names = entries.filter { $1.contains { $0.event.sender == sender && $0.reason == .missingKey } }.keys
    return Array(names.prefix(Self.sessionsOfReview))
  }

  /// Sessions of events whose reason may have changed.
  var trusting: [RoomKeys.Name] {
    let names = entries.filter { $1.contains { $0.reason.dependsOnTrust } }.keys
    return Array(names.prefix(Self.sessionsOfReview))
  }
}
