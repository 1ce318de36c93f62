import JSON

/// The peer connections of a session, as the host tells of them.
extension CallSession {
  /// The one to the router, made when there is first something to send or to get.
  mutating func routerLink() -> Int {
    if let i = links.firstIndex(where: { $0.remote == nil }) { return i }
    return open(to: nil)
  }

  mutating func open(to remote: ByteString?, isPolite: Bool = false) -> Int {
    lastPeer &+= 1
    links.append(
      PeerLink(remote: remote, negotiation: Negotiation(peer: lastPeer, iceServers: iceServers, isPolite: isPolite)))
    return links.count - 1
  }

  mutating func take(_ input: MediaInput) {
    switch input {
    case .captured(let source, let media): captured(source, media)
    case .captureFailed(let source), .captureEnded(let source): captureFailed(source)
    case .described(let peer, let round, let sdp, let mids): described(peer, round, sdp, mids)
    case .remoteSet(let peer, let round):
      guard let i = link(peer) else { return }
      links[i].negotiation.remoteSet(round)
      mediaFailures = 0
    case .failed(let peer, let round):
      if let i = link(peer), links[i].negotiation.failed(round) { failed(i) }
    case .candidate(let peer, let candidate):
      if let i = link(peer), links[i].remote != nil, let candidate { relay(candidate, on: i) }
    case .ice(let peer, let state):
      if let i = link(peer) { links[i].watch.changed(state, now: now) }
    case .trackArrived(let peer, let mid, _, _):
      if let i = link(peer) { arrived(mid, on: i) }
    }
  }

  private mutating func described(_ peer: PeerID, _ round: UInt32, _ sdp: ByteString, _ mids: [SectionMID]) {
    guard let i = link(peer), let kind = links[i].negotiation.described(round, mids) else { return }
    let sections = links[i].negotiation.sections
    if links[i].remote != nil { return relay(kind, sdp, sections, on: i) }
    request("offer", .offer(peer)) { writer in
      writer.member("sdp", sdp)
      writer.key("sections")
      writer.beginObject()
      for section in sections where section.state == .present {
        guard let mid = section.mid else { continue }
        writer.key(mid)
        writer.beginObject()
        if section.source == nil { writer.key("subscribe") } else { writer.key("publish") }
        writer.write(section.stream)
        writer.endObject()
      }
      writer.endObject()
    }
  }

  mutating func answered(_ sdp: ByteString, peer: PeerID) {
    if let i = link(peer) { links[i].negotiation.answered(sdp) }
  }

  /// The server may be behind with what is published, or out of patience: once more, a little later.
  mutating func offerRefused(_ peer: PeerID, code: ByteString, retryAfter: Int64?) {
    guard let i = link(peer) else { return }
    links[i].negotiation.offerFailed()
    links[i].retryAt = retryTime(retryAfter ?? 0)
    if code == "limit" as StaticString || code == "too_large" as StaticString { return }
    mediaFailures += 1
    if mediaFailures > CallLimits.mediaFailures { end(.mediaFailed) }
  }

  /// Of several peers one alone, whose descriptions cannot be set, costs the others nothing: there is nothing more between it and this one.
  private mutating func failed(_ i: Int) {
    guard let remote = links[i].remote, connections.count > 1 else { return mediaFailed() }
    effects.append(.media(.close(links[i].peer)))
    links.remove(at: i)
    unreachable.insert(remote)
  }

  /// The host can do nothing with what it got: everything anew, a few times.
  private mutating func mediaFailed() {
    mediaFailures += 1
    if mediaFailures > CallLimits.mediaFailures { return end(.mediaFailed) }
    if !isRelayed { return renewRouterLink() }
    if socket.phase == .open { request("leave") { _ in } }
    startAnew()
  }

  /// A new peer connection in the place of the one to the router, with everything that was on it.
  mutating func renewRouterLink() {
    guard let i = links.firstIndex(where: { $0.remote == nil }) else { return }
    effects.append(.media(.close(links[i].peer)))
    links.remove(at: i)
    for publication in publications where publication.stream != nil { send(publication, on: routerLink()) }
    for i in streams.indices {
      // That was of the subscription before: the server says it again where it holds.
      if streams[i].videoDisabled != nil {
        streams[i].videoDisabled = nil
        effects.append(.change(.stream(streams[i].id)))
      }
      receiveWhatIsThere(i)
    }
  }

  private mutating func arrived(_ mid: ByteString, on i: Int) {
    if links[i].remote != nil { return relayedTrackArrived(mid, on: i) }
    guard let stream = links[i].negotiation.stream(at: mid) else { return }
    effects.append(.media(.attach(links[i].peer, mid: mid, stream: stream)))
  }

  func link(_ peer: PeerID) -> Int? {
    links.firstIndex { $0.peer == peer }
  }
}
