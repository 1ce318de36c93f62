extension ForwardingUnit {
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

  // MARK: DTLS

  func beginHandshake(_ transport: Transport, _ now: MediaTime) {
    transport.dtls = DTLSSession(
      identity, isClient: transport.parameters.isDTLSClient, fingerprint: transport.parameters.fingerprint, now: now)
    sendHandshake(transport)
  }

  private func receiveHandshake(_ datagram: RawSpan, from address: TransportAddress, _ now: MediaTime) {
    guard let transport = transport(heardAt: address), let dtls = transport.dtls else { return }
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
