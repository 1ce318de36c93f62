// The triple agreement that a session begins with. Spec: "Olm: A Cryptographic Ratchet", "Initial setup".
extension Session {
  /// Begins a session as the side that writes first.
  init(
    from own: Curve25519KeyPair, to identity: Curve25519Key, oneTime: Curve25519Key, random: inout SecretSource
  ) throws(OlmError) {
    let base = Curve25519KeyPair(from: &random)
    let (root, chain) = RootKey.begin(
      try own.agree(with: oneTime), try base.agree(with: identity), try base.agree(with: oneTime))
    self.init(
      keys: SessionKeys(identity: own.key, base: base.key, oneTime: oneTime), root: root,
      sending: SendingChain(ratchet: Curve25519KeyPair(from: &random), chain: chain), receiving: [], isEstablished: false)
  }

  /// Begins a session as the side that receives the first message. The caller decrypts it next, and drops the session if that fails.
  init(to own: Curve25519KeyPair, oneTime: Curve25519KeyPair, by message: PreKeyMessage) throws(OlmError) {
    let keys = message.keys
    let (root, chain) = RootKey.begin(
      try oneTime.agree(with: keys.identity), try own.agree(with: keys.base), try oneTime.agree(with: keys.base))
    self.init(
      keys: keys, root: root, sending: nil, receiving: [ReceivingChain(message.inner.ratchetKey, chain)], isEstablished: true)
  }
}
