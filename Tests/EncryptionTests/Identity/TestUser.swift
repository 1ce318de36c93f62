import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

/// A user with cross-signing keys, as the server gives them.
struct TestUser {
  let user: UserID
  let pairs: CrossSigningPairs
  /// Objects in place of those that the user would have uploaded.
  var forged: [CrossSigningUse: JSON] = [:]
  var leftOut: Set<CrossSigningUse> = []
  /// Devices, by the IDs that the server lists them under.
  var devices: [(id: DeviceID, keys: JSON)] = []
  /// User-signing keys of others that have signed the master key.
  var signers: [(user: UserID, pair: Ed25519KeyPair)] = []

  init(_ user: UserID = bob, seed: String = "an identity") {
    var random = SecretSource.repeating(seed: Array(seed.utf8))
    self.init(user, CrossSigningPairs(random: &random))
  }

  init(_ user: UserID, _ pairs: CrossSigningPairs) {
    self.user = user
    self.pairs = pairs
  }

  var keys: CrossSigningKeys { pairs.keys(of: user) }

  func object(_ use: CrossSigningUse) throws -> JSON? {
    if leftOut.contains(use) { return nil }
    if let forged = forged[use] { return forged }
    var object = try #require(pairs.object(use, of: user))
    guard use == .master else { return object }
    for signer in signers { object = try #require(object.signed(by: signer.user, signer.pair)) }
    return object
  }

  /// Adds a device that the self-signing key signs, or another key.
  mutating func add(_ device: TestDevice, signedBy pair: Ed25519KeyPair? = nil) throws {
    let signed = try device.published().signed(by: user, pair ?? pairs.selfSigning)
    devices.append((device.own.device, try #require(signed)))
  }

  mutating func addUnsigned(_ device: TestDevice) throws { devices.append((device.own.device, try device.published())) }

  /// Lets another user's own identity sign the master key.
  mutating func signed(by other: TestUser) { signers.append((other.user, other.pairs.userSigning)) }
}

/// An answer of `/keys/query`.
func answer(of users: [TestUser], failures: [String] = []) throws -> JSON {
  let parts: [(StaticString, CrossSigningUse)] = [
    ("master_keys", .master), ("self_signing_keys", .selfSigning), ("user_signing_keys", .userSigning)
  ]
  return try answer(
    users.flatMap { user in user.devices.map { (user: user.user, device: $0.id, keys: $0.keys) } }, failures: failures
  ).replacing([]) { writer in
    for (name, use) in parts {
      writer.key(name)
      writer.object { writer in
        for user in users {
          guard let object = (try? user.object(use)) ?? nil else { continue }
          writer.key(user.user)
          writer.write(object)
        }
      }
    }
  }
}

/// A device, its user's identity and what both know of others.
struct Knowledge {
  var device: TestDevice
  var identities: Identities
  var tracker = DeviceTracker()

  init(of user: UserID = ann, _ device: String = "TABLET", seed: String = "a tablet") {
    self.device = TestDevice(of: user, DeviceID(trusted: ByteString(device)), seed: seed)
    identities = Identities(own: OwnIdentity(user: user, device: self.device.own.device))
  }

  /// Asks for the users and takes the answer.
  @discardableResult
  mutating func learn(_ users: [TestUser], failures: [String] = []) throws -> (
    identities: [IdentityNews], devices: [DeviceNews]
  ) {
    let names = users.map(\.user)
    tracker.track(names)
    tracker.changed(names)
    let next = tracker.nextQuery(at: 0)
    let query = try #require(next)
    let json = try answer(of: users, failures: failures)
    let news = identities.answered(query, json, at: 7)
    return (news, tracker.answered(query, json, knowing: identities, at: 0))
  }

  /// Makes an identity that the server accepts, and returns it as the server then gives it.
  mutating func setUp(seed: String = "set up") throws -> TestUser {
    var random = SecretSource.repeating(seed: Array(seed.utf8))
    identities.own.beginSetup(random: &random)
    let pairs = try #require(identities.own.setup)
    identities.own.setupAccepted(for: device.own)
    let upload = try #require(identities.own.signatures)
    identities.own.uploaded(upload)
    var user = TestUser(device.own.user, pairs)
    try user.add(device)
    return user
  }

  /// The object of a user's master key, as the server gives it.
  func masterKey(of user: TestUser) throws -> JSON { try #require(try user.object(.master)) }
}
