/// One side of a verification by short strings: two people compare emoji or numbers that only match if nobody sits between them.
/// Spec: Client-Server API, "Short Authentication String (SAS) verification".
package struct SAS: Sendable {
  private let pair: Curve25519KeyPair

  package init(random: inout SecretSource) { pair = Curve25519KeyPair(from: &random) }

  /// For `m.key.verification.key`. Its commitment is the `SHA256` of `key.text` and the start message.
  package var key: Curve25519Key { pair.key }

  package func agree(with other: Curve25519Key) throws(OlmError) -> SharedSAS { SharedSAS(try pair.agree(with: other)) }
}
