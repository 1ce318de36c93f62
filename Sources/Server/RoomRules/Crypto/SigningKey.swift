import CSodium
import JSON

/// The Ed25519 key with which a server signs events and requests.
///
/// On disk one line, `ed25519 <version> <seed in unpadded Base64>`. Spec: Appendices, "Signing JSON".
package struct SigningKey: Sendable {
  /// `ed25519:<version>`.
  package let keyID: ByteString
  /// 32 bytes.
  package let publicKey: [UInt8]
  private let version: ByteString
  private let seed: [UInt8]
  /// libsodium's form: seed and public key, 64 bytes.
  private let secretKey: [UInt8]

  package static let seedBytes = 32
  package static let signatureBytes = 64

  /// - Parameter version: letters, digits and `_`, at least one.
  /// - Returns: nil where the seed has not 32 bytes or the version other characters.
  package init?(seed: [UInt8], version: ByteString) {
    guard seed.count == Self.seedBytes, Self.isVersion(version) else { return nil }
    var publicKey = [UInt8](repeating: 0, count: Int(crypto_sign_ed25519_PUBLICKEYBYTES))
    var secretKey = [UInt8](repeating: 0, count: Int(crypto_sign_ed25519_SECRETKEYBYTES))
    guard crypto_sign_ed25519_seed_keypair(&publicKey, &secretKey, seed) == 0 else { return nil }
    self.version = version
    self.seed = seed
    self.publicKey = publicKey
    self.secretKey = secretKey
    keyID = ByteString("ed25519:" + version.string)
  }

  /// Reads `line`; space around it is ignored. nil for any other form.
  package init?(line: ByteString) {
    let words = line.utf8.split(whereSeparator: { $0 <= 0x20 })
    guard words.count == 3, words[0].elementsEqual("ed25519".utf8), let seed = UnpaddedBase64.decode(words[2]) else {
      return nil
    }
    self.init(seed: seed, version: ByteString(decoding: words[1]))
  }

  /// What `init(line:)` reads. Secret.
  package var line: ByteString {
    ByteString("ed25519 " + version.string + " " + String(decoding: UnpaddedBase64.encode(seed), as: UTF8.self))
  }

  /// The public key as published under `verify_keys`.
  package var publicKeyBase64: ByteString { ByteString(decoding: UnpaddedBase64.encode(publicKey)) }

  /// 64 bytes. About 16 µs for an event.
  package func sign(_ message: [UInt8]) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: Self.signatureBytes)
    crypto_sign_ed25519_detached(&signature, nil, message, UInt64(message.count), secretKey)
    return signature
  }

  /// Whether `signature` is the key owner's over `message`. Wrong lengths are wrong signatures.
  package static func verify(_ signature: [UInt8], of message: [UInt8], publicKey: [UInt8]) -> Bool {
    signature.count == signatureBytes && publicKey.count == Int(crypto_sign_ed25519_PUBLICKEYBYTES)
      && crypto_sign_ed25519_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
  }

  private static func isVersion(_ version: ByteString) -> Bool {
    !version.isEmpty
      && version.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}
