import JSON
import MatrixModel
import ServerCore

/// A key that verifies tokens by one algorithm, chosen when the key was made.
package struct JSONWebKey: Sendable {
  /// RFC 7518 §3.1, RFC 8037 §3.1.
  package enum Algorithm: String, Sendable, CaseIterable {
    case hs256 = "HS256"
    case rs256 = "RS256"
    case es256 = "ES256"
    case edDSA = "EdDSA"
  }

  private enum Material: Sendable {
    case secret([UInt8])
    case publicKey(PublicKey)
  }

  package let algorithm: Algorithm
  /// `kid`; nil for a key without a name.
  package let keyID: ByteString?
  private let material: Material

  /// Bytes of a secret, at least those of the hash's output. RFC 7518 §3.2.
  package static let secretBytesMinimum = 32

  /// A secret for HS256; nil for one that is too short.
  package init?(secret: [UInt8]) {
    guard secret.count >= Self.secretBytesMinimum else { return nil }
    (algorithm, keyID, material) = (.hs256, nil, .secret(secret))
  }

  /// A public key in PEM (`BEGIN PUBLIC KEY`); nil if it is not valid or not for the algorithm. HS256 has no public keys.
  package init?(pem: [UInt8], _ algorithm: Algorithm) {
    guard let key = PublicKey(pem: pem), key.fits(algorithm) else { return nil }
    (self.algorithm, keyID, material) = (algorithm, nil, .publicKey(key))
  }

  /// A key of a JWK set: RSA, EC on P-256 or OKP with Ed25519. nil for other kinds, for one that is not for signatures and for
  /// one that names another algorithm. RFC 7517, RFC 8037.
  package init?(jwk: JSON, _ algorithm: Algorithm) {
    if let use = jwk["use"]?.string, use != "sig" { return nil }
    if let named = jwk["alg"]?.string, named != algorithm.rawValue { return nil }
    let key: PublicKey? =
      switch (jwk["kty"]?.string, jwk["crv"]?.string) {
      case ("RSA", _): PublicKey(rsaModulus: Self.bytes(jwk["n"]), exponent: Self.bytes(jwk["e"]))
      case ("EC", "P-256"): PublicKey(p256X: Self.bytes(jwk["x"]), y: Self.bytes(jwk["y"]))
      case ("OKP", "Ed25519"): PublicKey(ed25519: Self.bytes(jwk["x"]))
      default: nil
      }
    guard let key, key.fits(algorithm) else { return nil }
    (self.algorithm, keyID, material) = (algorithm, jwk["kid"]?.text, .publicKey(key))
  }

  func verifies(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    switch material {
    case .publicKey(let key): return key.verifies(signature, of: message, algorithm)
    case .secret(let secret):
      return KeyedHash.areSame(signature, KeyedHash.sha256.digest(of: message, key: secret))
    }
  }

  private static func bytes(_ member: JSON?) -> [UInt8] { member?.text.flatMap { JSONWebToken.decode($0.utf8) } ?? [] }
}
