/// What makes a whole file of one whose writer was killed: what lies behind its last whole cluster goes, the tail is written.
package struct WebMRecovery {
  /// Where the last whole cluster ends.
  package let end: Int64
  package let durationMilliseconds: Int64
  private let tail: WebMTail

  /// Larger clusters are not ours.
  private static let clusterBytesLimit = 64 << 20

  /// nil for what is no file of `WebMWriter`, or has not even a header.
  ///
  /// - Parameters:
  ///   - size: of the file, in bytes.
  ///   - read: gives bytes at an offset, fewer at the end.
  package init?(size: Int64, read: (Int64, Int) -> [UInt8]) {
    guard let document = Element(at: 0, read), document.id == Matroska.header,
      let segment = Element(at: document.end, read), segment.id == Matroska.segment
    else { return nil }
    let room = Element(at: segment.content, read)
    guard let info = room.flatMap({ Element(at: $0.end, read) }), info.id == Matroska.info,
      info.content == segment.content + Int64(WebMWriter.seekHeadBytes) + 5,
      let tracks = Element(at: info.end, read), tracks.id == Matroska.tracks, tracks.end <= size, tracks.count < 1 << 16
    else { return nil }
    let numbers = Self.videoTracks(read(tracks.content, tracks.count))
    var tail = WebMTail(hasVideo: !numbers.isEmpty, end: tracks.end, start: segment.content)
    while let cluster = Element(at: tail.end, read), cluster.id == Matroska.cluster, cluster.count <= Self.clusterBytesLimit,
      cluster.end <= size
    {
      let bytes = read(cluster.content, cluster.count)
      guard bytes.count == cluster.count else { break }
      Self.take(bytes, numbers, &tail)
      tail.end = cluster.end
    }
    self.tail = tail
    end = tail.end
    durationMilliseconds = tail.milliseconds
  }

  /// As of `WebMWriter`.
  package func finished() -> (end: [UInt8], patches: [WebMWriter.Patch]) { tail.written() }

  private static func videoTracks(_ tracks: [UInt8]) -> Set<UInt8> {
    var numbers: Set<UInt8> = []
    forEachElement(tracks[...]) { entry, content in
      guard entry == 0xAE else { return }
      var (number, isVideo) = (UInt8(0), false)
      forEachElement(content) { id, value in
        if id == 0xD7 { number = value.last ?? 0 }
        if id == 0x83 { isVideo = value.last == 1 }
      }
      if isVideo { numbers.insert(number) }
    }
    return numbers
  }

  private static func take(_ cluster: [UInt8], _ videoTracks: Set<UInt8>, _ tail: inout WebMTail) {
    var start: Int64 = 0
    forEachElement(cluster[...]) { id, content in
      if id == Matroska.clusterTime { start = content.prefix(7).reduce(0) { $0 << 8 | Int64($1) } }
      guard id == Matroska.simpleBlock, content.count >= 4 else { return }
      let head = Array(content.prefix(4))
      let time = start + Int64(Int16(bitPattern: UInt16(head[1]) << 8 | UInt16(head[2])))
      tail.take(milliseconds: time, isKey: head[3] & 0x80 != 0, isVideo: videoTracks.contains(head[0] & 0x7F))
    }
  }

  /// Calls `body` with each whole element.
  private static func forEachElement(_ bytes: ArraySlice<UInt8>, _ body: (UInt32, ArraySlice<UInt8>) -> Void) {
    var offset = Int64(bytes.startIndex)
    let read = { (at: Int64, count: Int) in Array(bytes[Int(at)..<min(bytes.endIndex, Int(at) + count)]) }
    while offset < bytes.endIndex, let element = Element(at: offset, read), element.end <= bytes.endIndex {
      body(element.id, bytes[Int(element.content)..<Int(element.end)])
      offset = element.end
    }
  }

  /// An element's head.
  private struct Element {
    let id: UInt32
    let content: Int64
    /// Of its content; 0 where the size is unknown.
    let count: Int

    var end: Int64 { content + Int64(count) }

    init?(at offset: Int64, _ read: (Int64, Int) -> [UInt8]) {
      let head = read(offset, 12)
      guard let first = head.first, first.leadingZeroBitCount < 4 else { return nil }
      let idBytes = first.leadingZeroBitCount + 1
      guard head.count > idBytes, head[idBytes] != 0 else { return nil }
      let sizeBytes = head[idBytes].leadingZeroBitCount + 1
      guard head.count >= idBytes + sizeBytes else { return nil }
      id = head[..<idBytes].reduce(0) { $0 << 8 | UInt32($1) }
      let size = head[idBytes..<(idBytes + sizeBytes)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      let mask = UInt64(1) << UInt64(7 * sizeBytes) - 1
      let isUnknown = size & mask == mask
      guard isUnknown || size & mask < 1 << 40 else { return nil }
      count = isUnknown ? 0 : Int(size & mask)
      content = offset + Int64(idBytes + sizeBytes)
    }
  }
}
