extension ForwardingUnit {
  /// An ICE-lite agent only answers. RFC 8445 §2.5, §7.3.
  func receiveSTUN(_ datagram: RawSpan, from address: TransportAddress, _ now: MediaTime) {
    guard let message = STUNMessage(datagram) else { return }
    if message.kind == .bindingSuccess { return finishPathCheck(message, datagram, from: address) }
    guard message.kind == .bindingRequest, let username = message.username,
      let colon = username.firstIndex(of: UInt8(ascii: ":")), let transport = transport(ufrag: Array(username[..<colon])),
      let generation = transport.connectivity.generation(of: username),
      message.isAuthentic(datagram, key: generation.integrity)
    else { return }
    guard message.fingerprintOffset == nil || message.hasFingerprint(datagram) else { return }
    guard keep(address, of: transport) else { return }
    guard message.unknownAttributes.isEmpty else {
      return answer(message, .bindingError, generation, address) {
        $0.error(420, "Unknown Attribute")
        $0.unknownAttributes(message.unknownAttributes)
      }
    }
    // The peer must be the controlling one. RFC 8445 §7.3.1.1.
    guard message.isControlling != false else {
      return answer(message, .bindingError, generation, address) { $0.error(487, "Role Conflict") }
    }
    answer(message, .bindingSuccess, generation, address) { $0.mappedAddress(address) }
    noteActivity(of: transport, now: now)
    if message.useCandidate, let old = transport.connectivity.nominate(generation) { forget(ufrag: old) }
    // Only a nomination moves the flow: a peer checks all of its pairs, in turns.
    if message.useCandidate || transport.address == nil { move(transport, to: address, generation, now) }
    if transport.dtls == nil, message.useCandidate || !transport.parameters.isDTLSClient { beginHandshake(transport, now) }
  }

  /// Whether a peer may have one more connection; true for what comes by UDP.
  private func keep(_ address: TransportAddress, of transport: Transport) -> Bool {
    guard address.isStream, connections[address] == nil else { return true }
    guard transport.connections.count < limits.connectionsOfTransport else { return false }
    connections[address] = transport
    transport.connections.insert(address)
    return true
  }

  private func answer(
    _ request: STUNMessage, _ kind: STUNMessage.Kind, _ generation: Connectivity.Generation, _ address: TransportAddress,
    _ body: (inout STUNWriter) -> Void
  ) {
    var writer = STUNWriter(kind, transactionID: request.transactionID)
    body(&writer)
    send(writer.seal(key: generation.integrity), to: address)
  }

  /// Something authentic came from the peer.
  func noteActivity(of transport: Transport, now: MediaTime) {
    if transport.connectivity.noteActivity(now: now) == .recovered { events.append(.recovered(transport.id)) }
  }

  /// Whether the peer is still there.
  func watch(_ transport: Transport, now: MediaTime) {
    switch transport.connectivity.advance(to: now, isConnected: transport.isConnected) {
    case .silent: events.append(.silent(transport.id))
    case .gone: end(transport, .silence)
    case .recovered, nil: break
    }
  }
}
