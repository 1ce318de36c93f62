@testable import MediaRouter
import Testing

@Suite struct RTPTests {
  /// Two CSRCs, two one-byte elements with padding between, three bytes of payload, five of padding.
  private static let packet = hex(
    """
    b2e01234 89abcdef 00c0ffee 11111111 22222222 bede0003 10aa 0000 22bbccdd f0 000000 010203 0000000005
    """)

  // Proves M5
  @Test func allPartsAreFound() throws {
    let header = try #require(RTPHeader(Self.packet))
    #expect(header.marker)
    #expect(header.payloadType == 96)
    #expect(header.sequenceNumber == 0x1234)
    #expect(header.timestamp == 0x89AB_CDEF)
    #expect(header.ssrc == 0x00C0_FFEE)
    #expect(header.extensions == 24..<36)
    #expect(header.payload == 36..<39)
    #expect(RTPHeader(Self.packet, isSealed: true)?.payload == 36..<44)
  }

  @Test func elementsOfOneByte() throws {
    let header = try #require(RTPHeader(Self.packet))
    #expect(HeaderExtensions.value(1, of: header, in: Self.packet) == 25..<26)
    #expect(HeaderExtensions.value(2, of: header, in: Self.packet) == 29..<32)
    #expect(HeaderExtensions.value(3, of: header, in: Self.packet) == nil)
    // 15 ends the elements.
    #expect(HeaderExtensions.value(15, of: header, in: Self.packet) == nil)
  }

  @Test func elementsOfTwoBytes() throws {
    let packet = hex("90600001 00000000 00000001 10000003 0500 00 1401 aa 20 03 bbccdd00")
    let header = try #require(RTPHeader(packet))
    #expect(HeaderExtensions.value(5, of: header, in: packet) == 18..<18)
    #expect(HeaderExtensions.value(20, of: header, in: packet) == 21..<22)
    #expect(HeaderExtensions.value(32, of: header, in: packet) == 24..<27)
  }

  @Test(arguments: [
    // Shorter than its header, another version, CSRCs, extension and padding beyond the end, padding of none.
    "8060000100000000000000", "40600001 00000000 00000001", "81600001 00000000 00000001", "90600001 00000000 00000001 bede",
    "90600001 00000000 00000001 bede0001", "a0600001 00000000 00000001 02", "a0600001 00000000 00000001 00"
  ]) func malformedPacketsAreNothing(_ text: String) { #expect(RTPHeader(hex(text)) == nil) }

  @Test func anElementBeyondTheExtensionIsNothing() throws {
    let packet = hex("90600001 00000000 00000001 bede0001 1faabbcc")
    let header = try #require(RTPHeader(packet))
    #expect(HeaderExtensions.value(1, of: header, in: packet) == nil)
  }

  /// RFC 8285 §4.2: it is no padding, and what is behind it does not count.
  @Test func anElementOfID0EndsTheExtension() throws {
    let packet = hex("90600001 00000000 00000001 bede0002 10aa 01bbcc 20dd00")
    let header = try #require(RTPHeader(packet))
    #expect(HeaderExtensions.value(0, of: header, in: packet) == nil)
    #expect(HeaderExtensions.value(1, of: header, in: packet) == 17..<18)
    #expect(HeaderExtensions.value(2, of: header, in: packet) == nil)
  }

  @Test func noInputTraps() {
    attack(Self.packet) { bytes in
      guard let header = RTPHeader(bytes) else { return }
      _ = HeaderExtensions.value(200, of: header, in: bytes)
    }
  }
}
