/// Decrypts the messages that the other side sends with one ratchet key, in any order.
struct ReceivingChain: Sendable {
  /// How far a message may lie ahead of the newest one before it. More would only keep the processor busy.
  static let gapLimit: UInt32 = 2_000
  /// The number of keys to keep for messages that have not arrived. The oldest are dropped first.
  static let skippedKeysLimit = 40

  struct SkippedKey: Sendable {
    let index: UInt32
    let key: Secret
  }

  let ratchetKey: Curve25519Key
  private(set) var chain: ChainKey
  private(set) var skipped: [SkippedKey]

  init(_ ratchetKey: Curve25519Key, _ chain: ChainKey, skipped: [SkippedKey] = []) {
    self.ratchetKey = ratchetKey
    self.chain = chain
    self.skipped = skipped
  }

  /// Decrypts each message once: its key is dropped with it.
  mutating func open(_ message: NormalMessage) throws(OlmError) -> [UInt8] {
    if message.index < chain.index { return try openSkipped(message) }
    guard message.index - chain.index <= Self.gapLimit else { throw .tooFarAhead }
    var chain = chain
    var skipped = skipped
    while chain.index < message.index {
      // Older ones would be dropped at the end.
      if message.index - chain.index <= UInt32(Self.skippedKeysLimit) {
        skipped.append(SkippedKey(index: chain.index, key: chain.messageKey))
      }
      try chain.advance()
    }
    let plaintext = try message.open(chain.messageKey)
    try chain.advance()
    self.chain = chain
    self.skipped = skipped.suffix(Self.skippedKeysLimit)
    return plaintext
  }

  private mutating func openSkipped(_ message: NormalMessage) throws(OlmError) -> [UInt8] {
    guard let place = skipped.firstIndex(where: { $0.index == message.index }) else { throw .unreachableIndex }
    let plaintext = try message.open(skipped[place].key)
    skipped.remove(at: place)
    return plaintext
  }
}
