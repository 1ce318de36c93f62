import Addresses

/// Why a request is refused. RFC 8656 §19, RFC 8489 §14.8.
private struct RelayRefusal: Error {
  let code: Int
  let reason: String
  var unknownAttributes: [UInt16] = []

  init(_ code: Int, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  static let badRequest = RelayRefusal(400, "Bad Request")
  static let forbidden = RelayRefusal(403, "Forbidden")
  static let mismatch = RelayRefusal(437, "Allocation Mismatch")
  static let otherFamily = RelayRefusal(443, "Peer Address Family Mismatch")
  static let full = RelayRefusal(508, "Insufficient Capacity")
}

extension Relay {
  typealias Answer = (inout STUNWriter) -> Void

  /// Takes what a client has sent: a datagram, or a frame of its connection.
  func receive(_ datagram: RawSpan, from client: TransportAddress, now: RelayTime) {
    guard datagram.byteCount >= 4 else { return }
    if 0x40...0x4F ~= datagram.uint8(at: 0) { return relayChannel(datagram, from: client, now.monotonic) }
    guard let message = STUNMessage(datagram) else { return }
    guard message.fingerprintOffset == nil || message.hasFingerprint(datagram) else { return }
    switch message.kind {
    case .sendIndication: relayIndication(message, datagram, from: client, now.monotonic)
    case .bindingRequest: answerBinding(message, to: client, now.monotonic)
    default:
      guard let error = message.kind.error, message.kind.isRequest else { return }
      handle(message, datagram, from: client, error, now)
    }
  }

  /// Anyone may ask for its own address. RFC 8489 §12.
  private func answerBinding(_ message: STUNMessage, to client: TransportAddress, _ now: MediaTime) {
    guard mayAnswerStranger(client, now) else { return }
    var writer = STUNWriter(.bindingSuccess, transactionID: message.transactionID)
    writer.mappedAddress(client)
    send(writer.seal(key: nil), to: client)
  }

  // MARK: Credentials

  private enum Standing {
    case valid(username: [UInt8], RelayCredentials.User, HMACSHA1)
    case unknown
    case stale
    case malformed
  }

  /// RFC 8489 §9.2.4. The nonce first: who cannot receive at its address makes us compute nothing more.
  private func standing(
    _ message: STUNMessage, _ datagram: RawSpan, _ client: TransportAddress, _ now: RelayTime
  ) -> Standing {
    guard message.integrityOffset != nil else { return .unknown }
    guard let username = message.username, message.relay.realm != nil, let nonce = message.relay.nonce else {
      return .malformed
    }
    guard credentials.isFresh(nonce, for: client, now: now.monotonic) else { return .stale }
    guard let user = RelayCredentials.user(username) else { return .unknown }
    let allocation = allocations[client]
    let integrity = allocation?.username == username ? allocation!.integrity : credentials.integrity(username)
    guard message.isAuthentic(datagram, key: integrity) else { return .unknown }
    let overtime = allocation?.username == username ? RelayLimits.overtimeSeconds : 0
    guard now.unixSeconds <= user.expires || now.unixSeconds - user.expires <= overtime else { return .unknown }
    return .valid(username: username, user, integrity)
  }

  private func handle(
    _ message: STUNMessage, _ datagram: RawSpan, from client: TransportAddress, _ error: STUNMessage.Kind, _ now: RelayTime
  ) {
    func challenge(_ code: Int, _ reason: String) {
      guard mayAnswerStranger(client, now.monotonic) else { return }
      var writer = STUNWriter(error, transactionID: message.transactionID)
      writer.error(code, reason)
      writer.realm(credentials.realm)
      writer.nonce(credentials.nonce(for: client, now: now.monotonic))
      send(writer.seal(key: nil), to: client)
    }
    switch standing(message, datagram, client, now) {
    case .unknown: challenge(401, "Unauthorized")
    case .stale: challenge(438, "Stale Nonce")
    case .malformed: challenge(400, "Bad Request")
    case .valid(let username, let user, let integrity):
      let requester = Requester(client: client, username: username, user: user, integrity: integrity)
      do throws(RelayRefusal) {
        let body = try carryOut(message, of: requester, now)
        var writer = STUNWriter(message.kind.success!, transactionID: message.transactionID)
        body(&writer)
        send(writer.seal(key: integrity), to: client)
      } catch let refusal {
        var writer = STUNWriter(error, transactionID: message.transactionID)
        writer.error(refusal.code, refusal.reason)
        if !refusal.unknownAttributes.isEmpty { writer.unknownAttributes(refusal.unknownAttributes) }
        send(writer.seal(key: integrity), to: client)
      }
    }
  }

  private struct Requester {
    let client: TransportAddress
    let username: [UInt8]
    let user: RelayCredentials.User
    let integrity: HMACSHA1
  }

