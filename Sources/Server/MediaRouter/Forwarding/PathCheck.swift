/// A check of the path to the source of an ICE check. A lite agent need not send one, but an attacker who forges addresses could otherwise
/// direct media at others: a check shows who sent it, and only the answer shows that the receiver is there.
struct PathCheck {
  static let interval = MediaTime.Interval.milliseconds(200)
  static let attemptsLimit = 8

  let address: TransportAddress
  let transactionID: [UInt8]
  let integrity: HMACSHA1
  let message: [UInt8]
  var sentAt: MediaTime
  var attempts = 1
}

extension ForwardingUnit {
  /// Sends to this address from now on, or asks first whether the peer is there.
  func move(_ transport: Transport, to address: TransportAddress, _ generation: Connectivity.Generation, _ now: MediaTime) {
    guard transport.address != address else { return endPathCheck(transport) }
    // Before the handshake nothing of weight goes anywhere, and its end shows where the peer is; a connection shows it too. But nobody
    // takes the address of one who is connected.
    let isOthers = self.transport(at: address)?.isConnected ?? false
    guard transport.isConnected || isOthers, !address.isStream, let integrity = generation.remoteIntegrity,
      let remoteUfrag = generation.remoteUfrag
    else {
      endPathCheck(transport)
      return bind(transport, to: address)
    }
    guard transport.pathCheck?.address != address else { return }
    endPathCheck(transport)
    var writer = STUNWriter(
      .bindingRequest, transactionID: (0..<12).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    writer.username(remoteUfrag + [UInt8(ascii: ":")] + generation.local.ufrag)
    // RFC 8445 §5.1.2: of a peer-reflexive candidate, which it would be for the peer.
    writer.priority(110 << 24 | 65_535 << 8 | 255)
    writer.role(isControlling: false, tieBreaker: random.next())
    let check = PathCheck(
      address: address, transactionID: writer.transactionID, integrity: integrity, message: writer.seal(key: integrity),
      sentAt: now)
    transport.pathCheck = check
    pathChecks[check.transactionID] = transport
    send(check.message, to: address)
  }

  func finishPathCheck(_ answer: STUNMessage, _ datagram: RawSpan, from address: TransportAddress) {
    guard let transport = pathChecks[answer.transactionID], let check = transport.pathCheck, check.address == address,
      answer.isAuthentic(datagram, key: check.integrity)
    else { return }
    endPathCheck(transport)
    bind(transport, to: address)
  }

  /// Asks again, so many times.
  func repeatPathCheck(_ transport: Transport, now: MediaTime) {
    guard let check = transport.pathCheck, now - check.sentAt >= PathCheck.interval else { return }
    guard check.attempts < PathCheck.attemptsLimit else { return endPathCheck(transport) }
    transport.pathCheck?.sentAt = now
    transport.pathCheck?.attempts += 1
    send(check.message, to: check.address)
  }

  func endPathCheck(_ transport: Transport) {
    if let check = transport.pathCheck { pathChecks[check.transactionID] = nil }
    transport.pathCheck = nil
  }
}
