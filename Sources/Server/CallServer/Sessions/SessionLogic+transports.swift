import MediaRouter

/// The one transport of each connection.
extension SessionLogic {
  /// The same peer connection is the same transport, whose ICE may begin anew.
  ///
  /// Throws `gone` for a peer connection that was connected to a transport which has ended: its peer goes on with keys that nobody has.
  mutating func transport(of id: ConnectionID, for offer: PeerOffer) throws(CallRefusal) {
    guard let peer = connections[id]?.peer else {
      if let ended = connections[id]?.ended, ended.goesOn(in: offer.identity) {
        let reason = CallRefusal(.gone, "The transport of this peer connection has ended.")
        ending.append((id, reason))
        throw reason
      }
      return open(offer, of: id)
    }
    guard peer.identity.goesOn(in: offer.identity) else {
      closeTransport(of: id)
      return open(offer, of: id)
    }
    if peer.identity.ufrag != offer.identity.ufrag { restart(peer, offer, of: id) }
  }

  private mutating func restart(_ peer: PeerState, _ offer: PeerOffer, of id: ConnectionID) {
    let credentials = ICECredentials.random(using: &random)
    connections[id]?.peer?.credentials = credentials
    connections[id]?.peer?.identity = offer.identity
    tell(
      .restart(
        peer.transport, credentials, remoteUfrag: Array(offer.identity.ufrag.utf8), remotePassword: Array(offer.password.utf8)
      ), on: peer.worker)
  }

  private mutating func open(_ offer: PeerOffer, of id: ConnectionID) {
    let atHome = connections.values.count { $0.peer?.worker == workers.home }
    let peer = PeerState(
      transport: TransportID(nextNumber()), worker: workers.next(atHome: atHome), identity: offer.identity,
      isDTLSClient: offer.isPassive,
      credentials: ICECredentials.random(using: &random))
    connections[id]?.peer = peer
    transports[peer.transport] = id
    tell(
      .open(
        peer.transport,
        TransportParameters(
          local: peer.credentials, remoteUfrag: Array(offer.identity.ufrag.utf8), remotePassword: Array(offer.password.utf8),
          fingerprint: offer.identity.fingerprint, isDTLSClient: offer.isPassive)), on: peer.worker)
  }

  /// Closes it in the router, which takes all that is on it away.
  private mutating func closeTransport(of id: ConnectionID) {
    guard let peer = connections[id]?.peer else { return }
    tell(.close(peer.transport), on: peer.worker)
    forgetTransport(of: id)
  }

  /// The router has no longer what was on a connection's transport. What it published waits for its publisher to send it anew.
  mutating func forgetTransport(of id: ConnectionID) {
    guard let connection = connections[id], let peer = connection.peer else { return }
    transports[peer.transport] = nil
    connections[id]?.peer = nil
    connections[id]?.ended = peer.wasConnected ? peer.identity : nil
    for case .subscribe(_, let subscription) in peer.sections.values.map(\.use) { subscriptions[subscription] = nil }
    for stream in connection.streams { withdraw(stream, .lost) }
  }

  /// Lets go of what the router has for a connection that ends.
  mutating func drop(_ connection: CallConnection) {
    guard let peer = connection.peer else { return }
    for case .subscribe(_, let subscription) in peer.sections.values.map(\.use) { subscriptions[subscription] = nil }
    transports[peer.transport] = nil
    connections[connection.id]?.peer = nil
    tell(.close(peer.transport), on: peer.worker)
  }
}
