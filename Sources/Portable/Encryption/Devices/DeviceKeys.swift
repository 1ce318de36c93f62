import JSON
import MatrixModel
import Olm

/// What a device says of itself, proven by its own signature. Whose it is proves nothing but a signature of its owner.
/// Spec: Client-Server API, "Device keys".
package struct DeviceKeys: Hashable, Sendable {
  package let user: UserID
  package let device: DeviceID
  /// Names the device in sessions.
  package let identity: Curve25519Key
  /// The device's fingerprint.
  package let signing: Ed25519Key
  /// Whether it reads rooms that are encrypted with Megolm.
  package let readsRooms: Bool
  /// What its owner calls it; nothing proves that.
  package let name: ByteString?
  /// The self-signing key of its user that has signed it. nil if there is none, or if the signature does not fit.
  package let signer: Ed25519Key?
  /// Whether there is no client behind it: it gets keys, if its user has signed it, and says nothing. Source: MSC3814.
  package let isDehydrated: Bool

  package init(
    user: UserID, device: DeviceID, identity: Curve25519Key, signing: Ed25519Key, readsRooms: Bool = true,
    name: ByteString? = nil, signer: Ed25519Key? = nil, isDehydrated: Bool = false
  ) {
    self.user = user
    self.device = device
    self.identity = identity
    self.signing = signing
    self.readsRooms = readsRooms
    self.name = name
    self.signer = signer
    self.isDehydrated = isDehydrated
  }

  /// From an answer of `/keys/query`, for the user and the device that it is said to be of.
  ///
  /// - Parameter selfSigning: the user's key for signing devices, if there is one.
  package init(_ json: JSON, of user: UserID, _ device: DeviceID, selfSigning: Ed25519Key? = nil) throws(DeviceRefusal) {
    guard json.text("user_id") == user.text, json.text("device_id") == device.text else { throw .ofAnother }
    guard let keys = json["keys"], let identity = keys.curve25519Key(ByteString("curve25519:" + device.string)),
      let signing = keys.ed25519Key(Self.keyID(of: device))
    else { throw .malformed }
    guard json.isSigned(by: user, Self.keyID(of: device), signing) else { throw .wrongSignature }
    let algorithms = json["algorithms"]?.elements.compactMap { $0.text } ?? []
    self.init(
      user: user, device: device, identity: identity, signing: signing,
      readsRooms: algorithms.contains(Algorithm.olm) && algorithms.contains(Algorithm.megolm),
      name: json["unsigned"]?.text("device_display_name"),
      signer: selfSigning.flatMap { json.isSigned(by: user, $0) ? $0 : nil },
      isDehydrated: json.bool("dehydrated") ?? false)
  }

  /// Whether both have the same keys. The name may change.
  func hasSameKeys(as other: DeviceKeys) -> Bool { identity == other.identity && signing == other.signing }

  /// What the signatures of a device are called.
  static func keyID(of device: DeviceID) -> ByteString { ByteString("ed25519:" + device.string) }
}

/// Why the keys of a device are not taken. It gets no keys of rooms, and people can be told.
package enum DeviceRefusal: Error, Equatable, Sendable {
  /// Keys are missing, or are none.
  case malformed
  /// The object names another user or device than it was asked for.
  case ofAnother
  /// The device did not sign it with the key that it names.
  case wrongSignature
  /// The device had other keys before. A device keeps its keys for as long as it lives.
  case changedKeys
  /// Another device of the user has the same key: nobody could tell whose messages are whose.
  case sharedKey
  /// The user has more devices than `EncryptionLimits.devicesOfUser`.
  case tooMany
}

/// Names of algorithms. Spec: Client-Server API, "Messaging Algorithms".
package enum Algorithm {
  package static let olm: ByteString = "m.olm.v1.curve25519-aes-sha2"
  package static let megolm: ByteString = "m.megolm.v1.aes-sha2"
  /// One-time keys with the signature of their device.
  package static let signedOneTimeKey: ByteString = "signed_curve25519"
}
