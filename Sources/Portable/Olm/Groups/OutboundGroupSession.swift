/// Encrypts a device's messages to a room. Its key decrypts all later messages, so a new session is due when a member leaves, and after
/// a number of messages. Spec: "Megolm group ratchet".
///
/// A value: store it after `encrypt`, before the message leaves. Then no index is used twice.
package struct OutboundGroupSession: Sendable {
  let signing: Ed25519KeyPair
  private(set) var ratchet: MegolmRatchet

  package init(random: inout SecretSource) {
    self.init(
      signing: Ed25519KeyPair(from: &random), ratchet: MegolmRatchet(random.secret(MegolmRatchet.byteCount), index: 0))
  }

  init(signing: Ed25519KeyPair, ratchet: MegolmRatchet) {
    self.signing = signing
    self.ratchet = ratchet
  }

  package var id: [UInt8] { signing.key.text }

  /// Of the next message.
  package var index: UInt32 { ratchet.index }

  /// For `m.room_key`: it reads from the next message on.
  package var sharedKey: Secret { GroupKey(ratchet, signing.key).shared(signedBy: signing) }

  /// For a device that has lost the key: it reads from an earlier message on.
  ///
  /// - Parameter own: the own copy, which reaches back as far.
  package func sharedKey(at index: UInt32, knowing own: InboundGroupSession) throws(OlmError) -> Secret {
    guard own.key == signing.key else { throw .wrongSession }
    return GroupKey(try own.ratchet(at: index), signing.key).shared(signedBy: signing)
  }

  package mutating func encrypt(_ plaintext: [UInt8]) throws(OlmError) -> [UInt8] {
    guard plaintext.count <= MessageLimits.plaintextBytes else { throw .malformed }
    var next = ratchet
    try next.advance()
    let message = GroupMessage.seal(plaintext, ratchet, signedBy: signing)
    ratchet = next
    return message
  }
}
