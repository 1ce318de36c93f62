/// A range of addresses, `10.0.0.0/8` or `fc00::/7`, or one address.
package struct IPNetwork: Sendable, Equatable, CustomStringConvertible {
  package let address: IPAddress
  /// 0...32 or 0...128.
  package let prefixBits: Int

  /// A numeric address with or without `/bits`; bits of the address after the prefix do not matter. nil for anything else.
  package init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard parts.count <= 2, let address = IPAddress(String(decoding: parts[0], as: UTF8.self)) else { return nil }
    let widest = address.bytes.count * 8
    self.address = address
    guard parts.count == 2 else {
      prefixBits = widest
      return
    }
    let digits = parts[1]
    guard (1...3).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let bits = Int(String(decoding: digits, as: UTF8.self)), bits <= widest
    else { return nil }
    prefixBits = bits
  }

  /// An IPv4 network holds no IPv6 address and the other way round.
  package func contains(_ other: IPAddress) -> Bool {
    guard other.bytes.count == address.bytes.count else { return false }
    let whole = prefixBits / 8
    guard other.bytes[..<whole] == address.bytes[..<whole] else { return false }
    let rest = prefixBits % 8
    return rest == 0 || (other.bytes[whole] ^ address.bytes[whole]) >> UInt8(8 - rest) == 0
  }

  package var description: String { "\(address)/\(prefixBits)" }
}
