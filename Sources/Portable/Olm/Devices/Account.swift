/// A device's long-term keys, and the keys it publishes so that others can begin sessions.
///
/// A value: store it after each call that changes it, before anything is sent or shown.
package struct Account: Sendable {
  /// The number of private one-time keys to keep. The server holds about half of them; the others were handed out and not used yet.
  /// The oldest are dropped first.
  package static let oneTimeKeysLimit = 100

  /// Signs for the device. The public key is its fingerprint.
  package let signing: Ed25519KeyPair
  /// Identifies the device in sessions.
  package let identity: Curve25519KeyPair
  /// The oldest first.
  package private(set) var oneTimeKeys: [OneTimeKey]
  package private(set) var fallbackKey: OneTimeKey?
  /// The fallback key before, for messages that were on their way when it was replaced.
  package private(set) var previousFallbackKey: OneTimeKey?
  private(set) var keysMade: UInt64

  package init(random: inout SecretSource) {
    self.init(
      signing: Ed25519KeyPair(from: &random), identity: Curve25519KeyPair(from: &random), oneTimeKeys: [], fallbackKey: nil,
      previousFallbackKey: nil, keysMade: 0)
  }

  init(
    signing: Ed25519KeyPair, identity: Curve25519KeyPair, oneTimeKeys: [OneTimeKey], fallbackKey: OneTimeKey?,
    previousFallbackKey: OneTimeKey?, keysMade: UInt64
  ) {
    self.signing = signing
    self.identity = identity
    self.oneTimeKeys = oneTimeKeys
    self.fallbackKey = fallbackKey
    self.previousFallbackKey = previousFallbackKey
    self.keysMade = keysMade
  }

  // MARK: Keys to publish

  /// Adds new one-time keys, at most `oneTimeKeysLimit`.
  package mutating func makeOneTimeKeys(_ count: Int, random: inout SecretSource) {
    for _ in 0..<max(0, min(count, Self.oneTimeKeysLimit)) { oneTimeKeys.append(makeKey(random: &random)) }
    oneTimeKeys = oneTimeKeys.suffix(Self.oneTimeKeysLimit)
  }

  package mutating func replaceFallbackKey(random: inout SecretSource) {
    previousFallbackKey = fallbackKey
    fallbackKey = makeKey(random: &random)
  }

  package mutating func forgetPreviousFallbackKey() { previousFallbackKey = nil }

  /// Notes that the server has all keys.
  package mutating func markKeysAsPublished() {
    for index in oneTimeKeys.indices { oneTimeKeys[index].isPublished = true }
    fallbackKey?.isPublished = true
  }

  /// The server has other keys under these names, and never takes them.
  package mutating func forgetUnpublishedKeys() {
    oneTimeKeys.removeAll { !$0.isPublished }
    guard let fallbackKey, !fallbackKey.isPublished else { return }
    // The server still has the one before.
    self.fallbackKey = previousFallbackKey
    previousFallbackKey = nil
  }

  private mutating func makeKey(random: inout SecretSource) -> OneTimeKey {
    keysMade &+= 1
    return OneTimeKey(number: keysMade, pair: Curve25519KeyPair(from: &random))
  }

  // MARK: Sessions

  /// Begins a session with another device. Both keys are that device's; the caller has checked the signature of the one-time key.
  package func session(
    to identity: Curve25519Key, oneTime: Curve25519Key, random: inout SecretSource
  ) throws(OlmError) -> Session {
    try Session(from: self.identity, to: identity, oneTime: oneTime, random: &random)
  }

  /// Returns the session that a message begins, and the message's text. The first message uses up its one-time key. With a fallback
  /// key the same message would be accepted again, so ask the existing sessions first (`Session.isBegun`).
  package mutating func accept(
    _ preKeyMessage: [UInt8], from sender: Curve25519Key
  ) throws(OlmError) -> (session: Session, plaintext: [UInt8]) {
    let message = try PreKeyMessage(preKeyMessage)
    guard message.keys.identity == sender else { throw .wrongSender }
    guard let key = privateKey(of: message.keys.oneTime) else { throw .unknownOneTimeKey }
    var session = try Session(to: identity, oneTime: key, by: message)
    let plaintext = try session.decrypt(.preKey(preKeyMessage))
    oneTimeKeys.removeAll { $0.pair.key == message.keys.oneTime }
    return (session: session, plaintext: plaintext)
  }

  private func privateKey(of key: Curve25519Key) -> Curve25519KeyPair? {
    if let found = oneTimeKeys.first(where: { $0.pair.key == key }) { return found.pair }
    if let fallbackKey, fallbackKey.pair.key == key { return fallbackKey.pair }
    if let previousFallbackKey, previousFallbackKey.pair.key == key { return previousFallbackKey.pair }
    return nil
  }
}
