/// A file of WebM (or Matroska, for H.264) as it grows: a header, then clusters, each given out when it is whole. Cut between two of them it can be
/// played; `tail` adds what players need to seek.
///
/// RFC 9559. After the header stand, at fixed places, room for the seek head and, as the first of the information, room for the duration:
/// `WebMTail` fills both.
package struct WebMWriter {
  /// A change of a place that was written before.
  package struct Patch: Sendable, Equatable {
    package let offset: Int64
    package let bytes: [UInt8]
  }

  struct Block {
    let track: Int
    let milliseconds: Int64
    let isKey: Bool
    let bytes: [UInt8]
  }

  /// Clusters are given out at this age or size at the latest.
  package static let clusterMilliseconds: Int64 = 1_000
  package static let clusterBytes = 1 << 20
  static let seekHeadBytes = 26
  static let durationBytes = 11

  package let tracks: [WebMTrack]
  private var blocks: [Block] = []
  private var blockBytes = 0
  private var tail: WebMTail
  private var last: [Int64]

  /// - Parameter tracks: at least one, at most one of each kind, the picture first.
  package init(_ tracks: [WebMTrack]) {
    self.tracks = tracks
    last = Array(repeating: -1, count: tracks.count)
    tail = WebMTail(
      hasVideo: tracks.contains(where: \.isVideo), end: Int64(Self.header(tracks).count), start: Self.start(tracks))
  }

  /// What the file begins with.
  package var header: [UInt8] { Self.header(tracks) }

  /// Bytes given out so far, the header's included.
  package var bytes: Int64 { tail.end }

  package var durationMilliseconds: Int64 { tail.milliseconds }

  /// By how much a frame of this time would be written for a later one.
  func lead(of track: Int, at milliseconds: Int64) -> Int64 { last[track] + 1 - milliseconds }

  /// A frame, whose times do not fall within a track (one that does is taken for a millisecond after the one before it); what is to be written now.
  ///
  /// - Parameters:
  ///   - track: which of `tracks`.
  ///   - milliseconds: since the file's beginning, of all tracks nearly in order.
  package mutating func add(_ bytes: [UInt8], track: Int, milliseconds: Int64, isKey: Bool) -> [UInt8] {
    let time = max(milliseconds, last[track] + 1)
    var written: [UInt8] = []
    if let first = blocks.first?.milliseconds,
      time - first >= Self.clusterMilliseconds || blockBytes + bytes.count > Self.clusterBytes
        || tracks[track].isVideo && isKey
    {
      written = flush()
    }
    last[track] = time
    blocks.append(Block(track: track, milliseconds: time, isKey: isKey, bytes: bytes))
    blockBytes += bytes.count
    return written
  }

  /// The cluster that is not complete yet; empty if none has begun.
  package mutating func flush() -> [UInt8] {
    guard let start = blocks.map(\.milliseconds).min() else { return [] }
    let sorted = blocks.enumerated().sorted { ($0.element.milliseconds, $0.offset) < ($1.element.milliseconds, $1.offset) }
    var content = EBML.element(Matroska.clusterTime, number: UInt64(start))
    for (_, block) in sorted { content += Self.simpleBlock(block, from: start) }
    let cluster = EBML.identifier(Matroska.cluster) + EBML.size(content.count, width: 8) + content
    for (_, block) in sorted {
      tail.take(milliseconds: block.milliseconds, isKey: block.isKey, isVideo: tracks[block.track].isVideo)
    }
    tail.end += Int64(cluster.count)
    blocks.removeAll(keepingCapacity: true)
    blockBytes = 0
    return cluster
  }

  /// What makes a whole file of it once all is flushed: bytes for the end, then the patches.
  package func finished() -> (end: [UInt8], patches: [Patch]) { tail.written() }

  /// RFC 9559 §10.2: the track, the time from the cluster's, flags.
  private static func simpleBlock(_ block: Block, from start: Int64) -> [UInt8] {
    let time = UInt16(truncatingIfNeeded: min(block.milliseconds - start, Int64(Int16.max)))
    let head = [UInt8(0x81 + block.track), UInt8(time >> 8), UInt8(time & 0xFF), block.isKey ? 0x80 : 0]
    return EBML.identifier(Matroska.simpleBlock) + EBML.size(head.count + block.bytes.count) + head + block.bytes
  }

  private static func documentHeader(_ tracks: [WebMTrack]) -> [UInt8] {
    let isWebM = tracks.allSatisfy(\.isWebM)
    return EBML.element(
      Matroska.header,
      EBML.element(0x4286, number: 1) + EBML.element(0x42F7, number: 1) + EBML.element(0x42F2, number: 4)
        + EBML.element(0x42F3, number: 8) + EBML.element(0x4282, text: isWebM ? "webm" : "matroska")
        + EBML.element(0x4287, number: 4) + EBML.element(0x4285, number: 2))
  }

  /// Where the content of the segment begins, from which positions in it count.
  private static func start(_ tracks: [WebMTrack]) -> Int64 {
    Int64(documentHeader(tracks).count + EBML.identifier(Matroska.segment).count + EBML.unknownSize.count)
  }

  private static func header(_ tracks: [WebMTrack]) -> [UInt8] {
    // Times are milliseconds.
    let info =
      EBML.void(durationBytes) + EBML.element(0x2AD7B1, number: 1_000_000) + EBML.element(0x4D80, text: "Martlet")
      + EBML.element(0x5741, text: "Martlet")
    let entries = tracks.enumerated().flatMap { $1.entry(number: $0 + 1) }
    return documentHeader(tracks) + EBML.identifier(Matroska.segment) + EBML.unknownSize + EBML.void(seekHeadBytes)
      + EBML.element(Matroska.info, info) + EBML.element(Matroska.tracks, entries)
  }
}