  private func carryOut(
    _ message: STUNMessage, of requester: Requester, _ now: RelayTime
  ) throws(RelayRefusal) -> Answer {
    guard message.unknownAttributes.isEmpty else {
      var refusal = RelayRefusal(420, "Unknown Attribute")
      refusal.unknownAttributes = message.unknownAttributes
      throw refusal
    }
    if message.kind == .allocateRequest { return try allocate(message, requester, now) }
    guard let allocation = allocations[requester.client] else { throw .mismatch }
    guard allocation.username == requester.username else { throw RelayRefusal(441, "Wrong Credentials") }
    switch message.kind {
    case .refreshRequest: return try refresh(allocation, message, now.monotonic)
    case .permissionRequest: return try permit(allocation, message, now.monotonic)
    case .channelRequest: return try bindChannel(allocation, message, now.monotonic)
    default: throw .badRequest
    }
  }

  // MARK: Allocate and Refresh, RFC 8656 §7

  private func allocate(
    _ message: STUNMessage, _ requester: Requester, _ now: RelayTime
  ) throws(RelayRefusal) -> Answer {
    if let allocation = allocations[requester.client] {
      guard allocation.transactionID == message.transactionID, allocation.username == requester.username else {
        throw .mismatch
      }
      return describe(allocation, now.monotonic)
    }
    guard let transport = message.relay.transport else { throw .badRequest }
    guard transport == 17 else { throw RelayRefusal(442, "Unsupported Transport Protocol") }
    guard !message.relay.wantsReservation else { throw .full }
    let isIPv4 = message.relay.family.map { $0 == 1 } ?? true
    guard [nil, 1, 2].contains(message.relay.family),
      let address = configuration.publicAddresses.first(where: { $0.isIPv4 == isIPv4 })
    else { throw RelayRefusal(440, "Address Family not Supported") }
    let owner = user(requester.user.name, now: now.monotonic)
    guard owner.allocations < limits.allocationsOfUser else { throw RelayRefusal(486, "Allocation Quota Reached") }
    guard allocations.count < limits.allocations, let port = openPort(isEven: message.relay.wantsEvenPort) else { throw .full }
    let lifetime = lifetime(message.relay.lifetimeSeconds)
    let allocation = Allocation(
      requester.client, relayed: TransportAddress(address, port: port), username: requester.username, owner: owner,
      integrity: requester.integrity, transactionID: message.transactionID, limits: limits,
      expires: now.monotonic + .seconds(Int64(lifetime)), now: now.monotonic)
    add(allocation)
    return describe(allocation, now.monotonic)
  }

  private func describe(_ allocation: Allocation, _ now: MediaTime) -> Answer {
    let seconds = UInt32(clamping: (allocation.expires - now).milliseconds / 1_000)
    return { writer in
      writer.relayedAddress(allocation.relayed)
      writer.mappedAddress(allocation.client)
      writer.lifetime(seconds)
    }
  }

  private func lifetime(_ wanted: UInt32?) -> UInt32 {
    min(max(wanted ?? 0, RelayLimits.lifetimeSeconds), RelayLimits.longestLifetimeSeconds)
  }

  /// A port that nobody has, from a random one on: not to be guessed. RFC 8656 §7.2.
  private func openPort(isEven: Bool) -> UInt16? {
    let ports = configuration.ports
    let start = Int.random(in: 0..<ports.count, using: &random)
    for i in 0..<ports.count {
      let port = ports.lowerBound + UInt16((start + i) % ports.count)
      guard byPort[port] == nil, !isEven || port % 2 == 0 else { continue }
      if actions.open(port) { return port }
    }
    return nil
  }

  private func refresh(_ allocation: Allocation, _ message: STUNMessage, _ now: MediaTime) throws(RelayRefusal) -> Answer {
    if let family = message.relay.family, (family == 1) != allocation.relayed.ip.isIPv4 { throw .otherFamily }
    let seconds = message.relay.lifetimeSeconds == 0 ? 0 : lifetime(message.relay.lifetimeSeconds)
    if seconds == 0 { remove(allocation) } else { allocation.expires = now + .seconds(Int64(seconds)) }
    return { $0.lifetime(seconds) }
  }

  // MARK: Permissions and channels, RFC 8656 §10 and §12

  private func permit(_ allocation: Allocation, _ message: STUNMessage, _ now: MediaTime) throws(RelayRefusal) -> Answer {
    guard !message.relay.peers.isEmpty else { throw .badRequest }
    for peer in message.relay.peers {
      guard peer.ip.isIPv4 == allocation.relayed.ip.isIPv4 else { throw .otherFamily }
      guard permits(peer.ip) else { throw .forbidden }
    }
    guard allocation.permit(message.relay.peers, limit: limits.permissionsOfAllocation, now: now) else { throw .full }
    return { _ in }
  }

  private func bindChannel(_ allocation: Allocation, _ message: STUNMessage, _ now: MediaTime) throws(RelayRefusal) -> Answer {
    guard let peer = message.relay.peers.first, message.relay.peers.count == 1, let channel = message.relay.channel,
      0x4000...0x4FFF ~= channel
    else { throw .badRequest }
    guard peer.ip.isIPv4 == allocation.relayed.ip.isIPv4 else { throw .otherFamily }
    guard mayHaveChannel(peer) else { throw .forbidden }
    guard allocation.permit([peer], limit: limits.permissionsOfAllocation, now: now) else { throw .full }
    switch allocation.bind(channel, to: peer, limit: limits.channelsOfAllocation, now: now) {
    case .bound: return { _ in }
    case .conflict: throw .badRequest
    case .full: throw .full
    }
  }
}
