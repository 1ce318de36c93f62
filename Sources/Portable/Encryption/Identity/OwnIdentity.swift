import JSON
import MatrixModel
import Olm

/// The cross-signing identity of this device's user: the pinned public keys, the private keys that this device holds, and what of them the server
/// still has to get.
///
/// A value: store it after each call that changes it, before a request is sent. Then each step can be repeated after a crash, with the same keys.
package struct OwnIdentity: Sendable {
  package let user: UserID
  package let device: DeviceID
  /// nil until the server gives one or this device has made one.
  package private(set) var identity: UserIdentity?
  /// Whether the identity's self-signing key has signed this device, as far as the server says.
  package private(set) var isDeviceSigned = false
  /// The master key that was made here, or that another device or the recovery key has proven.
  private(set) var verifiedMaster: Ed25519Key?
  private(set) var pairs: [CrossSigningUse: Ed25519KeyPair] = [:]
  /// Keys that were made and that the server has not accepted yet.
  private(set) var setup: CrossSigningPairs?
  private(set) var unsent: [SignedObject] = []

  package init(user: UserID, device: DeviceID) {
    self.user = user
    self.device = device
  }

  /// As it was stored.
  init(
    user: UserID, device: DeviceID, identity: UserIdentity?, isDeviceSigned: Bool, verifiedMaster: Ed25519Key?,
    pairs: [CrossSigningUse: Ed25519KeyPair], setup: CrossSigningPairs?, unsent: [SignedObject]
  ) {
    self.init(user: user, device: device)
    self.identity = identity
    self.isDeviceSigned = isDeviceSigned
    self.verifiedMaster = verifiedMaster
    self.pairs = pairs
    self.setup = setup
    self.unsent = unsent
  }

  package var keys: CrossSigningKeys? { identity?.keys }

  /// Whether the identity that the server gives is proven to be the user's own.
  package var isVerified: Bool {
    guard let identity, identity.change == nil else { return false }
    return identity.keys.master == verifiedMaster
  }

  /// Whether this device can sign for that use.
  package func holds(_ use: CrossSigningUse) -> Bool { pair(use) != nil }

  func pair(_ use: CrossSigningUse) -> Ed25519KeyPair? {
    guard let identity, identity.change == nil, let pair = pairs[use], pair.key == identity.keys[use] else { return nil }
    return pair
  }

  /// Returns the private key for secret storage or another device; nil if it is not held.
  package func secret(_ use: CrossSigningUse) -> Secret? { pair(use)?.seed }

  // MARK: Making an identity

  package var isSettingUp: Bool { setup != nil }

  /// Makes new keys, the first of the user or in place of others. Keys that were made before and are not uploaded yet are used again.
  package mutating func beginSetup(random: inout SecretSource) {
    if setup == nil { setup = CrossSigningPairs(random: &random) }
  }

  /// Gives up keys that the server has not accepted, such as when the user does not authenticate.
  package mutating func cancelSetup() { setup = nil }

  /// Returns the body of `/keys/device_signing/upload`; nil if there is nothing to upload.
  ///
  /// - Parameter authentication: the value of `auth`, if the server asked for it.
  package func setupBody(authentication: JSON? = nil) -> [UInt8]? {
    setup?.uploadBody(of: user, authentication: authentication)
  }

  /// The server has accepted the new keys. They sign this device, and the device signs the master key.
  package mutating func setupAccepted(for own: OwnKeys) {
    guard let setup else { return }
    let keys = setup.keys(of: user)
    if identity == nil { identity = UserIdentity(keys) } else { identity?.take(keys) }
    identity?.markVerified()
    verifiedMaster = keys.master
    for use in CrossSigningUse.allCases { pairs[use] = setup[use] }
    self.setup = nil
    isDeviceSigned = false
    unsent = []
    signDevice(own)
    if let master = setup.object(.master, of: user) { _ = signMaster(master, by: own) }
  }

  // MARK: The server's keys

  /// Keys that the server gives for the user.
  ///
  /// - Returns: whether they are others than before.
  mutating func take(_ new: CrossSigningKeys) -> Bool {
    // The answer to the upload is on its way.
    guard new.master != setup?.master.key else { return false }
    let before = identity?.keys
    if identity == nil { identity = UserIdentity(new) } else { identity?.take(new) }
    return identity?.keys != before
  }

  /// What the server says of this device.
  mutating func note(isDeviceSigned: Bool, hasNameCollision: Bool, hasSignedDevice: Bool) {
    self.isDeviceSigned = isDeviceSigned
    if hasSignedDevice { identity?.hasSignedDevice = true }
    identity?.hasNameCollision = hasNameCollision
  }

  // MARK: Verifying

  /// Another device of the user, or the user, has confirmed the master key.
  ///
  /// - Returns: false if the server gives another key by now, or if the user must not be verified.
  package mutating func verify(_ master: Ed25519Key) -> Bool {
    guard let identity, identity.keys.master == master, !identity.hasNameCollision else { return false }
    verifiedMaster = master
    self.identity?.markVerified()
    return true
  }

  /// Accepts a private key from secret storage or from a verified device, if it fits the public key. The private master key proves the identity.
  package mutating func take(_ secret: Secret, as use: CrossSigningUse) -> Bool {
    guard let identity, let pair = Ed25519KeyPair(seed: secret), pair.key == identity.keys[use] else { return false }
    if use == .master, !verify(pair.key) { return false }
    guard self.identity?.change == nil else { return false }
    pairs[use] = pair
    return true
  }

  // MARK: Signing

  /// Signs this device, if the identity is verified and its self-signing key is held.
  @discardableResult
  package mutating func signDevice(_ own: OwnKeys) -> Bool {
    guard own.device == device, let keys = own.signedDeviceKeys else { return false }
    return sign(keys, of: own.deviceKeys)
  }

  /// Signs the proven master key by this device.
  ///
  /// - Parameter json: the master key as `/keys/query` gives it.
  mutating func signMaster(_ json: JSON, by own: OwnKeys) -> Bool {
    guard isVerified, let keys, own.device == device,
      let read = try? CrossSigningKeys.key(json, of: user, .master), read == keys.master,
      let signed = CrossSigningKeys.objectToSign(json)?.signed(by: user, DeviceKeys.keyID(of: device), own.account.signing)
    else { return false }
    append(SignedObject(user: user, name: keys.master.name, object: signed))
    return true
  }

  /// Signs a device of the user that was verified.
  ///
  /// - Parameters:
  ///   - json: the device as `/keys/query` gives it. The server compares the signed object with its own.
  ///   - device: the keys that were verified.
  package mutating func sign(_ json: JSON, of device: DeviceKeys) -> Bool {
    guard isVerified, let pair = pair(.selfSigning), device.user == user,
      let read = try? DeviceKeys(json, of: user, device.device), read.hasSameKeys(as: device),
      let signed = json.withoutUnsigned?.signed(by: user, pair)
    else { return false }
    append(SignedObject(user: user, name: device.device.text, object: signed))
    return true
  }

  /// Signs the master key of another user who was verified.
  ///
  /// - Parameter json: the master key as `/keys/query` gives it.
  mutating func sign(_ json: JSON, of other: UserIdentity) -> Bool {
    let keys = other.keys
    guard isVerified, !other.hasNameCollision, keys.user != user, let pair = pair(.userSigning),
      let read = try? CrossSigningKeys.key(json, of: keys.user, .master), read == keys.master,
      let signed = CrossSigningKeys.objectToSign(json)?.signed(by: user, pair)
    else { return false }
    append(SignedObject(user: keys.user, name: keys.master.name, object: signed))
    return true
  }

  private mutating func append(_ object: SignedObject) {
    unsent.removeAll { $0.user == object.user && $0.name == object.name }
    unsent.append(object)
  }

  /// The signatures that the server still has to get; nil if there are none.
  package var signatures: SignatureUpload? { unsent.isEmpty ? nil : SignatureUpload(objects: unsent) }

  /// The server has answered. Signatures that came meanwhile are uploaded next.
  package mutating func uploaded(_ upload: SignatureUpload) {
    unsent.removeAll { object in upload.objects.contains { $0 == object } }
  }
}

extension JSON {
  fileprivate var withoutUnsigned: JSON? { try? replacing(["unsigned"]) { _ in } }
}
