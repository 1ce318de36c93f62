import Glibc

/// An IPv4 or IPv6 address, without a port.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
  /// 4 or 16 bytes as they are on the wire.
  package let bytes: [UInt8]

  package var isIPv4: Bool { bytes.count == 4 }

  /// nil unless there are 4 or 16 bytes.
  package init?(bytes: [UInt8]) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// A numeric address without brackets; nil for anything else, names included.
  package init?(_ text: String) {
    var v4 = in_addr()
    var v6 = in6_addr()
    guard !text.utf8.contains(0) else { return nil }
    if inet_pton(AF_INET, text, &v4) == 1 {
      bytes = withUnsafeBytes(of: v4) { Array($0) }
    } else if inet_pton(AF_INET6, text, &v6) == 1 {
      bytes = withUnsafeBytes(of: v6) { Array($0) }
    } else {
      return nil
    }
  }

  /// From the system's form of at least `count` bytes; nil for other families.
  init?(_ address: UnsafeRawPointer, count: Int) {
    guard count >= MemoryLayout<sa_family_t>.size else { return nil }
    switch Int32(address.loadUnaligned(as: sa_family_t.self)) {
    case AF_INET where count >= MemoryLayout<sockaddr_in>.size:
      bytes = withUnsafeBytes(of: address.loadUnaligned(as: sockaddr_in.self).sin_addr) { Array($0) }
    case AF_INET6 where count >= MemoryLayout<sockaddr_in6>.size:
      bytes = withUnsafeBytes(of: address.loadUnaligned(as: sockaddr_in6.self).sin6_addr) { Array($0) }
    default:
      return nil
    }
  }

  package var description: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    _ = bytes.withUnsafeBytes {
      inet_ntop(isIPv4 ? AF_INET : AF_INET6, $0.baseAddress, &text, socklen_t(INET6_ADDRSTRLEN))
    }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
