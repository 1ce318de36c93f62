import Glibc

/// An IP address as bytes in network order: 4 or 16.
struct IPAddress: Sendable, Hashable {
  let bytes: [UInt8]

  /// Reads the dotted or the colon notation of inet_pton(3); nil for anything else.
  init?(_ text: String) {
    var four = in_addr()
    var six = in6_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      bytes = withUnsafeBytes(of: four) { Array($0) }
    } else if inet_pton(AF_INET6, text, &six) == 1 {
      bytes = withUnsafeBytes(of: six) { Array($0) }
    } else {
      return nil
    }
  }

  var isIPv6: Bool { bytes.count == 16 }

  /// 127.0.0.0/8 and ::1.
  var isLoopback: Bool {
    isIPv6 ? bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1 : bytes[0] == 127
  }
}

/// Addresses with a common beginning: `10.0.0.0/8`, `fd00::/8`, or one address alone.
struct AddressRange: Sendable, Hashable, CustomStringConvertible {
  let address: IPAddress
  let prefixBits: Int
  let description: String

  init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = IPAddress(String(parts[0])) else { return nil }
    let bits = address.bytes.count * 8
    var prefixBits = bits
    if parts.count == 2 {
      guard let number = Int(parts[1]), (0...bits).contains(number), parts[1].utf8.allSatisfy(isDigit) else {
        return nil
      }
      prefixBits = number
    }
    self.address = address
    self.prefixBits = prefixBits
    description = text
  }
}
