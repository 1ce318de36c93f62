import Addresses
import Glibc

/// An IPv4 or IPv6 address with a port. An IPv4 address mapped into IPv6 is kept as IPv4.
package struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
  package let ip: IPAddress
  package let port: UInt16

  package static let loopback = SocketAddress(IPAddress(ipv4: 0x7F00_0001), port: 0)

  package var isIPv4: Bool { ip.isIPv4 }
  /// Whether only this machine reaches it.
  package var isLoopback: Bool { ip.isLoopback }
  /// The address without port or brackets.
  package var address: String { ip.description }
  /// What one household has: an IPv4 address, or the first 64 bits of an IPv6 address.
  package var network: UInt64 { UInt64(truncatingIfNeeded: isIPv4 ? ip.number : ip.number >> 64) }

  package init(_ ip: IPAddress, port: UInt16) {
    self.ip = ip.unmapped
    self.port = port
  }

  /// A numeric address, in brackets or not; nil for anything else, names included.
  package init?(address: String, port: UInt16) {
    guard let ip = IPAddress(address) else { return nil }
    self.init(ip, port: port)
  }

  /// `host:port` with a numeric host, as in `127.0.0.1:8008` and `[::1]:8008`.
  package init?(_ text: String) {
    guard let (host, port) = Self.split(text) else { return nil }
    self.init(address: host, port: port)
  }

  /// The addresses of `host:port` where the host may be a name. Blocks on the system's resolver.
  ///
  /// - Throws: `BindError` when the text has no port in 0...65535 or the name has no address.
  package static func resolve(_ text: String) throws(BindError) -> [SocketAddress] {
    guard let (host, port) = split(text) else { throw BindError(address: text, reason: "not host:port") }
    if let address = SocketAddress(address: host, port: port) { return [address] }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    let result = getaddrinfo(host, nil, &hints, &list)
    guard result == 0 else { throw BindError(address: text, reason: String(cString: gai_strerror(result))) }
    defer { freeaddrinfo(list) }
    var found: [SocketAddress] = []
    var next = list
    while let entry = next {
      if let ip = entry.pointee.ai_addr.flatMap({ IPAddress(system: $0, count: Int(entry.pointee.ai_addrlen)) }) {
        let address = SocketAddress(ip, port: port)
        if !found.contains(address) { found.append(address) }
      }
      next = entry.pointee.ai_next
    }
    guard !found.isEmpty else { throw BindError(address: text, reason: "no address") }
    return found
  }

  private static func split(_ text: String) -> (host: String, port: UInt16)? {
    let bytes = Array(text.utf8)
    guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")), colon > 0,
      let number = ASCII.number(bytes[(colon + 1)...]), let port = UInt16(exactly: number)
    else { return nil }
    let host = bytes[..<colon]
    // Without brackets the colons of IPv6 and of the port cannot be told apart.
    guard host.first == UInt8(ascii: "[") || !host.contains(UInt8(ascii: ":")) else { return nil }
    return (String(decoding: host, as: UTF8.self), port)
  }

  package var description: String { isIPv4 ? "\(ip):\(port)" : "[\(ip)]:\(port)" }
}

extension SocketAddress {
  /// From the system's form of at least `count` bytes; nil for other families.
  init?(system address: UnsafeRawPointer, count: Int) {
    guard let ip = IPAddress(system: address, count: count) else { return nil }
    // Both families keep the port in the same place.
    self.init(ip, port: UInt16(bigEndian: address.loadUnaligned(as: sockaddr_in.self).sin_port))
  }

  /// Calls `body` with the system's form.
  func withSystemAddress<Value>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
    var storage = sockaddr_storage()
    return withUnsafeMutableBytes(of: &storage) { bytes in
      let count: Int
      if isIPv4 {
        var v4 = sockaddr_in()
        v4.sin_family = sa_family_t(AF_INET)
        v4.sin_port = port.bigEndian
        v4.sin_addr = ip.inet4
        bytes.storeBytes(of: v4, as: sockaddr_in.self)
        count = MemoryLayout<sockaddr_in>.size
      } else {
        var v6 = sockaddr_in6()
        v6.sin6_family = sa_family_t(AF_INET6)
        v6.sin6_port = port.bigEndian
        v6.sin6_addr = ip.inet6
        bytes.storeBytes(of: v6, as: sockaddr_in6.self)
        count = MemoryLayout<sockaddr_in6>.size
      }
      return body(bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(count))
    }
  }
}
