/// Makes one continuous stream for a subscriber out of pieces of several: numbers go on without a gap when the source changes and
/// when packets are left out on purpose, and a gap of the network stays a gap.
struct StreamRewriter {
  /// What a packet becomes.
  struct Output: Equatable {
    /// The packet index of SRTP: the low 16 bits are the sequence number. Never the same twice.
    var index: UInt64
    var timestamp: UInt32
    var pictureID: UInt16 = 0
    var baseLayerIndex: UInt8 = 0
    /// The last packet of a picture.
    var marker = false
  }

  /// Numbers of the source that did not come in their turn, with what was to be added to them at that time.
  private struct Gap {
    let range: Range<UInt64>
    let offset: UInt64
    let pictureOffset: UInt16
  }

  static let gapsLimit = 16

  private let clockRate: Int64
  /// The highest number of the source; nil before `begin`.
  private var highest: UInt64?
  /// Added to numbers of the source, modulo 2^64 and so on.
  private var offset: UInt64 = 0
  private(set) var timestampOffset: UInt32 = 0
  /// Ticks by which the stream's clock is ahead of the captures.
  private var ahead: Int64 = 0
  private var pictureOffset: UInt16 = 0
  private var baseLayerOffset: UInt8 = 0
  private var skippedPicture: UInt16?
  private var gaps: [Gap] = []

  /// What has gone out: whatever a source repeats, no index goes out twice.
  private var sent = ReplayWindow()
  private(set) var last: Output
  private var lastTime: MediaTime?

  /// - Parameter firstIndex: of the first packet: 1 to 2^16 - 1, so that the receiver's ROC begins with 0.
  init(clockRate: Int64, firstIndex: UInt16, firstTimestamp: UInt32) {
    precondition(firstIndex > 0)
    self.clockRate = clockRate
    last = Output(index: UInt64(firstIndex) - 1, timestamp: firstTimestamp)
  }

  /// Of the last packet forwarded, as its source had it.
  var lastSourceTimestamp: UInt32 { last.timestamp &- timestampOffset }

  /// Takes this packet's stream as the source from this packet on; what came before it is not forwarded.
  ///
  /// - Parameter captured: ticks from the capture of the last packet forwarded to that of this one, if the publisher told. It is not
  ///   believed where it is far from the time between their arrivals, which else stands for it.
  mutating func begin(at packet: MediaPacket, now: MediaTime, captured: Int64? = nil) {
    highest = packet.sequence - 1
    gaps.removeAll(keepingCapacity: true)
    skippedPicture = nil
    offset = last.index &+ 1 &- packet.sequence
    let elapsed = elapsed(captured, now)
    timestampOffset = last.timestamp &+ UInt32(truncatingIfNeeded: elapsed) &- packet.timestamp
    pictureOffset = last.pictureID &+ 1 &- (packet.payload.pictureID?.value ?? 0)
    baseLayerOffset = last.baseLayerIndex &+ 1 &- UInt8(truncatingIfNeeded: packet.payload.baseLayerIndex?.value ?? 0)
  }

  /// Ticks that the stream's clock goes on by when its source changes: at least one, also where the new source is behind the old one. What that
  /// is too much is made up for at the next change.
  private mutating func elapsed(_ captured: Int64?, _ now: MediaTime) -> Int64 {
    guard let lastTime else { return 0 }
    let arrived = (now - lastTime).microseconds * clockRate / 1_000_000
    var elapsed = arrived
    if let captured, abs(captured - ahead - arrived) <= clockRate { elapsed = captured - ahead } else { ahead = 0 }
    ahead = max(0, 1 - elapsed)
    return max(1, elapsed)
  }

  /// What the packet becomes; nil if its turn is over.
  mutating func rewrite(_ packet: MediaPacket, now: MediaTime) -> Output? {
    guard let (offset, pictureOffset) = offsets(for: packet.sequence) else { return nil }
    var output = Output(
      index: packet.sequence &+ offset, timestamp: packet.timestamp &+ timestampOffset, marker: packet.marker)
    if let field = packet.payload.pictureID { output.pictureID = (field.value &+ pictureOffset) & field.mask }
    if let field = packet.payload.baseLayerIndex {
      output.baseLayerIndex = UInt8(truncatingIfNeeded: field.value) &+ baseLayerOffset
    }
    guard sent.isFresh(output.index) else { return nil }
    sent.insert(output.index)
    if output.index > last.index {
      last = output
      lastTime = now
    }
    return output
  }

  /// Leaves a packet out so that nobody misses it.
  ///
  /// - Parameter wholePicture: all packets of its picture are left out.
  mutating func skip(_ packet: MediaPacket, wholePicture: Bool) {
    guard let highest, packet.sequence > highest else { return }
    advance(to: packet.sequence, from: highest)
    offset &-= 1
    guard wholePicture, let picture = packet.payload.pictureID?.value, picture != skippedPicture else { return }
    skippedPicture = picture
    pictureOffset &-= 1
  }

  /// The index for a packet that has no source, such as padding; the source goes on behind it.
  mutating func insert() -> Output {
    last.index &+= 1
    offset &+= 1
    sent.insert(last.index)
    return last
  }

  private mutating func offsets(for sequence: UInt64) -> (UInt64, UInt16)? {
    guard let highest else { return nil }
    guard sequence <= highest else {
      advance(to: sequence, from: highest)
      return (offset, pictureOffset)
    }
    return gaps.last { $0.range.contains(sequence) }.map { ($0.offset, $0.pictureOffset) }
  }

  private mutating func advance(to sequence: UInt64, from highest: UInt64) {
    if sequence > highest + 1 {
      if gaps.count == Self.gapsLimit { gaps.removeFirst() }
      gaps.append(Gap(range: (highest + 1)..<sequence, offset: offset, pictureOffset: pictureOffset))
    }
    self.highest = sequence
  }
}

extension PayloadDescription.Field {
  var mask: UInt16 { bits == 15 ? 0x7FFF : bits == 8 ? 0xFF : 0x7F }
}
