import MediaRouter
import Testing

@testable import Recording

@Suite struct FrameAssemblerTests {
  private func frames(_ codec: Codec, _ packets: [PacketSource.Sent]) -> (frames: [MediaFrame], wantsKeyFrame: Bool) {
    var assembler = FrameAssembler(codec)
    var frames: [MediaFrame] = []
    for sent in packets { assembler.receive(sent.packet, sent.media, into: &frames) }
    assembler.advance(to: packets.last!.packet.arrival, isOver: true, into: &frames)
    return (frames, assembler.takeWantsKeyFrame())
  }

  /// A key frame, then others of three packets each.
  private func vp8(_ count: Int) -> [[PacketSource.Sent]] {
    var source = PacketSource(.vp8)
    return (0..<count).map { i in
      let first = i == 0 ? vp8Key() : [0x11, UInt8(i)]
      return source.frame([first, [2, UInt8(i)], [3]], at: Int64(100 + 33 * i), isKey: i == 0)
    }
  }

  @Test func packetsOfAPictureBecomeOneFrame() {
    let (frames, wantsKeyFrame) = frames(.vp8, vp8(10).flatMap { $0 })
    #expect(frames.count == 10 && !wantsKeyFrame)
    #expect(frames[0].isKey && frames[0].track == .vp8(width: 640, height: 480))
    #expect(frames[4].bytes == [0x11, 4, 2, 4, 3] && !frames[4].isKey && frames[4].track == nil)
  }

  @Test(arguments: [1, 2, 3, 4, 5] as [UInt64]) func orderAndRepetitionDoNotMatter(_ seed: UInt64) {
    var random = Numbers(state: seed)
    var packets = vp8(20).flatMap { $0 }
    let wanted = frames(.vp8, packets).frames.map(\.bytes)
    // The first one tells where the numbers begin.
    for i in stride(from: 1, to: packets.count - 4, by: 4) { packets[i..<(i + 4)].shuffle(using: &random) }
    packets.insert(packets[12], at: 20)
    packets.insert(packets[30], at: 31)
    #expect(frames(.vp8, packets).frames.map(\.bytes) == wanted)
  }

  @Test func aLostPacketCostsWhatLeansOnIt() {
    var source = PacketSource(.vp8)
    var packets: [PacketSource.Sent] = []
    for i in 0..<40 {
      let isKey = i == 0 || i == 30
      var frame = source.frame([isKey ? vp8Key() : [0x11, UInt8(i)], [2]], at: Int64(100 + 33 * i), isKey: isKey)
      if i == 10 { frame.removeLast() }
      packets += frame
    }
    let (frames, wantsKeyFrame) = frames(.vp8, packets)
    #expect(wantsKeyFrame)
    let whole = Array(0..<10) + Array(30..<40)
    #expect(frames.map(\.timestamp) == whole.map { UInt32(90 * (100 + 33 * $0)) })
  }

  @Test func whatIsLostIsWaitedForUntilNobodyAsksForItAnyMore() {
    var assembler = FrameAssembler(.vp8)
    var frames: [MediaFrame] = []
    var all = vp8(3)
    let late = all[1].removeFirst()
    for sent in all.flatMap({ $0 }) { assembler.receive(sent.packet, sent.media, into: &frames) }
    #expect(frames.count == 1)
    assembler.advance(to: milliseconds(133 + 499), into: &frames)
    #expect(frames.count == 1)
    var inTime = assembler
    inTime.receive(late.packet, late.media, into: &frames)
    #expect(frames.count == 3)
    frames = []
    assembler.advance(to: milliseconds(133 + 500), into: &frames)
    #expect(frames.isEmpty && assembler.takeWantsKeyFrame())
    // Its turn is over.
    assembler.receive(late.packet, late.media, into: &frames)
    #expect(frames.isEmpty)
  }

  @Test func eachPacketOfSoundIsAFrame() {
    var source = PacketSource(.opus)
    var packets = (0..<10).flatMap { source.frame([[UInt8($0)]], at: Int64(20 * $0)) }
    packets.remove(at: 4)
    #expect(frames(.opus, packets).frames.map(\.bytes) == [0, 1, 2, 3, 5, 6, 7, 8, 9].map { [$0] })
  }

  @Test func withoutAKeyFrameThereIsNothing() {
    let (frames, wantsKeyFrame) = frames(.vp8, vp8(10).dropFirst().flatMap { $0 })
    #expect(frames.isEmpty && wantsKeyFrame)
  }

