import MatrixModel

/// Events that cannot be read yet, and why. They are in memory only: what is forgotten here is asked for again when it is shown again.
struct WaitingEvents: Sendable {
  static let eventsOfSession = 200, sessionLimit = 2_000
  /// Sessions that are looked at again when more is known of devices.
  static let sessionsOfReview = 500

  struct Entry: Sendable {
    let event: EncryptedEvent
    let reason: Undecryptable
    /// When it was found to be unreadable first, in milliseconds since 1970.
    let since: Int64
  }

  private var entries: [RoomKeys.Name: [Entry]] = [:]

  /// The newest of a session stay.
  ///
  /// - Returns: whether it did not wait before.
  @discardableResult
  mutating func add(_ event: EncryptedEvent, _ reason: Undecryptable, since: Int64) -> Bool {
    var known = entries[event.name] ?? []
    guard !known.isEmpty || entries.count < Self.sessionLimit else { return false }
    let earlier = known.firstIndex { $0.event.id == event.id }.map { known.remove(at: $0) }
    if known.count >= Self.eventsOfSession { known.removeFirst() }
    known.append(Entry(event: event, reason: reason, since: earlier?.since ?? since))
    entries[event.name] = known
    return earlier == nil
  }

  mutating func take(_ name: RoomKeys.Name) -> [Entry] { entries.removeValue(forKey: name) ?? [] }

  /// How many wait for each reason, and since when the first of them.
  func census() -> [Undecryptable: (count: Int, since: Int64)] {
    var census: [Undecryptable: (count: Int, since: Int64)] = [:]
    for entry in entries.values.joined() {
      let known = census[entry.reason] ?? (0, entry.since)
      census[entry.reason] = (known.count + 1, min(known.since, entry.since))
    }
    return census
  }

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
