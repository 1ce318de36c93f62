import Addresses

/// What an operator decides about the way out.
package struct OutboundConfiguration: Sendable {
  /// Networks that count as public although they are not, such as a company's own.
  package var allowedNetworks: [IPNetwork] = []
  /// Networks that do not count as public although they are. A denied network is not allowed.
  package var deniedNetworks: [IPNetwork] = []
  /// Connections open at a time, for each `DestinationPolicy`.
  package var connectionsLimit = 64
  package var connectionsPerHostLimit = 8
  /// Requests under way or waiting for a connection, for each `DestinationPolicy`. One more is `OutboundError.tooBusy`.
  package var requestsLimit = 1_000
  package var connectTimeout = Duration.seconds(10)
  /// A file with certificates in PEM that are trusted in place of the system's.
  package var certificatesFile: String?

  package init() {}
}
