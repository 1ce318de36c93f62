import MatrixModel
import Olm

/// Events of which more may be known soon: they were read before the list of their sender's devices was there, or before their sender had signed the
/// device. They are in memory only: an event that is forgotten here is judged again when its record is read.
struct UnsettledTrust: Sendable {
  static let limit = 500

  private var events: [DecryptedEvent] = []

  /// The newest stay.
  mutating func add(_ event: DecryptedEvent) {
    guard event.trust?.mayRise ?? true else { return }
    if events.count >= Self.limit { events.removeFirst() }
    events.append(event)
  }

  mutating func take(of users: Set<UserID>) -> [DecryptedEvent] {
    guard !events.isEmpty else { return [] }
    let taken = events.filter { users.contains($0.event.sender) }
    if !taken.isEmpty { events.removeAll { users.contains($0.event.sender) } }
    return taken
  }
}

extension SenderTrust {
  fileprivate var mayRise: Bool { self == .unsignedDevice || self == .unknownDevice }
}

extension EncryptionMachine {
  /// How far an event is proven; nil while the list of its sender's devices is on its way.
  mutating func settledTrust(_ event: EncryptedEvent, _ clear: ClearEvent) -> SenderTrust? {
    let trust = trust.trust(in: clear.origin)
    guard trust == .unknownDevice, tracker.isAwaited(event.sender) else { return trust }
    tracker.track([event.sender])
    return nil
  }

  /// There is an answer about these users.
  mutating func settleTrust(of users: [UserID]) {
    var settled: [DecryptedEvent] = []
    for before in unsettled.take(of: Set(users.filter { !tracker.isAwaited($0) })) {
      guard let clear = before.clear else { continue }
      let after = DecryptedEvent(event: before.event, outcome: before.outcome, trust: trust.trust(in: clear.origin))
      if after.trust != before.trust { settled.append(after) }
      unsettled.add(after)
    }
    if !settled.isEmpty { output.results.append(.late(settled)) }
  }

  /// How far a stored event is proven now.
  ///
  /// - Parameters:
  ///   - identity: the key that its mark names as the sender's, proven by the message that brought the room's key.
  func trust(in sender: UserID, _ identity: Curve25519Key, since before: SenderTrust?) -> SenderTrust? {
    let device = tracker.devices(of: sender).first { $0.identity == identity }
    guard let device else { return before }
    let owner = RoomKey.Owner(user: sender, identity: identity, signing: device.signing)
    return trust.trust(in: .proven(owner)).raised(from: before)
  }
}

extension DeviceTracker {
  /// Whether nothing is known of the user's devices, or not the newest.
  func isAwaited(_ user: UserID) -> Bool { !isTracked(user) || !outdated(among: [user]).isEmpty }
}
