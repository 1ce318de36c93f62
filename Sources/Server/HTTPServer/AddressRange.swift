/// Addresses that begin with the same bits, as `10.0.0.0/8` and `fd00::/8`. RFC 4632 §3.1, RFC 4291 §2.3.
package struct AddressRange: Sendable, Equatable, CustomStringConvertible {
  /// As it was written.
  package let description: String
  private let high: UInt64
  private let low: UInt64
  /// Bits of 128.
  private let prefixBits: Int

  /// A numeric address with or without `/bits`; nil for anything else.
  package init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard parts.count <= 2, let address = SocketAddress(address: String(decoding: parts[0], as: UTF8.self), port: 0) else {
      return nil
    }
    let widest = address.isIPv4 ? 32 : 128
    var bits = widest
    if parts.count == 2 {
      guard let number = ASCII.number(parts[1]), number <= widest else { return nil }
      bits = Int(number)
    }
    description = text
    prefixBits = bits + 128 - widest
    high = address.high & Self.mask(prefixBits)
    low = address.low & Self.mask(prefixBits - 64)
  }

  /// Whether the address lies in the range; the port does not matter.
  package func contains(_ address: SocketAddress) -> Bool {
    address.high & Self.mask(prefixBits) == high && address.low & Self.mask(prefixBits - 64) == low
  }

  private static func mask(_ bits: Int) -> UInt64 {
    bits <= 0 ? 0 : bits >= 64 ? .max : ~(UInt64.max >> UInt64(bits))
  }
}
