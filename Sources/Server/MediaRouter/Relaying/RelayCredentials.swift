import CSSL

/// Who may use the relay. Nothing is remembered of anyone: names say until when they are good, and nonces too.
///
/// Long-term credentials: RFC 8489 §9.2. Names and passwords: draft-uberti-behave-turn-rest-00 §2.2, as `TURNServer` makes them.
struct RelayCredentials {
  struct User {
    let expires: Int64
    /// The holder of the credentials. Quotas apply per holder.
    let name: [UInt8]
  }

  let realm: [UInt8]
  private let secret: HMACSHA1
  private let nonces: HMACSHA1

  init(realm: String, secret: String, using generator: inout any RandomNumberGenerator) {
    self.realm = Array(realm.utf8)
    self.secret = HMACSHA1(key: Array(secret.utf8))
    nonces = HMACSHA1(key: (0..<20).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }

  // MARK: Names and passwords

  /// nil for a name that was not given out.
  static func user(_ username: [UInt8]) -> User? {
    guard let colon = username.firstIndex(of: UInt8(ascii: ":")), (1...18).contains(colon),
      let expires = Int64(String(decoding: username[..<colon], as: UTF8.self)), expires >= 0
    else { return nil }
    return User(expires: expires, name: Array(username[(colon + 1)...]))
  }

  /// What requests of this name are sealed with.
  func integrity(_ username: [UInt8]) -> HMACSHA1 {
    let digest = secret.tag(username)
    // Base64 of 20 bytes has 28 characters, and EVP_EncodeBlock ends it with NUL.
    var password = [UInt8](repeating: 0, count: 29)
    let count = EVP_EncodeBlock(&password, digest, Int32(digest.count))
    return Self.integrity(username, realm: realm, password: Array(password.prefix(Int(count))))
  }

  /// MD5, as SHA-256 is for clients that were offered it. RFC 8489 §9.2.2.
  static func integrity(_ username: [UInt8], realm: [UInt8], password: [UInt8]) -> HMACSHA1 {
    let text = username + [UInt8(ascii: ":")] + realm + [UInt8(ascii: ":")] + password
    var key = [UInt8](repeating: 0, count: 16)
    EVP_Digest(text, text.count, &key, nil, EVP_md5(), nil)
    return HMACSHA1(key: key)
  }

  // MARK: Nonces

  /// Good for this client and a while.
  func nonce(for client: TransportAddress, now: MediaTime) -> [UInt8] {
    nonce(client, second: UInt32(truncatingIfNeeded: now.microseconds / 1_000_000))
  }

  func isFresh(_ nonce: [UInt8], for client: TransportAddress, now: MediaTime) -> Bool {
    guard nonce.count == 24, let second = UInt32(String(decoding: nonce[..<8], as: UTF8.self), radix: 16) else { return false }
    let age = now.microseconds / 1_000_000 - Int64(second)
    guard (0...RelayLimits.nonceSeconds).contains(age) else { return false }
    let expected = self.nonce(client, second: second)
    return CRYPTO_memcmp(expected, nonce, nonce.count) == 0
  }

  private func nonce(_ client: TransportAddress, second: UInt32) -> [UInt8] {
    var text: [UInt8] = []
    text.append(number: second)
    let time = text
    text.append(number: client.high)
    text.append(number: client.low)
    text.append(number: client.port)
    text.append((client.isStream ? 1 : 0) + (client.isSecure ? 1 : 0))
    let digits = Array("0123456789abcdef".utf8)
    return (time + nonces.tag(text).prefix(8)).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
  }
}

extension HMACSHA1 {
  fileprivate func tag(_ message: [UInt8]) -> [UInt8] {
    var state = begin()
    message.withUnsafeBytes { state.add($0) }
    var bytes: [UInt8] = []
    finish(&state).append(to: &bytes)
    return bytes
  }
}
