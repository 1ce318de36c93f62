import Testing

@testable import Recording

@Suite struct WebMWriterTests {
  /// Sound every 20 ms and a picture every 40, a key frame a second; the bytes with the places between two writes.
  private func file(seconds: Int, finished: Bool = true) -> (bytes: [UInt8], cuts: [Int]) {
    var writer = WebMWriter([.vp8(width: 320, height: 240), .opus])
    var bytes = writer.header
    var cuts = [bytes.count]
    for step in 0..<(50 * seconds) {
      let time = Int64(20 * step)
      for track in step % 2 == 0 ? [1, 0] : [1] {
        let isKey = track == 1 || step % 50 == 0
        let written = writer.add([UInt8(track), UInt8(step & 0xFF)], track: track, milliseconds: time, isKey: isKey)
        bytes += written
        if !written.isEmpty { cuts.append(bytes.count) }
      }
    }
    guard finished else { return (bytes, cuts) }
    bytes += writer.flush()
    cuts.append(bytes.count)
    #expect(writer.bytes == Int64(bytes.count))
    let (end, patches) = writer.finished()
    bytes += end
    for patch in patches {
      bytes.replaceSubrange(Int(patch.offset)..<(Int(patch.offset) + patch.bytes.count), with: patch.bytes)
    }
    return (bytes, cuts)
  }

  @Test func aFileTellsItsTracksAndHoldsEachFrameAtItsTime() throws {
    let file = WebMElement.read(file(seconds: 5).bytes)
    #expect(file.map(\.id) == [0x1A45_DFA3, 0x1853_8067])
    #expect(file[0][0x4282]?.text == "webm")
    let segment = file[1]
    let tracks = try #require(segment[0x1654_AE6B]).all(0xAE)
    #expect(tracks.map { $0[0x86]?.text } == ["V_VP8", "A_OPUS"])
    #expect(tracks[0][0xE0, 0xB0]?.number == 320 && tracks[0][0xE0, 0xBA]?.number == 240)
    #expect(tracks[1][0xE1, 0xB5]?.float == 48_000 && tracks[1][0x63A2]?.content.count == 19)
    #expect(segment[0x1549_A966, 0x4489]?.float == 5_000)
    let clusters = segment.all(0x1F43_B675)
    let blocks = clusters.flatMap(\.blocks)
    #expect(blocks.filter { $0.track == 2 }.map(\.time) == (0..<250).map { 20 * $0 })
    #expect(blocks.filter { $0.track == 1 }.map(\.time) == (0..<125).map { 40 * $0 })
    #expect(blocks.filter { $0.track == 1 && $0.isKey }.map(\.time) == (0..<5).map { 1_000 * $0 })
    #expect(clusters.allSatisfy { $0.blocks.last!.time - $0.blocks.first!.time <= WebMWriter.clusterMilliseconds })
    #expect(blocks.map(\.time) == blocks.map(\.time).sorted())
  }

  @Test func whoSeeksFindsTheClustersOfKeyFrames() throws {
    let bytes = file(seconds: 5).bytes
    let segment = WebMElement.read(bytes)[1]
    let start = bytes.count - segment.content.count
    let cues = try #require(segment[0x1C53_BB6B])
    #expect(segment[0x114D_9B74, 0x4DBB, 0x53AC]?.number == UInt64(cues.offset - start))
    let points = cues.all(0xBB).map { ($0[0xB3]!.number, Int($0[0xB7, 0xF1]!.number) + start) }
    #expect(points.map(\.0) == [0, 1_000, 2_000, 3_000, 4_000])
    for (time, offset) in points {
      let cluster = try #require(segment.children.first { $0.offset == offset })
      #expect(cluster.id == 0x1F43_B675 && cluster.blocks.contains { $0.time == Int64(time) && $0.track == 1 && $0.isKey })
    }
  }

  /// A killed writer leaves whole clusters and perhaps a part of another.
  // Proves M45
  @Test func whatAKilledWriterLeftIsMadeWhole() throws {
    let (bytes, cuts) = file(seconds: 3, finished: false)
    let whole = try #require(cuts.first)
    for count in Array(stride(from: 0, to: bytes.count, by: 7)) + cuts {
      let left = Array(bytes[..<count])
      guard count >= whole else {
        #expect(recovery(of: left) == nil)
        continue
      }
      let found = try #require(recovery(of: left))
      #expect(Int(found.end) == cuts.last { $0 <= count })
      let (end, patches) = found.finished()
      var made = Array(left[..<Int(found.end)]) + end
      for patch in patches {
        made.replaceSubrange(Int(patch.offset)..<(Int(patch.offset) + patch.bytes.count), with: patch.bytes)
      }
      let segment = WebMElement.read(made)[1]
      let blocks = segment.all(0x1F43_B675).flatMap(\.blocks)
      #expect(segment[0x1549_A966, 0x4489]?.float == Double(found.durationMilliseconds))
      #expect(found.durationMilliseconds == (blocks.map(\.time).max().map { $0 + 20 } ?? 0))
      let keyFrames = blocks.filter { $0.track == 1 && $0.isKey }
      #expect((segment[0x1C53_BB6B]?.all(0xBB).count ?? 0) == keyFrames.count)
    }
  }

  @Test func timesOfATrackDoNotFall() {
    var writer = WebMWriter([.opus])
    var bytes = writer.header
    for time in [100, 50, 50, 200, -70] as [Int64] { bytes += writer.add([0], track: 0, milliseconds: time, isKey: true) }
    bytes += writer.flush()
    let times = WebMElement.read(bytes)[1].all(0x1F43_B675).flatMap(\.blocks).map(\.time)
    #expect(times == [100, 101, 102, 200, 201])
  }

  // Proves M44
  @Test func h264IsMatroska() {
    let writer = WebMWriter([.h264(width: 16, height: 16, configuration: [1, 2, 3])])
    let file = WebMElement.read(writer.header)
    #expect(file[0][0x4282]?.text == "matroska")
    #expect(file[1][0x1654_AE6B, 0xAE, 0x63A2]?.content == [1, 2, 3])
  }

  @Test(arguments: [(0, "80"), (126, "FE"), (127, "407F"), (16_382, "7FFE"), (16_383, "203FFF")])
  func sizesHaveTheFewestBytes(_ count: Int, _ bytes: String) {
    #expect(EBML.size(count) == hex(bytes))
  }
}
