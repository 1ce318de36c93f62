import Addresses

/// A STUN message as ICE and TURN use it, read from a datagram. RFC 8489 §5, RFC 8445 §7, RFC 8656 §17.
///
/// Reading checks the structure only; `isAuthentic` and `hasFingerprint` look at the datagram again.
struct STUNMessage: Equatable {
  enum Kind: UInt16 {
    case bindingRequest = 0x0001
    case bindingIndication = 0x0011
    case bindingSuccess = 0x0101
    case bindingError = 0x0111

    // TURN.
    case allocateRequest = 0x0003
    case allocateSuccess = 0x0103
    case allocateError = 0x0113
    case refreshRequest = 0x0004
    case refreshSuccess = 0x0104
    case refreshError = 0x0114
    case sendIndication = 0x0016
    case dataIndication = 0x0017
    case permissionRequest = 0x0008
    case permissionSuccess = 0x0108
    case permissionError = 0x0118
    case channelRequest = 0x0009
    case channelSuccess = 0x0109
    case channelError = 0x0119

    /// The class, of which there are four. RFC 8489 §5.
    var isRequest: Bool { rawValue & 0x0110 == 0 }
    /// What answers a request.
    var success: Kind? { isRequest ? Kind(rawValue: rawValue | 0x0100) : nil }
    var error: Kind? { isRequest ? Kind(rawValue: rawValue | 0x0110) : nil }
    /// Whether it is of the method Binding, which is all that ICE has.
    var isBinding: Bool { rawValue & 0xFEEF == 1 }
  }

  static let magicCookie: UInt32 = 0x2112_A442
  static let headerBytes = 20
  /// More attributes than this no peer sends; a message with more is not read.
  static let attributesLimit = 32

  var kind: Kind
  var transactionID: [UInt8]
  var username: [UInt8]?
  var priority: UInt32?
  var useCandidate = false
  /// The peer takes itself for the controlling or the controlled agent, or does not say.
  var isControlling: Bool?
  var mappedAddress: TransportAddress?
  var errorCode: Int?
  /// Attributes one must understand and we do not. RFC 8489 §6.3.1.
  var unknownAttributes: [UInt16] = []
  /// What TURN has beside.
  var relay = RelayAttributes()
  /// Where MESSAGE-INTEGRITY and FINGERPRINT begin.
  private(set) var integrityOffset: Int?
  private(set) var fingerprintOffset: Int?

  /// nil for anything that is not a complete, well-formed STUN message of a kind that we know.
  init?(_ datagram: RawSpan) {
    let count = datagram.byteCount
    guard count >= Self.headerBytes, datagram.uint32(at: 4) == Self.magicCookie,
      Int(datagram.uint16(at: 2)) == count - Self.headerBytes, count % 4 == 0,
      let kind = Kind(rawValue: datagram.uint16(at: 0))
    else { return nil }
    self.kind = kind
    transactionID = datagram.bytes(8..<20)
    var offset = Self.headerBytes
    var attributes = 0
    while offset < count {
      attributes += 1
      guard offset + 4 <= count, attributes <= Self.attributesLimit, fingerprintOffset == nil else { return nil }
      let valueBytes = Int(datagram.uint16(at: offset + 2))
      let next = offset + 4 + (valueBytes + 3) & ~3
      guard next <= count else { return nil }
      guard read(datagram.uint16(at: offset), offset, datagram.extracting((offset + 4)..<(offset + 4 + valueBytes))) else {
        return nil
      }
      offset = next
    }
  }

  /// False for a known attribute of the wrong form.
  private mutating func read(_ type: UInt16, _ offset: Int, _ value: RawSpan) -> Bool {
    // What follows MESSAGE-INTEGRITY is not protected: only FINGERPRINT counts there. RFC 8489 §14.5.
    if integrityOffset != nil && type != Attribute.fingerprint { return true }
    switch type {
    case Attribute.username:
      guard value.byteCount <= 513 else { return false }
      username = value.bytes(0..<value.byteCount)
    case Attribute.priority:
      guard value.byteCount == 4 else { return false }
      priority = value.uint32(at: 0)
    case Attribute.useCandidate: useCandidate = true
    case Attribute.iceControlling, Attribute.iceControlled:
      guard value.byteCount == 8 else { return false }
      isControlling = type == Attribute.iceControlling
    case Attribute.xorMappedAddress:
      guard let address = TransportAddress(xored: value, transactionID) else { return false }
      mappedAddress = address
    case Attribute.errorCode:
      guard value.byteCount >= 4 else { return false }
      errorCode = Int(value.uint8(at: 2) & 7) * 100 + Int(value.uint8(at: 3))
    case Attribute.messageIntegrity:
      guard value.byteCount == HMACSHA1.tagBytes else { return false }
      integrityOffset = offset
    case Attribute.fingerprint:
      guard value.byteCount == 4 else { return false }
      fingerprintOffset = offset
    default:
      switch kind.isBinding ? .unknown : relay.read(type, value, at: offset + 4, transactionID) {
      case .read: return true
      case .malformed: return false
      case .unknown: if type < 0x8000 { unknownAttributes.append(type) }
      }
    }
    return true
  }

  /// Whether MESSAGE-INTEGRITY is there and made with `key`. RFC 8489 §14.5.
  func isAuthentic(_ datagram: RawSpan, key: HMACSHA1) -> Bool {
    guard let integrityOffset else { return false }
    let lengthThere = UInt16(integrityOffset + 24 - Self.headerBytes)
    let tag = key.stunTag(datagram.extracting(0..<integrityOffset), length: lengthThere)
    return datagram.extracting((integrityOffset + 4)..<(integrityOffset + 24)).withUnsafeBytes { tag.matches($0) }
  }

  /// Whether FINGERPRINT is there and right. RFC 8489 §14.7.
  func hasFingerprint(_ datagram: RawSpan) -> Bool {
    guard let fingerprintOffset else { return false }
    let expected = CRC32.checksum(datagram.extracting(0..<fingerprintOffset)) ^ Attribute.fingerprintMask
    return datagram.uint32(at: fingerprintOffset + 4) == expected
  }

  enum Attribute {
    static let username: UInt16 = 0x0006
    static let messageIntegrity: UInt16 = 0x0008
    static let errorCode: UInt16 = 0x0009
    static let unknownAttributes: UInt16 = 0x000A
    static let xorMappedAddress: UInt16 = 0x0020
    static let priority: UInt16 = 0x0024
    static let useCandidate: UInt16 = 0x0025
    static let fingerprint: UInt16 = 0x8028
    static let iceControlled: UInt16 = 0x8029
    static let iceControlling: UInt16 = 0x802A
    static let fingerprintMask: UInt32 = 0x5354_554E
  }
}
