/// A device's lasting keys, and those it gives away to begin sessions.
///
/// A value: store it after each call that changes it, before anything is sent or shown.
package struct Account: Sendable {
  /// Private one-time keys that are kept. The server has about half of them; the rest was handed out and has not come back.
  /// The oldest go first.
  package static let oneTimeKeysLimit = 100

  /// Signs for the device; its fingerprint.
  package let signing: Ed25519KeyPair
  /// Names the device in sessions.
  package let identity: Curve25519KeyPair
  /// The oldest first.
  package private(set) var oneTimeKeys: [OneTimeKey]
  package private(set) var fallbackKey: OneTimeKey?
  /// Messages that were on their way when the fallback key was replaced still come with this one.
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

  // MARK: Keys to give away

  /// Makes at most `oneTimeKeysLimit`.
  package mutating func makeOneTimeKeys(_ count: Int, random: inout SecretSource) {
    for _ in 0..<max(0, min(count, Self.oneTimeKeysLimit)) { oneTimeKeys.append(makeKey(random: &random)) }
    oneTimeKeys = oneTimeKeys.suffix(Self.oneTimeKeysLimit)
  }

  package mutating func replaceFallbackKey(random: inout SecretSource) {
    previousFallbackKey = fallbackKey
    fallbackKey = makeKey(random: &random)
  }

  package mutating func forgetPreviousFallbackKey() { previousFallbackKey = nil }

  /// The server has them all.
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

  /// A session to write with. Both keys are the other device's, and the caller has checked the signature on the one-time key.
  package func session(
    to identity: Curve25519Key, oneTime: Curve25519Key, random: inout SecretSource
  ) throws(OlmError) -> Session {
    try Session(from: self.identity, to: identity, oneTime: oneTime, random: &random)
  }

  /// The session that a message begins, and what the message says. A one-time key is forgotten with its first message; with a
  /// fallback key the message would be accepted again, so ask the sessions that are there first (`Session.isBegun`).
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
