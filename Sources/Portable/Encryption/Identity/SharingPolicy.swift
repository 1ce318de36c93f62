import JSON
import MatrixModel
import Olm

/// Which devices get the keys of rooms.
package struct SharingPolicy: Hashable, Sendable {
  package enum Readers: UInt8, CaseIterable, Sendable {
    /// Devices that their users have signed. A user without cross-signing has none.
    case signed = 1
    /// Signed devices of verified users.
    case verified
    /// All devices, also those that the server may have made up.
    case all
    /// Of a user with a signed device the signed ones, of others all: bots and older clients sign none. It is as safe as `signed` once a signed
    /// device was seen, as the identity stays pinned.
    case signedIfAny
  }

  package var readers: Readers
  /// Whether this device sends while its user has not verified it.
  package var sendsUnverified: Bool
  /// Fingerprints of devices that the user has excluded.
  package var excluded: Set<Ed25519Key> = []

  package init(readers: Readers = .signedIfAny, sendsUnverified: Bool = true) {
    self.readers = readers
    self.sendsUnverified = sendsUnverified
  }
}

/// Why nothing is encrypted for a room. The user has to decide first.
package enum SharingBlock: Error, Equatable, Sendable {
  /// These users were verified and have other master keys now.
  case verifiedIdentitiesChanged([UserID])
  /// These users have other master keys now.
  case identitiesChanged([UserID])
  /// This device has to be verified.
  case ownDeviceUnverified(of: UserID)
}

/// How far a received event is proven to be from its sender.
package enum SenderTrust: Hashable, Sendable {
  /// A device of a verified user, or this device.
  case verified
  /// A device that the pinned identity of the user has signed.
  case pinned
  /// The device is in the user's list, and the user has not signed it.
  case unsignedDevice
  /// The device is not in the user's list, or no longer.
  case unknownDevice
  /// A backup, a file or another device has named the device with that key. Nothing proves it.
  case notProven(Curve25519Key)
  /// The user's master key has changed, and our user has not dealt with that yet.
  case identityChanged

  /// Trust in the owner of a session only rises: a device may be deleted, but its messages stay its own. A changed identity is the exception.
  package func raised(from before: SenderTrust?) -> SenderTrust {
    guard let before, let rank, let other = before.rank else { return self }
    return other > rank ? before : self
  }

  /// As the mark of a clear event has it.
  var name: ByteString {
    switch self {
    case .verified: "verified"
    case .pinned: "pinned"
    case .unsignedDevice: "unsigned"
    case .unknownDevice: "unknown"
    case .notProven: "not_proven"
    case .identityChanged: "changed"
    }
  }

  /// nil for what only a key file or backup says, which more knowledge of devices does not change.
  init?(name: ByteString?) {
    switch name {
    case "verified"?: self = .verified
    case "pinned"?: self = .pinned
    case "unsigned"?: self = .unsignedDevice
    case "unknown"?: self = .unknownDevice
    case "changed"?: self = .identityChanged
    default: return nil
    }
  }

  private var rank: Int? {
    switch self {
    case .verified: 3
    case .pinned: 2
    case .unsignedDevice: 1
    case .unknownDevice: 0
    case .notProven, .identityChanged: nil
    }
  }
}
