import MatrixModel
import Olm

/// Events that were read before the list of their sender's devices was there. They are in memory only: an event that is forgotten here is
/// judged again when its record is read.
struct UnsettledTrust: Sendable {
  static let limit = 500

  private var events: [DecryptedEvent] = []

  /// The newest stay.
  mutating func add(_ event: DecryptedEvent) {
    if events.count >= Self.limit { events.removeFirst() }
    events.append(event)
  }

  mutating func take(of users: Set<UserID>) -> [DecryptedEvent] {
    guard !events.isEmpty else { return [] }
    let taken = events.filter { users.contains($0.event.sender) }
    events.removeAll { users.contains($0.event.sender) }
    return taken
  }
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
    let settled = unsettled.take(of: Set(users.filter { !tracker.isAwaited($0) })).compactMap { decrypted in
      decrypted.clear.map {
        DecryptedEvent(event: decrypted.event, outcome: decrypted.outcome, trust: trust.trust(in: $0.origin))
      }
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
