/// Addresses that begin with the same bits, `10.0.0.0/8` or `fc00::/7`, or one address. RFC 4632 §3.1, RFC 4291 §2.3.
package struct IPNetwork: Sendable, Equatable, CustomStringConvertible {
  /// As it was written.
  package let description: String
  package let address: IPAddress
  /// 0...32 or 0...128.
  package let prefixBits: Int

  /// A numeric address with or without `/bits`; bits of the address after the prefix do not matter. nil for anything else, and
  /// for a mapped IPv4 address whose bits end before it begins: `::ffff:10.0.0.0/8` would be a part of IPv6 that nobody means.
  package init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard parts.count <= 2, let address = IPAddress(String(decoding: parts[0], as: UTF8.self)) else { return nil }
    description = text
    self.address = address
    guard parts.count == 2 else {
      prefixBits = Self.widest(address)
      return
    }
    let digits = parts[1]
    guard (1...3).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let bits = Int(String(decoding: digits, as: UTF8.self)), bits <= Self.widest(address), bits >= 96 || !address.isMapped
    else { return nil }
    prefixBits = bits
  }

  /// An IPv4 network holds no IPv6 address and the other way round.
  package func contains(_ other: IPAddress) -> Bool {
    other.isIPv4 == address.isIPv4 && (other.number ^ address.number) >> (Self.widest(address) - prefixBits) == 0
  }

  private static func widest(_ address: IPAddress) -> Int { address.isIPv4 ? 32 : 128 }
}
