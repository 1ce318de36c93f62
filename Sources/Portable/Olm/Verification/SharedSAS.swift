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

  /// The MAC of a key, or of the list of keys, as text.
  package func mac(of message: [UInt8], info: [UInt8], _ encoding: MACEncoding = .base64) -> [UInt8] {
    encoding.text(of: tag(of: message, info))
  }

  /// Whether the other side's MAC is right. In base64 it may have padding.
  package func verifies(_ mac: [UInt8], of message: [UInt8], info: [UInt8], _ encoding: MACEncoding = .base64) -> Bool {
    let right = tag(of: message, info)
    switch encoding {
    case .base64: return Base64.decode(mac).map { Self.areEqual($0, right) } ?? false
    case .overwritten: return Self.areEqual(mac, encoding.text(of: right))
    }
  }

  private func tag(of message: [UInt8], _ info: [UInt8]) -> [UInt8] { secret.derived(32, info: info).tag(of: message) }

  private static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.count == other.count && primitives_equal(one, other, one.count) == 1
  }

  private func bits(_ byteCount: Int, _ info: [UInt8]) -> UInt64 {
    secret.derived(byteCount, info: info).exposed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
