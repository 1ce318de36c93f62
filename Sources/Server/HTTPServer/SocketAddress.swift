import Glibc

/// An IPv4 or IPv6 address with a port. An IPv4 address mapped into IPv6 is kept as IPv4.
package struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
  /// The 16 bytes of the address; an IPv4 address is the last 4, after the prefix `::ffff:`.
  let high: UInt64
  let low: UInt64
  package let port: UInt16

  private static let mappedPrefix: UInt64 = 0x0000_FFFF_0000_0000

  package static let loopback = SocketAddress(high: 0, low: mappedPrefix | 0x7F00_0001, port: 0)

  package var isIPv4: Bool { high == 0 && low & 0xFFFF_FFFF_0000_0000 == Self.mappedPrefix }

  /// What one household has: an IPv4 address, or the first 64 bits of an IPv6 address.
  package var network: UInt64 { isIPv4 ? low : high }

  /// Whether only this machine reaches it: 127.0.0.0/8 or ::1.
  package var isLoopback: Bool { isIPv4 ? (low >> 24) & 0xFF == 127 : high == 0 && low == 1 }

  init(high: UInt64, low: UInt64, port: UInt16) {
    self.high = high
    self.low = low
    self.port = port
  }

  /// A numeric address, IPv6 with or without brackets; nil for anything else, names included.
  package init?(address: String, port: UInt16) {
    var text = Array(address.utf8)
    if text.first == UInt8(ascii: "["), text.last == UInt8(ascii: "]") { text = Array(text.dropFirst().dropLast()) }
    guard text.count < Int(INET6_ADDRSTRLEN), !text.contains(0) else { return nil }
    let terminated = text.map { CChar(bitPattern: $0) } + [0]
    var v4 = in_addr()
    if inet_pton(AF_INET, terminated, &v4) == 1 {
      self.init(high: 0, low: Self.mappedPrefix | UInt64(UInt32(bigEndian: v4.s_addr)), port: port)
      return
    }
    var v6 = in6_addr()
    guard inet_pton(AF_INET6, terminated, &v6) == 1 else { return nil }
    self.init(v6, port: port)
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
      if let address = entry.pointee.ai_addr.flatMap({ SocketAddress($0) }) {
        let withPort = SocketAddress(high: address.high, low: address.low, port: port)
        if !found.contains(withPort) { found.append(withPort) }
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

  package var description: String { isIPv4 ? "\(address):\(port)" : "[\(address)]:\(port)" }

  /// The address without port or brackets.
  package var address: String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    if isIPv4 {
      var v4 = in_addr(s_addr: UInt32(truncatingIfNeeded: low).bigEndian)
      inet_ntop(AF_INET, &v4, &text, socklen_t(text.count))
    } else {
      var v6 = inet6
      inet_ntop(AF_INET6, &v6, &text, socklen_t(text.count))
    }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

extension SocketAddress {
  /// From the system's form; nil for other families.
  init?(_ address: UnsafePointer<sockaddr>) {
    let raw = UnsafeRawPointer(address)
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      let v4 = raw.loadUnaligned(as: sockaddr_in.self)
      self.init(
        high: 0, low: Self.mappedPrefix | UInt64(UInt32(bigEndian: v4.sin_addr.s_addr)), port: UInt16(bigEndian: v4.sin_port))
    case AF_INET6:
      let v6 = raw.loadUnaligned(as: sockaddr_in6.self)
      self.init(v6.sin6_addr, port: UInt16(bigEndian: v6.sin6_port))
    default:
      return nil
    }
  }

  private init(_ v6: in6_addr, port: UInt16) {
    let words = withUnsafeBytes(of: v6) { bytes in
      (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
    self.init(high: UInt64(bigEndian: words.0), low: UInt64(bigEndian: words.1), port: port)
  }

  private var inet6: in6_addr {
    var v6 = in6_addr()
    withUnsafeMutableBytes(of: &v6) { bytes in
      bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
      bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
    }
    return v6
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
        v4.sin_addr.s_addr = UInt32(truncatingIfNeeded: low).bigEndian
        bytes.storeBytes(of: v4, as: sockaddr_in.self)
        count = MemoryLayout<sockaddr_in>.size
      } else {
        var v6 = sockaddr_in6()
        v6.sin6_family = sa_family_t(AF_INET6)
        v6.sin6_port = port.bigEndian
        v6.sin6_addr = inet6
        bytes.storeBytes(of: v6, as: sockaddr_in6.self)
        count = MemoryLayout<sockaddr_in6>.size
      }
      return body(bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self), socklen_t(count))
    }
  }
}
