import JSON

/// A peer connection of a session: the one to the router, or one to another connection of a relayed session.
struct PeerLink: Sendable {
  var peer: PeerID { negotiation.peer }
  /// The connection at the other end; nil for the router.
  let remote: ByteString?
  var negotiation: Negotiation
  var watch = TransportWatch()
  /// Until then no offer is made.
  var retryAt: Int64?
  /// What the sections of the other side are for.
  var arriving: [ArrivingSection] = []

  struct ArrivingSection: Sendable {
    let mid: ByteString
    let stream: ByteString
    var hasTrack = false
  }
}
