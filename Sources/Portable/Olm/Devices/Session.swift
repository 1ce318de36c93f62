/// A conversation of two devices, encrypted by a double ratchet: each answer brings a new key into it, so that a stolen state reads
/// neither what was before nor, after the next answer, what comes.
///
/// A value: store it after each call, before the message is sent or shown. Then a crash neither uses a key twice nor loses one. Spec: "Olm: A Cryptographic Ratchet".
package struct Session: Sendable {
  /// Chains of the other side whose late messages can still be read. The oldest goes first.
  package static let receivingChainsLimit = 5

  struct SendingChain: Sendable {
    let ratchet: Curve25519KeyPair
    var chain: ChainKey
  }

  let keys: SessionKeys
  private(set) var root: RootKey
  /// nil after the other side brought a new ratchet key: the next message then brings one, too.
  private(set) var sending: SendingChain?
  /// The newest first.
  private(set) var receiving: [ReceivingChain]
  /// Whether the other side is known to have the session. Until then messages are pre-key messages.
  package private(set) var isEstablished: Bool

  package var id: [UInt8] { keys.sessionID }

  init(
    keys: SessionKeys, root: RootKey, sending: SendingChain?, receiving: [ReceivingChain], isEstablished: Bool
  ) {
    self.keys = keys
    self.root = root
    self.sending = sending
    self.receiving = receiving
    self.isEstablished = isEstablished
  }

  /// Whether the message belongs to this session. A pre-key message that belongs to none begins one: `Account.accept`.
  package func isBegun(by preKeyMessage: [UInt8]) throws(OlmError) -> Bool {
    try PreKeyMessage(preKeyMessage).keys == keys
  }

  package mutating func encrypt(
    _ plaintext: [UInt8], random: inout SecretSource
  ) throws(OlmError) -> OlmMessage {
    guard plaintext.count <= MessageLimits.plaintextBytes else { throw .malformed }
    var (root, sending) = try nextSending(random: &random)
    let message = NormalMessage.seal(
      plaintext, sending.chain.messageKey, ratchetKey: sending.ratchet.key, index: sending.chain.index)
    try sending.chain.advance()
    self.root = root
    self.sending = sending
    return isEstablished ? .normal(message) : .preKey(PreKeyMessage.wrap(message, keys))
  }

  private func nextSending(random: inout SecretSource) throws(OlmError) -> (root: RootKey, sending: SendingChain) {
    if let sending { return (root: root, sending: sending) }
    guard let newest = receiving.first else { throw .wrongSession }
    let ratchet = Curve25519KeyPair(from: &random)
    let (root, chain) = self.root.next(try ratchet.agree(with: newest.ratchetKey))
    return (root: root, sending: SendingChain(ratchet: ratchet, chain: chain))
  }

  /// Each message once, in any order within the limits.
  package mutating func decrypt(_ message: OlmMessage) throws(OlmError) -> [UInt8] {
    switch message {
    case .normal(let bytes): return try decrypt(NormalMessage(bytes))
    case .preKey(let bytes):
      let preKey = try PreKeyMessage(bytes)
      guard preKey.keys == keys else { throw .wrongSession }
      return try decrypt(preKey.inner)
    }
  }

  private mutating func decrypt(_ message: NormalMessage) throws(OlmError) -> [UInt8] {
    let plaintext: [UInt8]
    if let place = receiving.firstIndex(where: { $0.ratchetKey == message.ratchetKey }) {
      plaintext = try receiving[place].open(message)
    } else {
      plaintext = try decryptAfterTurn(message)
    }
    isEstablished = true
    return plaintext
  }

  /// A message with a new ratchet key: an answer to our newest one.
  private mutating func decryptAfterTurn(_ message: NormalMessage) throws(OlmError) -> [UInt8] {
    guard let sending else { throw .wrongSession }
    let (root, chain) = self.root.next(try sending.ratchet.agree(with: message.ratchetKey))
    var newest = ReceivingChain(message.ratchetKey, chain)
    let plaintext = try newest.open(message)
    self.root = root
    self.sending = nil
    receiving.insert(newest, at: 0)
    if receiving.count > Self.receivingChainsLimit { receiving.removeLast() }
    return plaintext
  }
}
