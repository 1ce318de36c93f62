import MediaRouter

/// Makes frames of a track's packets. A frame that is not whole is dropped, and what leans on it: video goes on with a key frame.
package struct FrameAssembler {
  /// A larger picture is dropped.
  package static let frameBytesLimit = 4 << 20
  /// Of a picture: 8K has fewer. A few bytes can claim what takes a decoder gigabytes.
  package static let picturePixelsLimit = 1 << 25

  private struct Unfinished {
    let timestamp: UInt32
    let isKey: Bool
    var arrival: MediaTime
    /// Where the layers of a picture of VP9 end.
    var layerEnds: [Int] = []
  }

  package let codec: Codec
  private var buffer = JitterBuffer()
  private var unfinished: Unfinished?
  private var bytes: [UInt8] = []
  private var units = H264Units()
  private var wantsKeyFrame = false
  /// Nothing can be decoded before the next key frame.
  private var mustBegin = true
  /// The packet before ended a frame.
  private var isBetweenFrames = true
  private var lastTimestamp: UInt32?

  package init(_ codec: Codec) { self.codec = codec }

  /// Whether a key frame was missed since the last call.
  package mutating func takeWantsKeyFrame() -> Bool {
    defer { wantsKeyFrame = false }
    return wantsKeyFrame
  }

  package mutating func receive(_ packet: TappedBatch.Packet, _ media: [UInt8], into frames: inout [MediaFrame]) {
    buffer.insert(JitterBuffer.Packet(head: packet, media: media))
    advance(to: packet.arrival, into: &frames)
  }

  /// - Parameter isOver: nothing comes any more.
  package mutating func advance(to now: MediaTime, isOver: Bool = false, into frames: inout [MediaFrame]) {
    while let packet = buffer.take(now: now, isOver: isOver) {
      if codec.isVideo { takeVideo(packet, &frames) } else { takeAudio(packet, &frames) }
    }
    if isOver { drop() }
  }

  private mutating func takeAudio(_ packet: JitterBuffer.Packet, _ frames: inout [MediaFrame]) {
    guard !packet.media.isEmpty else { return }
    frames.append(
      MediaFrame(timestamp: packet.head.timestamp, isKey: true, bytes: packet.media, arrival: packet.head.arrival))
  }

  // MARK: Video

  private mutating func takeVideo(_ packet: JitterBuffer.Packet, _ frames: inout [MediaFrame]) {
    let head = packet.head
    if !packet.follows { lose() }
    if let before = lastTimestamp, before != head.timestamp, packet.follows { endFrame(&frames) }
    lastTimestamp = head.timestamp
    if unfinished == nil, !begin(packet) {
      isBetweenFrames = head.marker
      return
    }
    isBetweenFrames = false
    if codec == .vp9, head.startsFrame, !bytes.isEmpty { unfinished?.layerEnds.append(bytes.count) }
    unfinished?.arrival = head.arrival
    let isRead = codec == .h264 ? units.append(packet.media, to: &bytes) : !packet.media.isEmpty
    if codec != .h264 { bytes += packet.media }
    guard isRead, bytes.count <= Self.frameBytesLimit else { return lose() }
    if head.marker { endFrame(&frames) }
  }

  private mutating func begin(_ packet: JitterBuffer.Packet) -> Bool {
    let head = packet.head
    let canBegin = codec == .h264 ? isBetweenFrames || H264Units.beginsSequence(packet.media) : head.startsFrame
    guard canBegin, !mustBegin || head.isKeyFrame else {
      if mustBegin { wantsKeyFrame = true } else { lose() }
      return false
    }
    mustBegin = false
    bytes = []
    units.begin()
    unfinished = Unfinished(timestamp: head.timestamp, isKey: head.isKeyFrame, arrival: head.arrival)
    return true
  }

  private mutating func endFrame(_ frames: inout [MediaFrame]) {
    isBetweenFrames = true
    guard let whole = unfinished else { return }
    guard codec != .h264 || units.isWhole else { return lose() }
    unfinished = nil
    if !whole.layerEnds.isEmpty { bytes += VP9Picture.superframeIndex(whole.layerEnds + [bytes.count]) }
    var frame = MediaFrame(timestamp: whole.timestamp, isKey: whole.isKey, bytes: bytes, arrival: whole.arrival)
    if whole.isKey {
      frame.track = track(of: bytes)
      // Without its size and parameters nothing can be done with it.
      guard frame.track != nil else { return lose() }
    }
    frames.append(frame)
    bytes = []
  }

  private func track(of bytes: [UInt8]) -> WebMTrack? {
    switch codec {
    case .vp8: VP8Picture.size(bytes).map { .vp8(width: $0.width, height: $0.height) }
    case .vp9: VP9Picture.size(bytes).map { .vp9(width: $0.width, height: $0.height) }
    case .h264: units.track
    case .av1, .opus: nil
    }
  }

  private mutating func lose() {
    drop()
    mustBegin = true
    wantsKeyFrame = true
    isBetweenFrames = false
  }

  private mutating func drop() {
    unfinished = nil
    bytes = []
  }
}
