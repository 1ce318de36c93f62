/// Which addresses a URL that a user has named may lead to: those of the public Internet, so that nobody makes the server
/// ask what only the server can reach.
package struct AddressPolicy: Sendable {
  private let allowed: [IPNetwork]
  private let denied: [IPNetwork]

  package init(allowed: [IPNetwork] = [], denied: [IPNetwork] = []) {
    self.allowed = allowed
    self.denied = denied
  }

  /// An IPv6 address that carries an IPv4 address, as in a mapping or tunnel, must be permitted in both forms.
  package func permits(_ address: IPAddress) -> Bool {
    let forms = [address] + Self.carried(in: address)
    guard !forms.contains(where: { form in denied.contains { $0.contains(form) } }) else { return false }
    if forms.contains(where: { form in allowed.contains { $0.contains(form) } }) { return true }
    return forms.allSatisfy(Self.isPublic)
  }

  /// Whether the whole Internet knows the address as one place. Sources: the IANA IPv4 and IPv6 Special-Purpose Address
  /// Registries (RFC 6890) and address space registries.
  package static func isPublic(_ address: IPAddress) -> Bool {
    if address.isIPv4 { return !specialIPv4.contains { $0.contains(address) } }
    if carriers.contains(where: { $0.network.contains(address) }) { return true }
    return globalUnicast.contains(address) && !specialIPv6.contains { $0.contains(address) }
  }

  /// The IPv4 addresses within an IPv6 address.
  private static func carried(in address: IPAddress) -> [IPAddress] {
    carriers.compactMap { carrier in
      guard carrier.network.contains(address) else { return nil }
      return IPAddress(ipv4: UInt32(truncatingIfNeeded: address.number >> carrier.bitsAfter))
    }
  }

  private static let specialIPv4 = networks([
    "0.0.0.0/8",  // this network, RFC 791
    "10.0.0.0/8",  // private, RFC 1918
    "100.64.0.0/10",  // shared address space of carriers, RFC 6598
    "127.0.0.0/8",  // loopback, RFC 1122
    "169.254.0.0/16",  // link-local, RFC 3927: clouds tell their secrets here
    "172.16.0.0/12",  // private, RFC 1918
    "192.0.0.0/24",  // protocol assignments, RFC 6890
    "192.0.2.0/24",  // documentation, RFC 5737
    "192.31.196.0/24",  // AS112, RFC 7535
    "192.52.193.0/24",  // AMT, RFC 7450
    "192.88.99.0/24",  // 6to4 relays, RFC 7526
    "192.168.0.0/16",  // private, RFC 1918
    "192.175.48.0/24",  // AS112, RFC 7534
    "198.18.0.0/15",  // benchmarking, RFC 2544
    "198.51.100.0/24",  // documentation, RFC 5737
    "203.0.113.0/24",  // documentation, RFC 5737
    "224.0.0.0/4",  // multicast, RFC 5771
    "240.0.0.0/4"  // reserved and broadcast, RFC 1112 and RFC 919
  ])

  /// All that is given out as unicast, RFC 4291 §2.4: loopback, link-local, unique local and multicast lie outside.
  private static let globalUnicast = networks(["2000::/3"])[0]

  private static let specialIPv6 = networks([
    "2001::/23",  // protocol assignments with Teredo, benchmarking and ORCHID, RFC 2928
    "2001:db8::/32",  // documentation, RFC 3849
    "2620:4f:8000::/48",  // AS112, RFC 7534
    "3fff::/20"  // documentation, RFC 9637
  ])

  /// Networks whose addresses carry an IPv4 address, and how many bits follow it.
  private static let carriers: [(network: IPNetwork, bitsAfter: Int)] = [
    (networks(["::/96"])[0], 0),  // compatible, RFC 4291 §2.5.5.1; with ::1 and ::, which 0.0.0.0/8 keeps out
    (networks(["::ffff:0:0/96"])[0], 0),  // mapped, RFC 4291 §2.5.5.2
    (networks(["::ffff:0:0:0/96"])[0], 0),  // translated, RFC 2765
    (networks(["64:ff9b::/96"])[0], 0),  // NAT64, RFC 6052
    (networks(["2002::/16"])[0], 80)  // 6to4, RFC 3056
  ]

  private static func networks(_ texts: [String]) -> [IPNetwork] {
    texts.map { text in
      guard let network = IPNetwork(text) else { preconditionFailure("\(text) is no network") }
      return network
    }
  }
}
