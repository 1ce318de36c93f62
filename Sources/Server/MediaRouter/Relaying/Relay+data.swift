import Addresses

/// Where a payload for a peer goes.
enum RelayDestination: Equatable {
  case network(TransportAddress)
  /// Another allocation of ours: no packet leaves for it, so it works behind address translation too.
  case allocation(port: UInt16)
}

extension Relay {
  // MARK: Whereto

  private func isOwn(_ ip: IPAddress) -> Bool { configuration.publicAddresses.contains(ip) || policy.isOwn(ip) }

  /// Whether data may ever go to an address: to others by the policy, to us for what is allocated here and for our router.
  func permits(_ ip: IPAddress) -> Bool {
    isOwn(ip) ? configuration.publicAddresses.contains(ip) || isRouter(ip) : policy.permits(ip)
  }

  /// Whether our router listens at an address of this machine, or is announced by it.
  private func isRouter(_ ip: IPAddress) -> Bool {
    guard let router = configuration.routers.first else { return false }
    return router.ip.number == 0 || router.ip == ip || configuration.publicAddresses.contains(ip)
  }

  /// nil for a service of this machine that is not ours, or not there. Of others the permission has said that they may be reached.
  func destination(of peer: TransportAddress) -> RelayDestination? {
    let ip = peer.ip
    guard isOwn(ip) else { return peer.port != 0 ? .network(peer) : nil }
    if configuration.publicAddresses.contains(ip), byPort[peer.port] != nil { return .allocation(port: peer.port) }
    guard let router = configuration.routers.first(where: { $0.port == peer.port }), isRouter(ip) else { return nil }
    return .network(TransportAddress(routerIP(router, for: ip), port: router.port))
  }

  /// Whether a channel may be bound to it: an allocation of ours may come later.
  func mayHaveChannel(_ peer: TransportAddress) -> Bool {
    permits(peer.ip) && (destination(of: peer) != nil || isOwn(peer.ip) && configuration.ports.contains(peer.port))
  }

  /// By which our sockets reach the router: an address that was announced may be another machine's, which translates it.
  private func routerIP(_ router: TransportAddress, for ip: IPAddress) -> IPAddress {
    if router.ip.number != 0 { return router.ip }
    if configuration.address.ip.number != 0 { return configuration.address.ip }
    return ip.isIPv4 ? IPAddress(ipv4: 0x7F00_0001) : IPAddress(ipv6: 1)
  }

  // MARK: From clients

  func relayChannel(_ datagram: RawSpan, from client: TransportAddress, _ now: MediaTime) {
    let count = Int(datagram.uint16(at: 2))
    guard let allocation = allocations[client], count <= datagram.byteCount - 4,
      let peer = allocation.peer(of: datagram.uint16(at: 0), now: now)
    else { return }
    relay(datagram.extracting(4..<(4 + count)), of: allocation, to: peer, now)
  }

  func relayIndication(_ message: STUNMessage, _ datagram: RawSpan, from client: TransportAddress, _ now: MediaTime) {
    guard let allocation = allocations[client], let peer = message.relay.peers.first, let data = message.relay.data,
      message.unknownAttributes.isEmpty
    else { return }
    relay(datagram.extracting(data), of: allocation, to: peer, now)
  }

  private func relay(_ payload: RawSpan, of allocation: Allocation, to peer: TransportAddress, _ now: MediaTime) {
    guard payload.byteCount <= RelayLimits.payloadBytes, allocation.isPermitted(peer, now: now),
      let destination = destination(of: peer), take(payload.byteCount, of: allocation, now: now)
    else { return }
    switch destination {
    case .allocation(let port):
      guard let other = byPort[port] else { return }
      deliver(payload, from: allocation.relayed, to: other, now)
    case .network(let address):
      if address != peer { allocation.aliases[address] = peer }
      payload.withUnsafeBytes { actions.sendToPeer($0, allocation.relayed.port, address) }
    }
  }

  // MARK: From peers

  /// Takes what has arrived at the port of an allocation.
  func receive(_ datagram: RawSpan, from source: TransportAddress, at port: UInt16, now: MediaTime) {
    guard let allocation = byPort[port] else { return }
    deliver(datagram, from: allocation.aliases[source] ?? source, to: allocation, now)
  }

  private func deliver(_ payload: RawSpan, from peer: TransportAddress, to allocation: Allocation, _ now: MediaTime) {
    guard allocation.isPermitted(peer, now: now), payload.byteCount <= RelayLimits.payloadBytes,
      take(payload.byteCount, of: allocation, now: now)
    else { return }
    guard let channel = allocation.channel(of: peer, now: now) else {
      var writer = STUNWriter(
        .dataIndication, transactionID: (0..<12).map { _ in UInt8.random(in: .min ... .max, using: &random) })
      writer.peerAddress(peer)
      writer.data(payload.bytes(0..<payload.byteCount))
      return send(writer.finish(), to: allocation.client)
    }
    if batch.isFull { flush() }
    // In a stream a message fills whole words. RFC 8656 §12.5.
    let count = 4 + (allocation.client.isStream ? (payload.byteCount + 3) & ~3 : payload.byteCount)
    let target = UnsafeMutableRawBufferPointer(start: batch.space, count: count)
    target.initializeMemory(as: UInt8.self, repeating: 0)
    target.storeBytes(of: channel.bigEndian, as: UInt16.self)
    target.storeBytes(of: UInt16(payload.byteCount).bigEndian, toByteOffset: 2, as: UInt16.self)
    payload.withUnsafeBytes { target[4...].copyBytes(from: $0) }
    batch.commit(count, to: allocation.client)
  }
}
