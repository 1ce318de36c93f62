import HTTPServer

/// The address on which a server listens: a host and a port.
struct BindAddress: Sendable, Hashable, CustomStringConvertible {
  /// An IPv4 address, an IPv6 address without brackets, or a name.
  let host: String
  /// Port 0 lets the system choose a free port.
  let port: UInt16

  init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Reads `127.0.0.1:8008`, `[::1]:8008` or `name:8008`. Returns nil for any other text.
  init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")) else { return nil }
    let digits = bytes[(colon + 1)...]
    guard !digits.isEmpty, digits.allSatisfy(isDigit), let port = UInt16(String(decoding: digits, as: UTF8.self)) else {
      return nil
    }
    let host = bytes[..<colon]
    if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]"), host.count > 2 {
      let inner = String(decoding: host.dropFirst().dropLast(), as: UTF8.self)
      guard SocketAddress(address: inner, port: 0)?.isIPv4 == false else { return nil }
      self.init(host: inner, port: port)
    } else {
      let name = String(decoding: host, as: UTF8.self)
      guard isHostName(name) else { return nil }
      self.init(host: name, port: port)
    }
  }

  /// Whether only this machine can reach the address: 127.0.0.0/8, ::1 or `localhost`.
  var isLoopback: Bool {
    guard let address = SocketAddress(address: host, port: 0) else { return host == "localhost" }
    return address.isLoopback
  }

  var description: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// Whether the text is an IPv4 address or a name of letters, digits, hyphens and dots. A text of digits and dots must be a valid IPv4 address.
func isHostName(_ text: String) -> Bool {
  let bytes = Array(text.utf8)
  guard (1...255).contains(bytes.count) else { return false }
  let isNumeric = bytes.allSatisfy { isDigit($0) || $0 == UInt8(ascii: ".") }
  if isNumeric { return SocketAddress(address: text, port: 0) != nil }
  return bytes.allSatisfy { byte in
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
  }
}

func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
