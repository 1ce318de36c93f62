/// A client's port on this machine, and who may send to it. RFC 8656 §3.2.
final class Allocation {
  /// Where the client is; of TCP the connection.
  let client: TransportAddress
  /// What it is told that peers shall send to.
  let relayed: TransportAddress
  let username: [UInt8]
  let owner: RelayUser
  let integrity: HMACSHA1
  /// Of the request that made it, which may come twice. RFC 8656 §7.2.
  let transactionID: [UInt8]
  var expires: MediaTime
  var budget: ByteBudget
  /// By address, with port 0.
  private var permissions: [TransportAddress: MediaTime] = [:]
  private var channels: [UInt16: (peer: TransportAddress, expires: MediaTime)] = [:]
  private var numbers: [TransportAddress: UInt16] = [:]
  /// Where our router answers from, and the address that the client asked it by.
  var aliases: [TransportAddress: TransportAddress] = [:]

  init(
    _ client: TransportAddress, relayed: TransportAddress, username: [UInt8], owner: RelayUser, integrity: HMACSHA1,
    transactionID: [UInt8], limits: RelayLimits, expires: MediaTime, now: MediaTime
  ) {
    self.client = client
    self.relayed = relayed
    self.username = username
    self.owner = owner
    self.integrity = integrity
    self.transactionID = transactionID
    self.expires = expires
    budget = ByteBudget(perSecond: limits.bytesPerSecondOfAllocation, now: now)
  }

  // MARK: Permissions

  func isPermitted(_ peer: TransportAddress, now: MediaTime) -> Bool {
    permissions[peer.withoutPort].map { $0 > now } ?? false
  }

  /// All or none; false where they would be too many.
  func permit(_ peers: [TransportAddress], limit: Int, now: MediaTime) -> Bool {
    let addresses = Set(peers.map(\.withoutPort))
    if permissions.count + addresses.count > limit { permissions = permissions.filter { $0.value > now } }
    guard permissions.count + addresses.filter({ permissions[$0] == nil }).count <= limit else { return false }
    for address in addresses { permissions[address] = now + RelayLimits.permissionLifetime }
    return true
  }

  // MARK: Channels

  func peer(of channel: UInt16, now: MediaTime) -> TransportAddress? {
    channels[channel].flatMap { $0.expires > now ? $0.peer : nil }
  }

  func channel(of peer: TransportAddress, now: MediaTime) -> UInt16? {
    numbers[peer].flatMap { channels[$0]!.expires > now ? $0 : nil }
  }

  enum Binding { case bound, conflict, full }

  /// A number is one peer's and a peer has one number, for as long as it lives. RFC 8656 §12.2.
  func bind(_ channel: UInt16, to peer: TransportAddress, limit: Int, now: MediaTime) -> Binding {
    for (number, old) in channels where old.expires <= now && (number == channel || old.peer == peer || channels.count >= limit)
    {
      channels[number] = nil
      numbers[old.peer] = nil
    }
    if let old = channels[channel], old.peer != peer { return .conflict }
    if let old = numbers[peer], old != channel { return .conflict }
    guard channels[channel] != nil || channels.count < limit else { return .full }
    channels[channel] = (peer, now + RelayLimits.channelLifetime)
    numbers[peer] = channel
    return .bound
  }
}

/// The holder of credentials, while they have an allocation.
final class RelayUser {
  let name: [UInt8]
  var allocations = 0
  var budget: ByteBudget

  init(_ name: [UInt8], limits: RelayLimits, now: MediaTime) {
    self.name = name
    budget = ByteBudget(perSecond: limits.bytesPerSecondOfUser, now: now)
  }
}

extension TransportAddress {
  var withoutPort: TransportAddress { TransportAddress(high: high, low: low, port: 0) }
}
