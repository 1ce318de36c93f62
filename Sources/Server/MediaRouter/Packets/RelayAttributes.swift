/// The attributes of TURN. RFC 8656 §18.
struct RelayAttributes: Equatable {
  enum Outcome { case read, malformed, unknown }

  /// Bytes of a realm or a nonce. RFC 8489 §14.9, §14.10.
  static let textLimit = 763

  var realm: [UInt8]?
  var nonce: [UInt8]?
  var lifetimeSeconds: UInt32?
  /// The number of the protocol; UDP is 17.
  var transport: UInt8?
  /// 1 is IPv4, 2 is IPv6.
  var family: UInt8?
  var peers: [TransportAddress] = []
  /// In answers.
  var relayed: TransportAddress?
  var channel: UInt16?
  /// Where the payload of an indication is.
  var data: Range<Int>?
  var wantsEvenPort = false
  /// A port beside it, or one that was kept: we have neither.
  var wantsReservation = false

  /// - Parameter offset: of the value in its message.
  mutating func read(_ type: UInt16, _ value: RawSpan, at offset: Int, _ transactionID: [UInt8]) -> Outcome {
    let count = value.byteCount
    switch type {
    case Name.realm, Name.nonce:
      guard count <= Self.textLimit else { return .malformed }
      if type == Name.realm { realm = value.bytes(0..<count) } else { nonce = value.bytes(0..<count) }
    case Name.lifetime:
      guard count == 4 else { return .malformed }
      lifetimeSeconds = value.uint32(at: 0)
    case Name.requestedTransport, Name.requestedFamily:
      guard count == 4 else { return .malformed }
      if type == Name.requestedTransport { transport = value.uint8(at: 0) } else { family = value.uint8(at: 0) }
    case Name.peerAddress:
      guard let peer = TransportAddress(xored: value, transactionID) else { return .malformed }
      peers.append(peer)
    case Name.relayedAddress:
      guard let address = TransportAddress(xored: value, transactionID) else { return .malformed }
      relayed = address
    case Name.channelNumber:
      guard count == 4 else { return .malformed }
      channel = value.uint16(at: 0)
    case Name.data: data = offset..<(offset + count)
    case Name.evenPort:
      guard count == 1 else { return .malformed }
      wantsEvenPort = true
      wantsReservation = wantsReservation || value.uint8(at: 0) & 0x80 != 0
    case Name.reservationToken: wantsReservation = true
    default: return .unknown
    }
    return .read
  }

  enum Name {
    static let channelNumber: UInt16 = 0x000C
    static let lifetime: UInt16 = 0x000D
    static let peerAddress: UInt16 = 0x0012
    static let data: UInt16 = 0x0013
    static let realm: UInt16 = 0x0014
    static let nonce: UInt16 = 0x0015
    static let relayedAddress: UInt16 = 0x0016
    static let requestedFamily: UInt16 = 0x0017
    static let evenPort: UInt16 = 0x0018
    static let requestedTransport: UInt16 = 0x0019
    static let reservationToken: UInt16 = 0x0022
  }
}

extension STUNWriter {
  private typealias Name = RelayAttributes.Name

  mutating func realm(_ realm: [UInt8]) { attribute(Name.realm, realm) }
  mutating func nonce(_ nonce: [UInt8]) { attribute(Name.nonce, nonce) }
  mutating func data(_ bytes: [UInt8]) { attribute(Name.data, bytes) }
  mutating func requestedTransport(_ number: UInt8) { attribute(Name.requestedTransport, [number, 0, 0, 0]) }
  mutating func requestedFamily(_ number: UInt8) { attribute(Name.requestedFamily, [number, 0, 0, 0]) }
  mutating func channel(_ number: UInt16) {
    attribute(Name.channelNumber, [UInt8(number >> 8), UInt8(truncatingIfNeeded: number), 0, 0])
  }

  mutating func lifetime(_ seconds: UInt32) {
    var value: [UInt8] = []
    value.append(number: seconds)
    attribute(Name.lifetime, value)
  }

  mutating func peerAddress(_ address: TransportAddress) { attribute(Name.peerAddress, address.xored(transactionID)) }
  mutating func relayedAddress(_ address: TransportAddress) { attribute(Name.relayedAddress, address.xored(transactionID)) }
}
