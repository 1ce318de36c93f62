import Addresses

/// The operator's settings for the TURN server.
package struct RelayConfiguration: Sendable {
  /// Where clients ask, by UDP and by TCP.
  package var address: TransportAddress
  /// By which peers reach this machine: what an allocation is told, one of each family.
  package var publicAddresses: [IPAddress]
  /// Each allocation has one of them.
  package var ports: ClosedRange<UInt16>
  package var realm: String
  /// Who knows it gives credentials out: `TURNServer` of the homeserver.
  package var secret: String
  /// Where data may be relayed to although the Internet does not know it as one place, or although it is next to this machine.
  package var allowed: [IPNetwork] = []
  /// Where our media router listens, at one address and several ports: clients may reach them through the relay whatever the address.
  var routers: [TransportAddress] = []
  /// Where clients ask by TLS; nil where they cannot.
  package var secure: Secure?
  package var limits = RelayLimits()

  /// For networks that let nothing but TLS out.
  package struct Secure: Sendable {
    let address: TransportAddress
    let certificate: TLSCertificate

    package init(address: TransportAddress, certificate: TLSCertificate) {
      self.address = TransportAddress(high: address.high, low: address.low, port: address.port, isSecure: true)
      self.certificate = certificate
    }
  }

  package init(
    address: TransportAddress, publicAddresses: [IPAddress], ports: ClosedRange<UInt16>, realm: String, secret: String
  ) {
    self.address = address
    self.publicAddresses = publicAddresses
    self.ports = ports
    self.realm = realm
    self.secret = secret
  }
}

/// What a TURN server makes state for, and how much it carries, at most.
package struct RelayLimits: Sendable {
  package var allocations = 2_000
  /// Allocations of one holder of credentials, over all servers. A browser makes one for each server address, network and, before sections
  /// are bundled, each section.
  package var allocationsOfUser = 40
  package var permissionsOfAllocation = 64
  package var channelsOfAllocation = 64
  /// Payload each way together; twice as much at once.
  package var bytesPerSecondOfAllocation: Int64 = 1_000_000
  package var bytesPerSecondOfUser: Int64 = 2_000_000
  package var bytesPerSecond: Int64 = 100_000_000
  /// Answers per second to requests without valid credentials, to one network: a forged source address makes the relay send to it.
  package var strangerAnswersPerSecond: Int64 = 20

  // RFC 8656 §3.2, §9, §12.
  static let lifetimeSeconds: UInt32 = 600
  static let longestLifetimeSeconds: UInt32 = 3_600
  static let permissionLifetime = MediaTime.Interval.seconds(300)
  static let channelLifetime = MediaTime.Interval.seconds(600)
  /// RFC 8489 §9.2: an hour at most.
  static let nonceSeconds: Int64 = 600
  /// An allocation may be refreshed so long after its credentials have ended: a call that has begun goes on.
  static let overtimeSeconds: Int64 = 12 * 60 * 60
  /// What a datagram to a client has room for beside its payload: the attributes of an indication.
  static let payloadBytes = SendBatch.datagramLimit - 56

  package init() {}
}

/// A moment as the relay needs it.
struct RelayTime {
  var monotonic: MediaTime
  /// Since 1970, for credentials.
  var unixSeconds: Int64
}
