import Addresses

/// The destinations that the relay may send to. A relay that anybody with an account can use must not open the network that it stands in.
package struct RelayPolicy: Sendable {
  /// The addresses of this machine, those behind address translation too: its services trust them.
  private let own: Set<IPAddress>
  private let allowed: [IPNetwork]
  private let general: AddressPolicy
  /// For what is public, but next to us.
  private let nearby: AddressPolicy

  /// - Parameters:
  ///   - own: all that this machine is reached by.
  ///   - networks: those that it is part of.
  package init(own: [IPAddress], networks: [IPNetwork], allowed: [IPNetwork]) {
    self.own = Set(own.map(\.unmapped))
    self.allowed = allowed
    general = AddressPolicy(allowed: allowed, denied: own.compactMap { IPNetwork($0.description) })
    nearby = AddressPolicy(allowed: Self.everything, denied: networks)
  }

  private static let everything = ["0.0.0.0/0", "::/0"].compactMap { IPNetwork($0) }

  func isOwn(_ address: IPAddress) -> Bool { own.contains(address) }

  /// False for this machine: what of it may be reached is the relay's affair.
  func permits(_ address: IPAddress) -> Bool {
    guard !isOwn(address), general.permits(address) else { return false }
    return allowed.contains { $0.contains(address) } || nearby.permits(address)
  }
}
