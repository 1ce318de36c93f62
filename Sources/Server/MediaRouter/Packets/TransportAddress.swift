import Addresses

/// Where a datagram comes from or goes to. An IPv4 address stands as `::ffff:a.b.c.d`, so that comparing is three numbers.
package struct TransportAddress: Sendable, Hashable, CustomStringConvertible {
  package let high: UInt64
  package let low: UInt64
  package let port: UInt16
  /// By TCP: the datagrams are frames of a connection with this peer.
  package let isStream: Bool
  /// By TLS within TCP, at another port of ours: the same peer may have a connection without from the same port.
  package let isSecure: Bool

  package init(high: UInt64, low: UInt64, port: UInt16, isStream: Bool = false, isSecure: Bool = false) {
    self.high = high
    self.low = low
    self.port = port
    self.isStream = isStream || isSecure
    self.isSecure = isSecure
  }

  package init(_ ip: IPAddress, port: UInt16, isStream: Bool = false, isSecure: Bool = false) {
    let number = ip.mapped.number
    self.init(
      high: UInt64(truncatingIfNeeded: number >> 64), low: UInt64(truncatingIfNeeded: number), port: port, isStream: isStream,
      isSecure: isSecure)
  }

  package var ip: IPAddress { IPAddress(ipv6: UInt128(high) << 64 | UInt128(low)).unmapped }

  /// Who has one of its addresses has all: an address of IPv4; of IPv6 the half that a network gives out.
  var network: UInt64 { high == 0 ? low : high }

  package var description: String {
    (ip.isIPv4 ? "\(ip):\(port)" : "[\(ip)]:\(port)") + (isSecure ? "/tls" : isStream ? "/tcp" : "")
  }
}

/// XOR-MAPPED-ADDRESS. RFC 8489 §14.2.
extension TransportAddress {
  /// nil for a value of the wrong length or family.
  init?(xored value: RawSpan, _ transactionID: [UInt8]) {
    guard value.byteCount >= 8 else { return nil }
    let port = value.uint16(at: 2) ^ UInt16(truncatingIfNeeded: STUNMessage.magicCookie >> 16)
    switch (value.uint8(at: 1), value.byteCount) {
    case (1, 8):
      self.init(IPAddress(ipv4: value.uint32(at: 4) ^ STUNMessage.magicCookie), port: port)
    case (2, 20):
      let number = UInt128(value.uint64(at: 4)) << 64 | UInt128(value.uint64(at: 12))
      self.init(IPAddress(ipv6: number ^ Self.mask(transactionID)), port: port)
    default: return nil
    }
  }

  func xored(_ transactionID: [UInt8]) -> [UInt8] {
    let ip = ip
    var value: [UInt8] = [0, ip.isIPv4 ? 1 : 2]
    value.append(number: port ^ UInt16(truncatingIfNeeded: STUNMessage.magicCookie >> 16))
    if ip.isIPv4 {
      value.append(number: UInt32(truncatingIfNeeded: ip.number) ^ STUNMessage.magicCookie)
    } else {
      value.append(number: ip.number ^ Self.mask(transactionID))
    }
    return value
  }

  private static func mask(_ transactionID: [UInt8]) -> UInt128 {
    transactionID.reduce(UInt128(STUNMessage.magicCookie)) { $0 << 8 | UInt128($1) }
  }
}
