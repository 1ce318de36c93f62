import JSON

/// A peer connection of a session: the one to the router, or one to another connection of a relayed session.
struct PeerLink: Sendable {
  var peer: PeerID { negotiation.peer }
  /// The connection at the other end; nil for the router.
  let remote: ByteString?
  var negotiation: Negotiation
  var watch = TransportWatch()
  /// Until then no offer is made, and `unsent` waits.
  var retryAt: Int64?
  /// What the server has refused to relay for now, in order.
  var unsent: [RelayedData] = []
  /// What the sections of the other side are for.
  var arriving: [ArrivingSection] = []

  struct ArrivingSection: Sendable {
    let mid: ByteString
    let stream: ByteString
    var hasTrack = false
  }
}

/// What one peer of a relayed session says to the other: a description, or a candidate.
struct RelayedData: Sendable {
  /// nil for a candidate.
  let kind: DescriptionKind?
  let text: ByteString
}
