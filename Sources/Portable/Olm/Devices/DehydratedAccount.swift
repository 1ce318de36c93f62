import CPrimitives

/// An account that lies at the server, sealed, and whose one-time keys others use while its owner has no device. It has no sessions: they begin when
/// its messages are read.
///
/// Opened it is a version (32 bits, the most significant byte first), the private key of the identity, that for signatures, the number of one-time
/// keys (32 bits) and these, and a byte that says whether a fallback key follows. Each key has 32 bytes. Source: MSC3814, "Device Dehydration Format".
package struct DehydratedAccount: Equatable, Sendable {
  package static let keyByteCount = 32, nonceByteCount = 12
  /// The version that clients write and read. The proposal's text has the second; the layout is the same.
  private static let version: UInt32 = 1, proposedVersion: UInt32 = 0x8000_0000
  private static let sealByteCount = 16, partByteCount = 32, countByteCount = 4
  /// Without one-time keys and fallback key.
  private static let fixedByteCount = 2 * countByteCount + 2 * partByteCount + 1
  private static let longestByteCount = fixedByteCount + (Account.oneTimeKeysLimit + 1) * partByteCount + sealByteCount

  package let sealed: [UInt8]
  package let nonce: [UInt8]

  package init(sealed: [UInt8], nonce: [UInt8]) {
    self.sealed = sealed
    self.nonce = nonce
  }

  /// Seals an account that has no sessions.
  ///
  /// - Parameter key: has `keyByteCount` bytes.
  package init(_ account: Account, with key: Secret, random: inout SecretSource) throws(OlmError) {
    guard key.count == Self.keyByteCount else { throw .malformed }
    let clear = Self.bytes(of: account)
    nonce = random.bytes(Self.nonceByteCount)
    var sealed = [UInt8](repeating: 0, count: clear.count + Self.sealByteCount)
    primitives_chacha20poly1305_seal(&sealed, clear.start, clear.count, nonce, key.start)
    self.sealed = sealed
  }

  /// Throws `wrongMAC` for another key and for changed bytes, `malformed` and `unknownVersion` for what no client writes.
  package func open(with key: Secret) throws(OlmError) -> Account {
    guard key.count == Self.keyByteCount, nonce.count == Self.nonceByteCount,
      (Self.fixedByteCount + Self.sealByteCount...Self.longestByteCount).contains(sealed.count)
    else { throw .malformed }
    var isRight = false
    let clear = Secret(count: sealed.count - Self.sealByteCount) {
      isRight = primitives_chacha20poly1305_open($0, sealed, sealed.count, nonce, key.start) == 1
    }
    guard isRight else { throw .wrongMAC }
    return try Self.account(from: clear)
  }

  // MARK: Format

  private static func bytes(of account: Account) -> Secret {
    let secrets = account.oneTimeKeys.map { $0.pair.secret }
    var parts = [number(version), account.identity.secret, account.signing.seed, number(UInt32(secrets.count))] + secrets
    parts.append(Secret([account.fallbackKey == nil ? 0 : 1]))
    if let fallback = account.fallbackKey { parts.append(fallback.pair.secret) }
    return Secret(joining: parts)
  }

  private static func number(_ number: UInt32) -> Secret {
    Secret([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) })
  }

  /// All keys are published. There are at least `fixedByteCount` bytes.
  package static func account(from clear: Secret) throws(OlmError) -> Account {
    guard clear.count >= fixedByteCount else { throw .malformed }
    let version = number(in: clear, at: 0)
    guard version == Self.version || version == proposedVersion else { throw .unknownVersion }
    var next = countByteCount
    func pair() throws(OlmError) -> Curve25519KeyPair {
      guard clear.count - next >= partByteCount else { throw .malformed }
      defer { next += partByteCount }
      guard let pair = Curve25519KeyPair(clear.part(next..<next + partByteCount)) else { throw .malformed }
      return pair
    }
    let identity = try pair()
    guard let signing = Ed25519KeyPair(seed: try pair().secret) else { throw .malformed }
    let count = Int(number(in: clear, at: next))
    guard count <= Account.oneTimeKeysLimit else { throw .malformed }
    next += countByteCount
    var keys: [OneTimeKey] = []
    for place in 0..<count { keys.append(OneTimeKey(number: UInt64(place + 1), pair: try pair(), isPublished: true)) }
    guard next < clear.count, clear.start[next] <= 1 else { throw .malformed }
    let hasFallback = clear.start[next] == 1
    next += 1
    let fallback = hasFallback ? OneTimeKey(number: UInt64(count + 1), pair: try pair(), isPublished: true) : nil
    guard next == clear.count else { throw .malformed }
    return Account(
      signing: signing, identity: identity, oneTimeKeys: keys, fallbackKey: fallback, previousFallbackKey: nil,
      keysMade: UInt64(count + 1))
  }

  private static func number(in clear: Secret, at place: Int) -> UInt32 {
    (0..<countByteCount).reduce(0) { $0 << 8 | UInt32(clear.start[place + $1]) }
  }
}
