/// What a file lacks until it ends: its duration, where its clusters begin, and where that stands.
struct WebMTail {
  private struct Cue {
    let milliseconds: Int64
    let cluster: Int64
  }

  /// More are not kept: 4 hours of a cluster a second, and as many key frames again.
  static let cuesLimit = 30_000
  /// Milliseconds that a last frame is taken to last.
  private static let frameMilliseconds: Int64 = 20

  let hasVideo: Bool
  /// Of the segment's content.
  let start: Int64
  /// Of what was written so far.
  var end: Int64
  private(set) var milliseconds: Int64 = 0
  private var cues: [Cue] = []

  init(hasVideo: Bool, end: Int64, start: Int64) {
    self.hasVideo = hasVideo
    self.end = end
    self.start = start
  }

  /// Notes a block of the cluster that begins at `end`.
  ///
  /// - Parameter isVideo: of a picture; sound can be begun with anywhere, but who seeks wants to see too.
  mutating func take(milliseconds time: Int64, isKey: Bool, isVideo: Bool) {
    milliseconds = max(milliseconds, time + Self.frameMilliseconds)
    guard cues.last?.cluster != end, cues.count < Self.cuesLimit, isKey, isVideo == hasVideo else { return }
    cues.append(Cue(milliseconds: time, cluster: end))
  }

  /// RFC 9559 §5.1.5 and §5.1.1.
  func written() -> (end: [UInt8], patches: [WebMWriter.Patch]) {
    let points = cues.flatMap { cue in
      EBML.element(
        0xBB,
        EBML.element(0xB3, number: UInt64(cue.milliseconds))
          + EBML.element(
            0xB7, EBML.element(0xF7, number: 1) + EBML.element(0xF1, number: UInt64(cue.cluster - start))))
    }
    let index = cues.isEmpty ? [] : EBML.element(Matroska.cues, points)
    let duration = EBML.element(Matroska.duration, float: Double(milliseconds))
    let info = start + Int64(WebMWriter.seekHeadBytes)
    var patches = [
      WebMWriter.Patch(
        offset: start - 8, bytes: EBML.size(Int(end - start) + index.count, width: 8)),
      // Behind the identifier of four bytes and the size of one.
      WebMWriter.Patch(offset: info + 5, bytes: duration)
    ]
    if !index.isEmpty { patches.append(WebMWriter.Patch(offset: start, bytes: seekHead)) }
    return (index, patches)
  }

  private var seekHead: [UInt8] {
    let position = EBML.identifier(0x53AC) + EBML.size(8) + EBML.bigEndian(UInt64(end - start))
    let seek = EBML.element(0x4DBB, EBML.element(0x53AB, EBML.identifier(Matroska.cues)) + position)
    return EBML.element(Matroska.seekHead, seek)
  }
}
