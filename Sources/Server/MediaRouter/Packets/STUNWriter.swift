/// Writes a STUN message, attribute by attribute. RFC 8489 §5.
struct STUNWriter {
  private typealias Attribute = STUNMessage.Attribute
  private(set) var bytes: [UInt8] = []
  let transactionID: [UInt8]

  /// - Parameter transactionID: 12 bytes.
  init(_ kind: STUNMessage.Kind, transactionID: [UInt8]) {
    precondition(transactionID.count == 12)
    self.transactionID = transactionID
    bytes.reserveCapacity(128)
    bytes.append(number: kind.rawValue)
    bytes.append(number: UInt16(0))
    bytes.append(number: STUNMessage.magicCookie)
    bytes += transactionID
  }

  /// Whole attributes that stand written already.
  mutating func append(_ attributes: [UInt8]) { bytes += attributes }

  mutating func username(_ name: [UInt8]) { attribute(Attribute.username, name) }

  mutating func priority(_ priority: UInt32) {
    begin(Attribute.priority, 4)
    bytes.append(number: priority)
  }

  mutating func useCandidate() { begin(Attribute.useCandidate, 0) }

  mutating func role(isControlling: Bool, tieBreaker: UInt64) {
    begin(isControlling ? Attribute.iceControlling : Attribute.iceControlled, 8)
    bytes.append(number: tieBreaker)
  }

  mutating func mappedAddress(_ address: TransportAddress) {
    attribute(Attribute.xorMappedAddress, address.xored(transactionID))
  }

  /// - Parameter code: 300...699. RFC 8489 §14.8.
  mutating func error(_ code: Int, _ reason: String) {
    attribute(Attribute.errorCode, [0, 0, UInt8(code / 100), UInt8(code % 100)] + Array(reason.utf8))
  }

  mutating func unknownAttributes(_ types: [UInt16]) {
    var value: [UInt8] = []
    for type in types { value.append(number: type) }
    attribute(Attribute.unknownAttributes, value)
  }

  /// The message without a seal, as an indication of TURN is.
  mutating func finish() -> [UInt8] {
    bytes.store(UInt16(bytes.count - STUNMessage.headerBytes), at: 2)
    return bytes
  }

  /// Appends MESSAGE-INTEGRITY if there is a key, and FINGERPRINT.
  mutating func seal(key: HMACSHA1?) -> [UInt8] {
    if let key {
      let length = UInt16(bytes.count + 24 - STUNMessage.headerBytes)
      let tag = key.stunTag(bytes.span.bytes, length: length)
      begin(Attribute.messageIntegrity, HMACSHA1.tagBytes)
      tag.append(to: &bytes)
    }
    bytes.store(UInt16(bytes.count + 8 - STUNMessage.headerBytes), at: 2)
    let checksum = CRC32.checksum(bytes.span.bytes) ^ Attribute.fingerprintMask
    begin(Attribute.fingerprint, 4)
    bytes.append(number: checksum)
    return bytes
  }

  mutating func attribute(_ type: UInt16, _ value: [UInt8]) {
    begin(type, value.count)
    bytes += value
    while bytes.count % 4 != 0 { bytes.append(0) }
  }

  private mutating func begin(_ type: UInt16, _ count: Int) {
    bytes.append(number: type)
    bytes.append(number: UInt16(count))
  }
}

extension HMACSHA1 {
  /// The tag over a message whose header says another length than it has now. RFC 8489 §14.5.
  fileprivate func tag(_ message: UnsafeRawBufferPointer, length: UInt16) -> Tag {
    var state = begin()
    state.add(UnsafeRawBufferPointer(rebasing: message[0..<2]))
    withUnsafeBytes(of: length.bigEndian) { state.add($0) }
    state.add(UnsafeRawBufferPointer(rebasing: message[4...]))
    return finish(&state)
  }

  func stunTag(_ message: RawSpan, length: UInt16) -> Tag { message.withUnsafeBytes { tag($0, length: length) } }
}
