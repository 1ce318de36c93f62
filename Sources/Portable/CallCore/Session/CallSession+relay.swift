import JSON

/// Relayed sessions: each two that have something to send each other have a peer connection between them, and negotiate by `relay`.
///
/// `data` is the text of an object: `{"description": {"type", "sdp"}, "sections": {MID: STREAM-ID}}`, the sections that its sender sends, or
/// `{"candidate": {…}}`. The lesser connection ID is the impolite side.
extension CallSession {
  /// Returns the link to a connection, created if necessary; nil beyond the limit.
  mutating func link(to remote: ByteString) -> Int? {
    if let i = links.firstIndex(where: { $0.remote == remote }) { return i }
    guard let own = connection?.id, links.count < CallLimits.relayedPeers, !unreachable.contains(remote) else { return nil }
    return open(to: remote, isPolite: remote < own)
  }

  /// Who only publishes wants nothing.
  mutating func sendEverything(to remote: CallConnection) {
    guard remote.role != .publisherOnly else { return }
    for publication in publications where publication.stream != nil {
      if let link = link(to: remote.id) { send(publication, on: link) }
    }
  }

  mutating func relay(
    _ kind: DescriptionKind, _ sdp: ByteString, _ sections: [Negotiation.Section], on i: Int
  ) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("description")
    SessionDescription(kind: kind, sdp: sdp).write(to: &writer)
    writer.key("sections")
    writer.beginObject()
    for section in sections where section.state == .present && section.source != nil {
      guard let mid = section.mid else { continue }
      writer.key(mid)
      writer.write(section.stream)
    }
    writer.endObject()
    writer.endObject()
    relay(RelayedData(kind: kind, text: ByteString(decoding: writer.bytes)), on: i)
  }

  mutating func relay(_ candidate: ICECandidate, on i: Int) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("candidate")
    candidate.write(to: &writer)
    writer.endObject()
    relay(RelayedData(kind: nil, text: ByteString(decoding: writer.bytes)), on: i)
  }

  private mutating func relay(_ data: RelayedData, on i: Int) {
    guard links[i].unsent.isEmpty else { return keep(data, on: i) }
    guard let remote = links[i].remote else { return }
    request("relay", .relay(links[i].peer, data)) { writer in
      writer.member("to", remote)
      writer.member("data", data.text)
    }
  }

  private mutating func keep(_ data: RelayedData, on i: Int) {
    if links[i].unsent.count < CallLimits.candidates { links[i].unsent.append(data) }
  }

  /// Keeps what the server refused for now.
  mutating func relayAnswered(_ data: RelayedData, _ peer: PeerID, _ refusal: CallRefusal?, retryAfter: Int64?) {
    guard let i = link(peer) else { return }
    guard let refusal else {
      // This candidate arrived ahead of its description, and the other side has dropped it.
      if data.kind == nil, !links[i].unsent.isEmpty { keep(data, on: i) }
      return
    }
    guard refusal.code == "limit" as StaticString else { return }
    // The other side's offer has taken the place of this one.
    if data.kind == .offer, links[i].negotiation.phase != .offered { return }
    keep(data, on: i)
    links[i].retryAt = retryTime(retryAfter ?? 0)
  }

  mutating func relayUnsent(_ i: Int) {
    let unsent = links[i].unsent
    links[i].unsent = []
    for data in unsent { relay(data, on: i) }
  }

  /// Something that another connection said.
  mutating func relayed(_ message: JSON) {
    guard isRelayed, let from = message.text("from"), connections.contains(where: { $0.id == from }),
      let text = message.text("data"), let data = try? JSON.parse(text.utf8), let i = link(to: from)
    else { return }
    if let json = data["candidate"], let candidate = ICECandidate(json) {
      effects.append(.media(.addCandidate(links[i].peer, candidate)))
    }
    guard let description = SessionDescription(data["description"]) else { return }
    switch description.kind {
    case .offer:
      if links[i].negotiation.yieldsFirstOffer { openAnew(i) }
      guard links[i].negotiation.offered(description.sdp) else { return }
      links[i].unsent.removeAll { $0.kind != nil }
    case .answer: links[i].negotiation.answered(description.sdp)
    }
    learn(data["sections"], on: i)
  }

  /// A new peer connection in the place of one that has nothing but an own offer.
  private mutating func openAnew(_ i: Int) {
    effects.append(.media(.close(links[i].peer)))
    lastPeer &+= 1
    links[i].negotiation = links[i].negotiation.anew(lastPeer, iceServers: iceServers)
    links[i].watch = TransportWatch()
    links[i].retryAt = nil
    links[i].unsent = []
  }

  /// Of a section that stays, the track has arrived before.
  private mutating func learn(_ sections: JSON?, on i: Int) {
    let before = links[i].arriving
    var arriving: [PeerLink.ArrivingSection] = []
    if let sections {
      for member in sections.members.prefix(CallLimits.sections) {
        guard let stream = member.value.text else { continue }
        let mid = member.key
        let hasTrack = before.contains { $0.mid == mid && $0.hasTrack }
        arriving.append(PeerLink.ArrivingSection(mid: mid, stream: stream, hasTrack: hasTrack))
      }
    }
    links[i].arriving = arriving
  }

  mutating func relayedTrackArrived(_ mid: ByteString, on i: Int) {
    guard let at = links[i].arriving.firstIndex(where: { $0.mid == mid }) else { return }
    links[i].arriving[at].hasTrack = true
    attach(links[i].arriving[at], on: i)
  }

  /// The tracks of a stream that is subscribed to only now.
  mutating func attachKnown(_ stream: CallStream) {
    guard let i = links.firstIndex(where: { $0.remote == stream.connection }) else { return }
    for section in links[i].arriving where section.hasTrack && section.stream == stream.id { attach(section, on: i) }
  }

  private mutating func attach(_ section: PeerLink.ArrivingSection, on i: Int) {
    // Nobody shows a picture as somebody else's.
    guard let stream = stream(section.stream), stream.isSubscribed, stream.connection == links[i].remote else { return }
    effects.append(.media(.attach(links[i].peer, mid: section.mid, stream: section.stream)))
  }
}
