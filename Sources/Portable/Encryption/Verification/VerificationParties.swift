import JSON
import MatrixModel
import Olm

/// Both sides of a verification with their keys, fixed when both devices are known: whatever a server says later changes nothing in it.
struct VerificationParties: Equatable, Sendable {
  /// A device, and the master key of its user.
  struct Party: Equatable, Sendable {
    let keys: DeviceKeys
    let master: Ed25519Key

    var user: UserID { keys.user }
    var device: DeviceID { keys.device }

    /// The key that the name refers to: of the device, or the master key.
    func key(_ name: ByteString) -> Ed25519Key? {
      if name == master.keyID { return master }
      return name == DeviceKeys.keyID(of: device) ? keys.signing : nil
    }
  }

  let own: Party
  let other: Party
  /// Whether this device has proven the own master key.
  let isMasterTrusted: Bool

  var isOwn: Bool { own.user == other.user }

  /// - Parameter device: of the other side, as it is listed now.
  /// - Returns: nil if one of the users has no identity, or one that must not be verified.
  init?(_ own: OwnKeys, _ device: DeviceKeys, _ identities: Identities) {
    guard let ownIdentity = identities.own.identity, let identity = identities.identity(of: device.user),
      !ownIdentity.hasNameCollision, !identity.hasNameCollision, !identity.names(device.device.text)
    else { return nil }
    self.own = Party(keys: own.deviceKeys, master: ownIdentity.keys.master)
    other = Party(keys: device, master: identity.keys.master)
    isMasterTrusted = identities.own.isVerified
  }

  /// The names of the keys that this side vouches for.
  var ownKeyIDs: [ByteString] {
    let device = DeviceKeys.keyID(of: own.device)
    return (isMasterTrusted ? [device, own.master.keyID] : [device]).ordered()
  }

  /// What is verified once these keys of the other side have proven right; nil if they are not enough.
  func verified(by names: Set<ByteString>) -> VerifiedKeys? {
    let hasMaster = names.contains(other.master.keyID), hasDevice = names.contains(DeviceKeys.keyID(of: other.device))
    guard isOwn else { return hasMaster ? .user(other.user, master: other.master) : nil }
    guard hasDevice, isMasterTrusted || hasMaster else { return nil }
    return isMasterTrusted ? .ownDevice(other.keys) : .ownMaster(own.master, by: other.keys)
  }
}

/// What a verification has proven.
enum VerifiedKeys: Equatable, Sendable {
  /// Another user's master key.
  case user(UserID, master: Ed25519Key)
  /// Another device of the own user, by this one that is verified.
  case ownDevice(DeviceKeys)
  /// The own master key, by a device that is verified.
  case ownMaster(Ed25519Key, by: DeviceKeys)
}
