/// The three public keys that identify a session: the first sender's identity key and base key, and the recipient's one-time key.
struct SessionKeys: Equatable, Sendable {
  let identity: Curve25519Key
  let base: Curve25519Key
  let oneTime: Curve25519Key

  /// The session ID, the same on both sides and in other implementations.
  var sessionID: [UInt8] { Base64.encode(SHA256.digest(of: identity.bytes + base.bytes + oneTime.bytes)) }
}
