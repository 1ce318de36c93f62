extension Router {
  /// Takes one datagram. Its bytes are changed: packets are opened in place. Media wait for `flush`.
  ///
  /// - Parameter datagram: the caller's memory, for the duration of the call.
  func receive(_ datagram: UnsafeMutableRawBufferPointer, from address: TransportAddress, now: MediaTime) {
    switch DatagramKind(datagram.bytes) {
    case .rtp: receiveMedia(datagram, from: address, now)
    case .rtcp: receiveControl(datagram, from: address, now)
    case .stun: receiveSTUN(datagram.bytes, from: address, now)
    case .dtls: receiveHandshake(datagram.bytes, from: address, now)
    case nil: break
    }
  }

  // MARK: ICE

  /// An ICE-lite agent only answers. RFC 8445 §2.5, §7.3.
  private func receiveSTUN(_ datagram: RawSpan, from address: TransportAddress, _ now: MediaTime) {
    guard let message = STUNMessage(datagram), message.kind == .bindingRequest, let username = message.username,
      let colon = username.firstIndex(of: UInt8(ascii: ":")), let transport = transport(ufrag: Array(username[..<colon])),
      transport.parameters.remoteUfrag.map({ $0[...] == username[(colon + 1)...] }) ?? true,
      message.isAuthentic(datagram, key: transport.integrity)
    else { return }
    guard message.fingerprintOffset == nil || message.hasFingerprint(datagram) else { return }
    guard message.unknownAttributes.isEmpty else {
      return answer(message, .bindingError, transport, address) {
        $0.error(420, "Unknown Attribute")
        $0.unknownAttributes(message.unknownAttributes)
      }
    }
    // The peer must be the controlling one. RFC 8445 §7.3.1.1.
    guard message.isControlling != false else {
      return answer(message, .bindingError, transport, address) { $0.error(487, "Role Conflict") }
    }
    answer(message, .bindingSuccess, transport, address) { $0.mappedAddress(address) }
    transport.consent = now
    // Only a nomination moves the flow: a peer checks all of its pairs, in turns.
    if message.useCandidate || transport.address == nil { bind(transport, to: address) }
    if transport.dtls == nil, message.useCandidate || !transport.parameters.isDTLSClient { beginHandshake(transport, now) }
  }

  private func answer(
    _ request: STUNMessage, _ kind: STUNMessage.Kind, _ transport: Transport, _ address: TransportAddress,
    _ body: (inout STUNWriter) -> Void
  ) {
    var writer = STUNWriter(kind, transactionID: request.transactionID)
    body(&writer)
    send(writer.seal(key: transport.integrity), to: address)
  }

  // MARK: DTLS

  private func beginHandshake(_ transport: Transport, _ now: MediaTime) {
    transport.dtls = DTLSSession(
      identity, isClient: transport.parameters.isDTLSClient, fingerprint: transport.parameters.fingerprint, now: now)
    sendHandshake(transport)
  }

  private func receiveHandshake(_ datagram: RawSpan, from address: TransportAddress, _ now: MediaTime) {
    guard let transport = transport(at: address), let dtls = transport.dtls else { return }
    dtls.receive(datagram, now: now)
    sendHandshake(transport)
    advanceHandshake(transport)
  }

  func sendHandshake(_ transport: Transport) {
    guard let dtls = transport.dtls, let address = transport.address else { return }
    for datagram in dtls.output { send(datagram, to: address) }
    dtls.output = []
  }

  /// Acts on what has become of the handshake.
  func advanceHandshake(_ transport: Transport) {
    guard let dtls = transport.dtls else { return }
    switch dtls.state {
    case .handshaking: break
    case .failed: end(transport, .handshake)
    case .closed: end(transport, .goodbye)
    case .established:
      guard !transport.isConnected, let keys = dtls.keys else { return }
      let (ours, theirs) = dtls.isClient ? (keys.client, keys.server) : (keys.server, keys.client)
      transport.sender = SRTPSender(keys.profile, ours)
      transport.receiver = SRTPReceiver(keys.profile, theirs, streamsLimit: limits.streamsOfTransport)
      events.append(.connected(transport.id))
      for subscription in transport.subscriptions { wantKeyFrame(subscription) }
    }
  }
}
