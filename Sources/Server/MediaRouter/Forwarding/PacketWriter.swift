/// Writes the packets of one subscription: a new header with the extensions that its subscriber negotiated, then the payload.
struct PacketWriter {
  /// What differs from packet to packet.
  struct Header {
    var payloadType: UInt8
    var marker: Bool
    var index: UInt64
    var timestamp: UInt32
    var ssrc: UInt32
  }

  /// A longer dependency descriptor is not forwarded.
  static let descriptorLimit = 160

  let mid: [UInt8]
  let extensions: ExtensionIDs
  /// Nothing was negotiated.
  private let isBare: Bool

  init(mid: [UInt8], extensions: ExtensionIDs) {
    self.mid = mid.count <= 16 ? mid : []
    self.extensions = extensions
    isBare = extensions == ExtensionIDs()
  }

  /// Whether two transmissions of one packet differ in more than their header fields.
  var isStamped: Bool { extensions.sendTime != 0 || extensions.transportSequence != 0 }

  /// Writes header and extensions to `target` and returns their length, at most 240 bytes.
  ///
  /// - Parameters:
  ///   - transportSequence: the number of this packet among all of its transport.
  func write(
    _ header: Header, of packet: OutgoingPacket, transportSequence: UInt16, now: MediaTime, to target: UnsafeMutableRawPointer
  ) -> Int {
    target.storeBytes(of: 0x80, as: UInt8.self)
    target.storeBytes(of: header.payloadType | (header.marker ? 0x80 : 0), toByteOffset: 1, as: UInt8.self)
    target.storeBytes(of: UInt16(truncatingIfNeeded: header.index).bigEndian, toByteOffset: 2, as: UInt16.self)
    target.storeBytes(of: header.timestamp.bigEndian, toByteOffset: 4, as: UInt32.self)
    target.storeBytes(of: header.ssrc.bigEndian, toByteOffset: 8, as: UInt32.self)

    guard !isBare else { return RTPHeader.fixedBytes }
    var elements = Elements(at: target + RTPHeader.fixedBytes + 4, isTwoByte: packet.descriptor.count > 16)
    if extensions.sendTime != 0 { elements.append(extensions.sendTime, sendTime(now), count: 3) }
    if extensions.transportSequence != 0 {
      elements.append(extensions.transportSequence, UInt32(transportSequence), count: 2)
    }
    if extensions.mid != 0, !mid.isEmpty { mid.withUnsafeBytes { elements.append(extensions.mid, $0) } }
    if let level = packet.media?.audioLevel, extensions.audioLevel != 0 {
      elements.append(extensions.audioLevel, UInt32(level), count: 1)
    }
    if let orientation = packet.media?.orientation, extensions.orientation != 0 {
      elements.append(extensions.orientation, UInt32(orientation), count: 1)
    }
    if !packet.descriptor.isEmpty, extensions.dependencyDescriptor != 0 {
      elements.append(extensions.dependencyDescriptor, packet.descriptor)
    }
    let words = elements.finish()
    guard words > 0 else { return RTPHeader.fixedBytes }
    target.storeBytes(of: 0x90, as: UInt8.self)
    let profile: UInt16 = elements.isTwoByte ? 0x1000 : HeaderExtensions.oneByteProfile
    target.storeBytes(of: profile.bigEndian, toByteOffset: 12, as: UInt16.self)
    target.storeBytes(of: UInt16(words).bigEndian, toByteOffset: 14, as: UInt16.self)
    return RTPHeader.fixedBytes + 4 + 4 * words
  }

  /// Seconds in fixed point, 6 bits before and 18 after the point.
  private func sendTime(_ now: MediaTime) -> UInt32 {
    UInt32(truncatingIfNeeded: now.ticks(1 << 18)) & 0xFF_FFFF
  }

  /// Header extension elements in the making. RFC 8285 §4.2 and §4.3.
  private struct Elements {
    let isTwoByte: Bool
    private let start: UnsafeMutableRawPointer
    private var count = 0

    init(at start: UnsafeMutableRawPointer, isTwoByte: Bool) {
      self.start = start
      self.isTwoByte = isTwoByte
    }

    mutating func append(_ id: UInt8, _ value: UnsafeRawBufferPointer) {
      begin(id, value.count)
      (start + count).copyMemory(from: value.baseAddress!, byteCount: value.count)
      count += value.count
    }

    /// The low bytes of a number, the most significant first.
    mutating func append(_ id: UInt8, _ value: UInt32, count bytes: Int) {
      begin(id, bytes)
      for i in 0..<bytes {
        start.storeBytes(
          of: UInt8(truncatingIfNeeded: value >> (8 * UInt32(bytes - 1 - i))), toByteOffset: count + i, as: UInt8.self)
      }
      count += bytes
    }

    private mutating func begin(_ id: UInt8, _ bytes: Int) {
      if isTwoByte {
        start.storeBytes(of: id, toByteOffset: count, as: UInt8.self)
        start.storeBytes(of: UInt8(bytes), toByteOffset: count + 1, as: UInt8.self)
        count += 2
      } else {
        start.storeBytes(of: id << 4 | UInt8(bytes - 1), toByteOffset: count, as: UInt8.self)
        count += 1
      }
    }

    /// Fills up the last word and returns how many there are.
    mutating func finish() -> Int {
      while count % 4 != 0 {
        start.storeBytes(of: 0, toByteOffset: count, as: UInt8.self)
        count += 1
      }
      return count / 4
    }
  }
}

extension PayloadDescription {
  /// Puts the numbers of the new stream into a copied payload.
  func rewrite(_ payload: UnsafeMutableRawBufferPointer, _ output: StreamRewriter.Output) {
    if let field = pictureID, Int(field.offset) + field.bytes <= payload.count {
      if field.bits == 15 {
        payload.storeBytes(
          of: (output.pictureID | 0x8000).bigEndian, toByteOffset: Int(field.offset), as: UInt16.self)
      } else {
        payload[Int(field.offset)] = UInt8(truncatingIfNeeded: output.pictureID)
      }
    }
    if let field = baseLayerIndex, Int(field.offset) < payload.count { payload[Int(field.offset)] = output.baseLayerIndex }
  }
}
