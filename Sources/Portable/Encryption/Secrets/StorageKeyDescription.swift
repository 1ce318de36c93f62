import JSON
import MatrixModel
import Olm

/// What account data says of a key of secret storage. Spec: Client-Server API, "Key storage".
package struct StorageKeyDescription: Equatable, Sendable {
  /// By which a key is recognized.
  struct Check: Equatable, Sendable {
    let iv: [UInt8]
    let mac: [UInt8]
  }

  package static let defaultKeyType: ByteString = "m.secret_storage.default_key"
  private static let algorithm: ByteString = "m.secret_storage.v1.aes-hmac-sha2"
  private static let passphraseAlgorithm: ByteString = "m.pbkdf2"
  private static let keyBits = Int64(SecretStorageCipher.keyByteCount * 8)
  private static let idByteCount = 24

  package let id: ByteString
  package let name: ByteString?
  /// How the key is derived if the user has chosen a passphrase.
  package let passphrase: PassphraseKey?
  let check: Check?

  /// - Parameter content: of the account data of type `type`.
  package init(_ content: JSON, id: ByteString) throws(SecretStorageError) {
    guard content.text("algorithm") == Self.algorithm else { throw .unsupported }
    self.id = id
    name = content.text("name")
    passphrase = try content["passphrase"].map { (json) throws(SecretStorageError) in try Self.passphrase(json) }
    guard content["iv"] != nil || content["mac"] != nil else {
      check = nil
      return
    }
    guard let iv = content.base64("iv"), let mac = content.base64("mac"), iv.count == 16, mac.count == 32 else {
      throw .malformed
    }
    check = Check(iv: iv, mac: mac)
  }

  private static func passphrase(_ json: JSON) throws(SecretStorageError) -> PassphraseKey {
    guard json.text("algorithm") == passphraseAlgorithm, json.integer("bits") ?? keyBits == keyBits else { throw .unsupported }
    guard let salt = json.text("salt"), let rounds = json.integer("iterations").flatMap({ UInt32(exactly: $0) }),
      let key = try? PassphraseKey(salt: salt.utf8, rounds: rounds)
    else { throw .malformed }
    return key
  }

  /// Describes a new key.
  ///
  /// - Parameter passphrase: how the key was derived, if it was.
  package init(of key: Secret, passphrase: PassphraseKey? = nil, random: inout SecretSource) {
    id = ByteString(decoding: Base64.encode(random.bytes(Self.idByteCount)))
    name = nil
    self.passphrase = passphrase
    let iv = SecretStorageCipher.makeIV(random: &random)
    check = SecretStorageCipher.check(of: key, iv: iv).map { Check(iv: iv, mac: $0) }
  }

  /// Returns how to derive a new key from a passphrase. In secret storage a salt is text.
  package static func newPassphrase(random: inout SecretSource) -> PassphraseKey? {
    try? PassphraseKey(salt: Base64.encode(random.bytes(idByteCount)), rounds: PassphraseKey.rounds)
  }

  /// The type of the account data.
  package static func type(of id: ByteString) -> ByteString { ByteString("m.secret_storage.key." + id.string) }

  /// The content of the account data.
  package var content: [UInt8] { JSONWriter.object { write(to: &$0) } }

  /// The content of the account data that makes the key the default.
  package var defaultKeyContent: [UInt8] { JSONWriter.object { $0.member("key", id) } }

  func write(to writer: inout JSONWriter) {
    writer.member("algorithm", Self.algorithm)
    if let name { writer.member("name", name) }
    if let check {
      writer.member("iv", base64: check.iv)
      writer.member("mac", base64: check.mac)
    }
    guard let passphrase else { return }
    writer.key("passphrase")
    writer.object { writer in
      writer.member("algorithm", Self.passphraseAlgorithm)
      writer.member("salt", ByteString(decoding: passphrase.salt))
      writer.member("iterations", Int64(passphrase.rounds))
      writer.member("bits", Self.keyBits)
    }
  }

  /// Whether both are of the same key. The name may change.
  func isSameKey(as other: StorageKeyDescription) -> Bool {
    id == other.id && check == other.check && passphrase == other.passphrase
  }

  /// Returns the key if the secret is the one that is described. A description without a check fits any secret: a wrong one is noticed when it
  /// decrypts, and nothing is encrypted with it.
  package func key(_ secret: Secret) throws(SecretStorageError) -> StorageKey {
    guard secret.count == SecretStorageCipher.keyByteCount else { throw .wrongKey }
    guard let check else { return StorageKey(id: id, secret: secret, isChecked: false) }
    guard let mac = SecretStorageCipher.check(of: secret, iv: check.iv), Secret(mac).isEqual(to: Secret(check.mac)) else {
      throw .wrongKey
    }
    return StorageKey(id: id, secret: secret, isChecked: true)
  }
}

package enum SecretStorageError: Error, Equatable, Sendable {
  /// The algorithm is unknown here.
  case unsupported
  case malformed
  /// The key does not open the secret, or the description says that it is another.
  case wrongKey
  /// Nothing shows that the key is the user's: a server may have described it to get at a passphrase.
  case unchecked
  /// The secret is not stored under this key.
  case missing
}

extension JSON {
  /// Bytes that a member has as base64, with or without padding.
  func base64(_ key: StaticString) -> [UInt8]? { text(key).flatMap { Base64.decode($0.utf8) } }
}
