@testable import MediaRouter
import Testing

private func describe(_ codec: Codec, _ payload: [UInt8]) -> PayloadDescription {
  // Something before the payload, so that offsets are told apart.
  let packet = [UInt8](repeating: 0xFF, count: 12) + payload
  return codec.describe(packet.span.bytes, 12..<packet.count)
}

@Suite struct CodecTests {
  typealias Field = PayloadDescription.Field

  // Proves Q11
  @Test func vp8WithAllFields() {
    // X S, I L T K, picture 0x1234, base layer 9, TID 2 Y, a key frame.
    #expect(
      describe(.vp8, hex("90 f0 9234 09 a0 10"))
        == PayloadDescription(
          startsFrame: true, isKeyFrame: true, temporalLayer: 2, isSwitchingPoint: true, descriptorBytes: 6,
          pictureID: Field(offset: 2, bits: 15, value: 0x1234), baseLayerIndex: Field(offset: 4, bits: 8, value: 9)))
  }

  @Test func vp8WithoutExtensions() {
    #expect(describe(.vp8, hex("10 10")) == PayloadDescription(startsFrame: true, isKeyFrame: true, descriptorBytes: 1))
    #expect(describe(.vp8, hex("10 11")) == PayloadDescription(startsFrame: true, descriptorBytes: 1))
    // A later partition, and a later packet of the first.
    #expect(describe(.vp8, hex("11 10")) == PayloadDescription(descriptorBytes: 1))
    #expect(describe(.vp8, hex("00 10")) == PayloadDescription(descriptorBytes: 1))
    #expect(
      describe(.vp8, hex("90 80 15 01"))
        == PayloadDescription(startsFrame: true, descriptorBytes: 3, pictureID: Field(offset: 2, bits: 7, value: 0x15)))
  }

  @Test func vp9WithLayers() {
    // I L B, picture 5, TID 1 U SID 0, base layer 7.
    #expect(
      describe(.vp9, hex("a8 05 30 07"))
        == PayloadDescription(
          startsFrame: true, isKeyFrame: true, temporalLayer: 1, isSwitchingPoint: true, descriptorBytes: 4,
          pictureID: Field(offset: 1, bits: 7, value: 5), baseLayerIndex: Field(offset: 3, bits: 8, value: 7)))
    // Predicted, flexible, spatial layer 1.
    let other = describe(.vp9, hex("f8 8005 02"))
    #expect(other.spatialLayer == 1)
    #expect(!other.isKeyFrame)
    #expect(other.baseLayerIndex == nil)
  }

  /// RFC 9628 §4.2: the pictures it is predicted from, and the scalability structure, of one layer of 640 by 480 and two pictures.
  @Test(arguments: [
    ("08 AA", 1), ("88 05 AA", 2), ("E8 8005 20 00 AA", 5), ("F8 8005 02 03 04 AA", 6), ("F8 05 02 03 05 07 09", 6),
    ("8A 05 18 0280 01E0 02 0401 080203 AA", 13), ("0A 00 AA", 2), ("0A 18 0280", 4), ("0A 08 FF 04", 4)
  ]) func theDescriptorOfVP9Ends(_ text: String, _ bytes: UInt8) {
    #expect(describe(.vp9, hex(text)).descriptorBytes == bytes)
  }

  // Proves Q11
  @Test(arguments: [
    ("65", true, true), ("67", true, true), ("61", true, false), ("7c85", true, true), ("7c05", false, false),
    ("7c81", true, false), ("78 0002 6742 0001 68", true, true), ("78 0001 68 0001 65", true, true),
    ("78 0001 61", true, false), ("7c", false, false), ("78 ffff 61", true, false)
  ]) func h264(_ text: String, _ startsFrame: Bool, _ isKeyFrame: Bool) {
    let description = describe(.h264, hex(text))
    #expect(description.startsFrame == startsFrame)
    #expect(description.isKeyFrame == isKeyFrame)
  }

  @Test func aSequenceOfAV1BeginsWithAKeyFrame() {
    #expect(describe(.av1, hex("18 0a")).isKeyFrame)
    #expect(describe(.av1, hex("10 32")).startsFrame && !describe(.av1, hex("10 32")).isKeyFrame)
    #expect(!describe(.av1, hex("98 32")).startsFrame)
  }

  @Test(arguments: [Codec.vp8, .vp9, .h264, .av1, .opus]) func noInputTraps(_ codec: Codec) {
    attack(hex("f8 f0 9234 09 a0 10 0002 6742 0001 68")) { _ = describe(codec, $0) }
  }
}

