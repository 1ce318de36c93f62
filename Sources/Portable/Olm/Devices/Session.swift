/// A conversation of two devices, encrypted by a double ratchet. Each answer brings a new key into it, so a stolen state reads
/// neither earlier messages nor, after the next answer, later ones.
///
/// A value: store it after each call, before the message is sent or shown. Then a crash neither uses a key twice nor loses one.
/// Spec: "Olm: A Cryptographic Ratchet".
package struct Session: Sendable {
  /// The number of the other side's chains to keep for late messages. The oldest is dropped first.
  package static let receivingChainsLimit = 5

  struct SendingChain: Sendable {
    let ratchet: Curve25519KeyPair
    var chain: ChainKey
  }

  let keys: SessionKeys
  private(set) var root: RootKey
  /// nil after the other side sent a new ratchet key: the next message then answers with a new one.
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

  /// Returns whether the message belongs to this session. One that belongs to none begins a new one: `Account.accept`.
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

  /// Decrypts each message once, in any order within the limits.
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

  /// Decrypts a message with a new ratchet key, which answers our newest one.
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
