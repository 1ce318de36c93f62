import JSON
import MatrixModel
import Olm

/// The cross-signing identity of a user, as this device has come to know it.
///
/// The master key is pinned when it is first seen. Another one later is a change that the user has to see: a server can make up keys, but not
/// without changing the pinned one. Spec: Client-Server API, "Cross-signing".
package struct UserIdentity: Hashable, Sendable {
  /// How a changed master key is dealt with.
  package enum Change: Hashable, Sendable {
    /// The user was never verified: the change has to be acknowledged.
    case unacknowledged
    /// The user was verified. They have to be verified anew, or the verification is withdrawn.
    case ofVerified
  }

  /// The keys that the server gave last.
  package private(set) var keys: CrossSigningKeys
  /// The master key that counts as the user's.
  package private(set) var pinned: Ed25519Key
  /// The master key that was pinned before.
  package private(set) var previous: Ed25519Key?
  package private(set) var wasVerified = false
  /// When the server gave another master key than before, the last time: milliseconds since 1970. It stays when the change is accepted.
  package internal(set) var changedAt: Int64?
  /// Our user-signing key that has signed `keys.master`. A signature cannot be taken back, so it counts also if the server hides it later.
  private(set) var signer: Ed25519Key?
  /// Whether the ID of one of the user's devices is also the name of a cross-signing key. Then signatures by one may be taken for those of the
  /// other, and the user must not be verified.
  package internal(set) var hasNameCollision = false
  /// Whether one of the user's devices was seen with a signature of the self-signing key. Until then the user may be about to make the identity.
  package internal(set) var hasSignedDevice = false

  package init(_ keys: CrossSigningKeys) {
    self.keys = keys
    pinned = keys.master
  }

  /// As it was stored.
  init(
    _ keys: CrossSigningKeys, pinned: Ed25519Key, previous: Ed25519Key?, wasVerified: Bool, changedAt: Int64?,
    signer: Ed25519Key?, hasNameCollision: Bool, hasSignedDevice: Bool
  ) {
    self.keys = keys
    self.pinned = pinned
    self.previous = previous
    self.wasVerified = wasVerified
    self.changedAt = changedAt
    self.signer = signer
    self.hasNameCollision = hasNameCollision
    self.hasSignedDevice = hasSignedDevice
  }

  /// nil while the pinned master key is the one that the server gives.
  package var change: Change? {
    guard keys.master != pinned else { return nil }
    return wasVerified ? .ofVerified : .unacknowledged
  }

  /// Whether the user's self-signing key has signed the device. It counts for nothing while the master key has changed.
  package func hasSigned(_ device: DeviceKeys) -> Bool {
    guard change == nil, device.user == keys.user, let key = keys.selfSigning else { return false }
    return device.signer == key
  }

  /// Whether a device ID is the name of one of the keys.
  func names(_ device: ByteString) -> Bool { CrossSigningUse.allCases.contains { keys[$0]?.name == device } }

  // MARK: Changes

  /// Keys that the server gives now.
  mutating func take(_ new: CrossSigningKeys) {
    guard new.master == keys.master else {
      keys = new
      signer = nil
      return
    }
    // A server can leave a key out, but a user never has one less.
    keys = CrossSigningKeys(
      user: keys.user, master: keys.master, selfSigning: new.selfSigning ?? keys.selfSigning,
      userSigning: new.userSigning ?? keys.userSigning)
  }

  /// `keys.master` was signed by that user-signing key.
  mutating func noteSignature(by key: Ed25519Key) { signer = key }

  /// `keys.master` is proven to be the user's.
  mutating func markVerified() {
    pin()
    wasVerified = true
  }

  /// Accepts a changed master key of a user who was never verified.
  ///
  /// - Parameter master: the key that the user has seen. If the server gives another by now, nothing happens.
  mutating func acknowledge(_ master: Ed25519Key) -> Bool {
    guard master == keys.master, change == .unacknowledged else { return false }
    pin()
    return true
  }

  /// Accepts a changed master key of a user who was verified. From then on they are not.
  mutating func withdrawVerification(_ master: Ed25519Key) -> Bool {
    guard master == keys.master, change == .ofVerified else { return false }
    wasVerified = false
    pin()
    return true
  }

  private mutating func pin() {
    guard pinned != keys.master else { return }
    previous = pinned
    pinned = keys.master
  }
}