@Suite struct DependencyDescriptorTests {
  /// First packet of frame 1, template 4; a structure from 4 on with 2 decode targets and templates S0T0, S0T1, S1T0.
  private static let key = bits(
    "1 0 000100 0000000000000001  1 0 0 0 0  000100 00001  01 10 11  11 10  01 00  10 11  0 1 0001 0 0  1 0  0000 0001 0010  0"
  )

  private static func bits(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.wholeNumberValue)
    return stride(from: 0, to: digits.count, by: 8).map { start in
      (0..<8).reduce(UInt8(0)) { $0 << 1 | (start + $1 < digits.count ? UInt8(digits[start + $1]) : 0) }
    }
  }

  private static func read(_ bytes: [UInt8], _ structure: DependencyDescriptor.Structure? = nil) -> DependencyDescriptor? {
    DependencyDescriptor(bytes.span.bytes, structure: structure)
  }

  @Test func aStructureIsReadAndUsed() throws {
    let first = try #require(Self.read(Self.key))
    let structure = try #require(first.newStructure)
    #expect(first.startsFrame && !first.endsFrame)
    #expect(first.frameNumber == 1)
    #expect(structure.templates.map(\.spatialLayer) == [0, 0, 1])
    #expect(structure.templates.map(\.temporalLayer) == [0, 1, 0])
    #expect(structure.templates.map(\.indications) == [[3, 2], [1, 0], [2, 3]])
    #expect(structure.targets.map { [$0.spatialLayer, $0.temporalLayer] } == [[1, 1], [1, 0]])
    let later = try #require(Self.read(Self.bits("0 1 000101 0000000000000010"), structure))
    #expect(later.temporalLayer == 1)
    #expect(later.endsFrame)
    #expect(later.targets == DependencyDescriptor.Targets([1, 0]))
    // With active targets and indications of its own.
    let own = try #require(Self.read(Self.bits("1 1 000101 0000000000000011 0 1 1 0 0 11 10 11"), structure))
    #expect(own.targets == DependencyDescriptor.Targets([2, 3]))
    // Without the structure, and a template beyond it.
    #expect(Self.read(Self.bits("0 1 000101 0000000000000010")) == nil)
    #expect(Self.read(Self.bits("0 1 000111 0000000000000010"), structure) == nil)
  }

  @Test func theTargetWithTheMostOfWhatIsWishedForIsFound() {
    // S0T0, S0T1, S1T0, S1T1; each frame is in the targets of its layers and above.
    let layers = "01 10 01 11"
    let indications = "10101010 00100010 00001010 00000010"
    let text = "1 0 000000 0000000000000001 10000 000000 00011 \(layers) \(indications) 0000 0 0"
    let structure = Self.read(Self.bits(text))?.newStructure
    func target(_ spatial: UInt8, _ temporal: UInt8) -> Int? { structure?.target(spatial: spatial, temporal: temporal) }
    #expect([target(0, 0), target(0, 1), target(1, 0), target(1, 1)] == [0, 1, 2, 3])
    #expect(target(0, 7) == 1 && target(.max, 0) == 2 && target(7, 7) == 3)
  }

  @Test func noInputTraps() {
    let structure = Self.read(Self.key)?.newStructure
    attack(Self.key, rounds: 5000) { _ = Self.read($0, structure) }
  }
}
