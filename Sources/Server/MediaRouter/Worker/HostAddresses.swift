import Addresses
import Glibc

/// The addresses of this machine that a peer elsewhere may reach.
package enum HostAddresses {
  /// More would only make peers try longer.
  package static let limit = 16

  /// Of each interface that is up, one address of each family, as the system lists them; without loopback and link-local ones. Where there
  /// is nothing else, those of loopback.
  package static func list() -> [IPAddress] {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return [] }
    defer { freeifaddrs(first) }
    var found: [(interface: String, ip: IPAddress)] = []
    var entry = first
    while let this = entry?.pointee {
      entry = this.ifa_next
      guard this.ifa_flags & UInt32(bitPattern: Int32(IFF_UP)) != 0, let address = this.ifa_addr,
        let ip = IPAddress(system: address, count: MemoryLayout<sockaddr_in6>.size)
      else { continue }
      found.append((String(cString: this.ifa_name), ip))
    }
    return choose(found)
  }

  /// All addresses of this machine, and the networks that they are in.
  static func surroundings() -> (own: [IPAddress], networks: [IPNetwork]) {
    var first: UnsafeMutablePointer<ifaddrs>?
    guard getifaddrs(&first) == 0 else { return ([], []) }
    defer { freeifaddrs(first) }
    var (own, networks): ([IPAddress], [IPNetwork]) = ([], [])
    var entry = first
    while let this = entry?.pointee {
      entry = this.ifa_next
      guard let address = this.ifa_addr, let ip = IPAddress(system: address, count: MemoryLayout<sockaddr_in6>.size) else {
        continue
      }
      own.append(ip)
      if let mask = this.ifa_netmask.flatMap({ IPAddress(system: $0, count: MemoryLayout<sockaddr_in6>.size) }),
        // A mask of nothing would make all the world our neighbour.
        mask.number != 0, let network = IPNetwork("\(ip)/\(mask.number.nonzeroBitCount)")
      {
        networks.append(network)
      }
    }
    return (own, networks)
  }

  static func choose(_ found: [(interface: String, ip: IPAddress)]) -> [IPAddress] {
    var chosen: [(interface: String, ip: IPAddress)] = []
    for entry in found where !entry.ip.isLoopback && !entry.ip.isLinkLocal {
      // Answers leave from the first address of an interface, whichever was asked.
      guard !chosen.contains(where: { $0.interface == entry.interface && $0.ip.isIPv4 == entry.ip.isIPv4 }) else { continue }
      chosen.append(entry)
    }
    guard chosen.isEmpty else { return chosen.prefix(limit).map(\.ip) }
    return found.map(\.ip).filter(\.isLoopback)
  }
}

extension IPAddress {
  /// 169.254.0.0/16 and fe80::/10. RFC 3927, RFC 4291 §2.5.6.
  fileprivate var isLinkLocal: Bool { isIPv4 ? number >> 16 == 0xA9FE : number >> 118 == 0x3FA }
}
