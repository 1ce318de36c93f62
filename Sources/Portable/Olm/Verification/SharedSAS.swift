import CPrimitives

/// What both sides of a verification see once each has the other's key. The caller composes `info` of users, devices, keys and
/// transaction, as the specification says. Spec: Client-Server API, "SAS HKDF calculation", "MAC calculation".
package struct SharedSAS: Sendable {
  private let secret: Secret

  init(_ secret: Secret) { self.secret = secret }

  /// Seven rows of the specification's table of 64 emoji.
  package func emoji(info: [UInt8]) -> [UInt8] {
    let bits = bits(6, info)
    return (0..<7).map { UInt8(bits >> (42 - 6 * UInt64($0)) & 63) }
  }

  /// Three numbers from 1,000 to 9,191.
  package func decimals(info: [UInt8]) -> [UInt16] {
    let bits = bits(5, info)
    return (0..<3).map { UInt16(bits >> (27 - 13 * UInt64($0)) & 0x1FFF) + 1_000 }
  }

  /// `hkdf-hmac-sha256.v2` of a key, or of the list of keys: unpadded base64.
  package func mac(of message: [UInt8], info: [UInt8]) -> [UInt8] {
    Base64.encode(secret.derived(32, info: info).tag(of: message))
  }

  /// Whether the other side's MAC is right; with or without padding.
  package func verifies(_ mac: [UInt8], of message: [UInt8], info: [UInt8]) -> Bool {
    let right = secret.derived(32, info: info).tag(of: message)
    guard let tag = Base64.decode(mac), tag.count == right.count else { return false }
    return primitives_equal(tag, right, right.count) == 1
  }

  private func bits(_ byteCount: Int, _ info: [UInt8]) -> UInt64 {
    secret.derived(byteCount, info: info).exposed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
