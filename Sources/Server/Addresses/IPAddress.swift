import Glibc

/// An IPv4 or IPv6 address, without a port.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
  package let isIPv4: Bool
  /// The address as a number, its first byte in front. Of IPv4 the low 32 bits count, the others are 0.
  package let number: UInt128

  package init(ipv4 number: UInt32) {
    isIPv4 = true
    self.number = UInt128(number)
  }

  package init(ipv6 number: UInt128) {
    isIPv4 = false
    self.number = number
  }

  /// A numeric address, in brackets or not; nil for anything else, names included.
  package init?(_ text: String) {
    var bytes = Array(text.utf8)[...]
    if bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]") { bytes = bytes.dropFirst().dropLast() }
    guard bytes.count < Int(INET6_ADDRSTRLEN), !bytes.contains(0) else { return nil }
    let terminated = bytes.map { CChar(bitPattern: $0) } + [0]
    var v4 = in_addr()
    var v6 = in6_addr()
    if inet_pton(AF_INET, terminated, &v4) == 1 {
      self.init(v4)
    } else if inet_pton(AF_INET6, terminated, &v6) == 1 {
      self.init(v6)
    } else {
      return nil
    }
  }

  /// The address in a `sockaddr` of at least `count` bytes; nil for other families.
  package init?(system address: UnsafeRawPointer, count: Int) {
    guard count >= MemoryLayout<sa_family_t>.size else { return nil }
    switch Int32(address.loadUnaligned(as: sa_family_t.self)) {
    case AF_INET where count >= MemoryLayout<sockaddr_in>.size:
      self.init(address.loadUnaligned(as: sockaddr_in.self).sin_addr)
    case AF_INET6 where count >= MemoryLayout<sockaddr_in6>.size:
      self.init(address.loadUnaligned(as: sockaddr_in6.self).sin6_addr)
    default:
      return nil
    }
  }

  private init(_ v4: in_addr) { self.init(ipv4: UInt32(bigEndian: v4.s_addr)) }

  private init(_ v6: in6_addr) {
    self.init(ipv6: UInt128(bigEndian: withUnsafeBytes(of: v6) { $0.loadUnaligned(as: UInt128.self) }))
  }

  // MARK: Forms

  /// Whether it is an IPv4 address mapped into IPv6, `::ffff:1.2.3.4`. RFC 4291 §2.5.5.2.
  package var isMapped: Bool { !isIPv4 && number >> 32 == 0xFFFF }

  /// An IPv4 address mapped into IPv6; any other as it is.
  package var mapped: IPAddress { isIPv4 ? IPAddress(ipv6: 0xFFFF << 32 | number) : self }

  /// A mapped address as IPv4; any other as it is.
  package var unmapped: IPAddress { isMapped ? IPAddress(ipv4: UInt32(truncatingIfNeeded: number)) : self }

  /// Whether only this machine reaches it: 127.0.0.0/8 or ::1.
  package var isLoopback: Bool { isIPv4 ? number >> 24 == 127 : number == 1 }

  /// The system's form of an IPv4 address.
  package var inet4: in_addr { in_addr(s_addr: UInt32(truncatingIfNeeded: number).bigEndian) }

  /// The system's form of an IPv6 address.
  package var inet6: in6_addr {
    var v6 = in6_addr()
    withUnsafeMutableBytes(of: &v6) { $0.storeBytes(of: number.bigEndian, as: UInt128.self) }
    return v6
  }

  /// Without brackets.
  package var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    if isIPv4 {
      var v4 = inet4
      inet_ntop(AF_INET, &v4, &text, socklen_t(text.count))
    } else {
      var v6 = inet6
      inet_ntop(AF_INET6, &v6, &text, socklen_t(text.count))
    }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
