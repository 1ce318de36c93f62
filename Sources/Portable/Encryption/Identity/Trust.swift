import JSON
import MatrixModel
import Olm

/// Decides who gets the keys of rooms, and how far received events are proven, from what is known of users and their devices.
package struct Trust: Sendable {
  private let own: DeviceKeys
  private let identities: Identities
  private let tracker: DeviceTracker
  private let policy: SharingPolicy

  /// - Parameter own: this device.
  package init(of own: DeviceKeys, _ identities: Identities, _ tracker: DeviceTracker, _ policy: SharingPolicy) {
    self.own = own
    self.identities = identities
    self.tracker = tracker
    self.policy = policy
  }

  // MARK: Sending

  /// Returns the devices of the users, and of the own user, that are to read a room's next message, and those that are told why they do not.
  package func recipients(_ users: [UserID]) throws(SharingBlock) -> Recipients {
    let others = Set(users).subtracting([own.user]).ordered()
    try checkChanges(of: others)
    guard policy.sendsUnverified || isOwnDeviceVerified else { throw .ownDeviceUnverified(of: own.user) }
    var recipients = Recipients([])
    for user in [own.user] + others {
      for device in tracker.devices(of: user) where device.readsRooms && !isOwn(device) {
        if policy.excluded.contains(device.signing) {
          recipients.withheld.append(Recipients.Withheld(device, .blacklisted))
        } else if isReader(device) {
          recipients.readers.append(device)
        } else {
          recipients.withheld.append(Recipients.Withheld(device, .unverified))
        }
      }
    }
    return recipients
  }

  /// Returns those of the users who have devices and no identity: under `signed` and `verified` they cannot read what is sent.
  package func withoutIdentity(_ users: [UserID]) -> [UserID] {
    users.filter { identities.identity(of: $0) == nil && !tracker.devices(of: $0).isEmpty }
  }

  private func checkChanges(of users: [UserID]) throws(SharingBlock) {
    let verified = users.filter { identities.identity(of: $0)?.change == .ofVerified }
    guard verified.isEmpty else { throw .verifiedIdentitiesChanged(verified) }
    // Under the other policies an unverified user gets nothing, or everything.
    guard policy.readers == .signed || policy.readers == .signedIfAny else { return }
    let changed = users.filter { identities.identity(of: $0)?.change != nil }
    guard changed.isEmpty else { throw .identitiesChanged(changed) }
  }

  private var isOwnDeviceVerified: Bool { identities.own.isVerified && identities.own.isDeviceSigned }

  private func isReader(_ device: DeviceKeys) -> Bool {
    // Nobody would notice a device without a client that a server has made up.
    if device.isDehydrated, !isSigned(device) { return false }
    return mayRead(device)
  }

  private func mayRead(_ device: DeviceKeys) -> Bool {
    switch policy.readers {
    case .all: true
    case .signed: isSigned(device)
    case .signedIfAny: !(identities.identity(of: device.user)?.hasSignedDevice ?? false) || isSigned(device)
    case .verified: isSigned(device) && identities.isVerified(device.user)
    }
  }

  private func isSigned(_ device: DeviceKeys) -> Bool { identities.identity(of: device.user)?.hasSigned(device) ?? false }

  private func isOwn(_ device: DeviceKeys) -> Bool { device.user == own.user && device.device == own.device }

  // MARK: Receiving

  /// - Parameter origin: of the key that has read the event. `RoomKeys` has checked that its owner is the event's sender.
  package func trust(in origin: RoomKey.Origin) -> SenderTrust {
    switch origin {
    case .claimed(let identity): .notProven(identity)
    case .proven(let owner): trust(in: owner)
    }
  }

  private func trust(in owner: RoomKey.Owner) -> SenderTrust {
    if owner.user == own.user, owner.identity == own.identity, owner.signing == own.signing { return .verified }
    if identities.identity(of: owner.user)?.change != nil { return .identityChanged }
    guard let device = tracker.device(owner.identity, owner.signing, of: owner.user) else { return .unknownDevice }
    guard isSigned(device) else { return .unsignedDevice }
    return identities.isVerified(owner.user) ? .verified : .pinned
  }

  /// Whether a device of the own user may get secrets and keys of rooms that it asks for.
  package func isVerifiedOwn(_ device: DeviceKeys) -> Bool { mayBeVerifiedOwn(device) && isSigned(device) }

  /// Whether a device of the own user may get them as soon as it is verified.
  func mayBeVerifiedOwn(_ device: DeviceKeys) -> Bool {
    device.user == own.user && !isOwn(device) && !device.isDehydrated && !policy.excluded.contains(device.signing)
      && identities.own.isVerified
  }
}