  @Test func aPictureWithoutEndIsDropped() {
    var source = PacketSource(.vp8)
    var assembler = FrameAssembler(.vp8)
    var frames: [MediaFrame] = []
    let pieces = Array(repeating: [UInt8](repeating: 1, count: 1 << 16), count: 70)
    for sent in source.frame([vp8Key()] + pieces, at: 0, isKey: true) {
      assembler.receive(sent.packet, sent.media, into: &frames)
    }
    #expect(frames.isEmpty && assembler.takeWantsKeyFrame())
  }

  @Test(arguments: [
    (7_680, 4_320, true), (16_383, 2_048, true), (8_192, 4_096, true), (8_192, 4_097, false), (16_383, 16_383, false)
  ])
  func aPictureTooLargeToBeDecodedIsDropped(_ width: Int, _ height: Int, _ isTaken: Bool) {
    var source = PacketSource(.vp8)
    let (frames, wantsKeyFrame) = frames(.vp8, source.frame([vp8Key(width: width, height: height)], at: 100, isKey: true))
    #expect(frames.count == (isTaken ? 1 : 0) && wantsKeyFrame != isTaken)
  }

  // MARK: VP9

  /// A key frame of profile 0, 1280 by 720.
  static let vp9Key = hex("82 49 83 42 00 4F F0 2C F8 00")

  @Test func spatialLayersOfAPictureAreOneFrameWithAnIndex() {
    var source = PacketSource(.vp9)
    var packets = source.frame([Self.vp9Key, [1], [2, 2], [3]], at: 100, isKey: true)
    packets[2].packet.startsFrame = true
    let frame = frames(.vp9, packets).frames[0]
    #expect(frame.track == .vp9(width: 1_280, height: 720))
    #expect(frame.bytes == Self.vp9Key + [1, 2, 2, 3] + hex("D9 0B000000 03000000 D9"))
    let plain = frames(.vp9, source.frame([Self.vp9Key, [1]], at: 133, isKey: true)).frames[0]
    #expect(plain.bytes == Self.vp9Key + [1])
  }

  // MARK: H.264

  /// Of x264: high, baseline, and one that is cropped.
  @Test(arguments: [
    ("67640016acd940a02ff97011000003000100000300020f162d96", 640, 360),
    ("6742c01fd9005005bb011000000300100000030020f1832480", 1280, 720),
    ("6764000cacd941519e226c044000000300400000030083c50a6580", 322, 182)
  ])
  func theSizeOfPicturesStandsInTheParameters(_ unit: String, _ width: Int, _ height: Int) {
    #expect(H264Parameters.size(hex(unit)) == PictureSize(width, height))
  }

  @Test func unitsOfAllPacketsStandBehindTheirLengths() throws {
    let (sps, pps) = (hex("6742c01fd9005005bb011000000300100000030020f1832480"), hex("68 CE 38 80"))
    let aggregate = [24, 0, UInt8(sps.count)] + sps + [0, UInt8(pps.count)] + pps
    let fragments = [[0x7C, 0x85, 1, 2], [0x7C, 0x05, 3], [0x7C, 0x45, 4, 5]] as [[UInt8]]
    var source = PacketSource(.h264)
    var packets = source.frame([aggregate] + fragments, at: 0, isKey: true)
    packets += source.frame([[0x41, 9, 9]], at: 33)
    let frames = frames(.h264, packets).frames
    #expect(frames.count == 2)
    let idr: [UInt8] = [0, 0, 0, 6, 0x65, 1, 2, 3, 4, 5]
    #expect(frames[0].bytes == [0, 0, 0, 25] + sps + [0, 0, 0, 4] + pps + idr)
    #expect(frames[1].bytes == [0, 0, 0, 3, 0x41, 9, 9])
    let record = [1, 0x42, 0xC0, 0x1F, 0xFF, 0xE1, 0, 25] + sps + [1, 0, 4] + pps
    #expect(frames[0].track == .h264(width: 1_280, height: 720, configuration: record))
  }

  @Test func aFragmentThatIsMissingCostsTheFrame() {
    let (sps, pps) = (hex("6742c01fd9005005bb011000000300100000030020f1832480"), hex("68 CE 38 80"))
    var source = PacketSource(.h264)
    var packets = source.frame([sps, pps, [0x65, 1]], at: 0, isKey: true)
    packets += source.frame([[0x5C, 0x81, 1], [0x5C, 0x01, 2], [0x5C, 0x41, 3]], at: 33)
    #expect(frames(.h264, packets).frames.count == 2)
    for missing in 3...5 {
      var cut = packets + source.frame([[0x41, 7]], at: 66)
      cut.remove(at: missing)
      let (left, wantsKeyFrame) = frames(.h264, cut)
      #expect(left.count == 1 && wantsKeyFrame)
    }
  }
}

struct Numbers: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state >> 33 ^ state << 20
  }
}
