import Addresses
@testable import MediaRouter
import Testing

/// The messages of RFC 5769 §2.
@Suite struct STUNTests {
  private static let key = HMACSHA1(key: Array("VOkJxbRl1RmTxUk/WvJxBt".utf8))
  private static let transactionID = hex("b7e7a701 bc34d686 fa87dfae")
  private static let request = hex(
    """
    00010058 2112a442 b7e7a701 bc34d686 fa87dfae 80220010 5354554e 20746573 7420636c 69656e74 00240004 6e0001ff
    80290008 932ff9b1 51263b36 00060009 6576746a 3a683676 59202020 00080014 9aeaa70c bfd8cb56 781ef2b5 b2d3f249
    c1b571a2 80280004 e57a3bcf
    """)
  private static let response = hex(
    """
    0101003c 2112a442 b7e7a701 bc34d686 fa87dfae 8022000b 74657374 20766563 746f7220 00200008 0001a147 e112a643
    00080014 2b91f599 fd9e90c3 8c7489f9 2af9ba53 f06be7d7 80280004 c07d4c96
    """)
  private static let response6 = hex(
    """
    01010048 2112a442 b7e7a701 bc34d686 fa87dfae 8022000b 74657374 20766563 746f7220 00200014 0002a147 0113a9fa
    a5d3f179 bc25f4b5 bed2b9d9 00080014 a382954e 4be67bf1 1784c97c 8292c275 bfe3ed41 80280004 c8fb0b4c
    """)

  // Proves M2, Q10
  @Test func theRequestOfTheStandardIsReadAndAuthentic() throws {
    let message = try #require(STUNMessage(Self.request))
    #expect(message.kind == .bindingRequest)
    #expect(message.transactionID == Self.transactionID)
    #expect(message.username == Array("evtj:h6vY".utf8))
    #expect(message.priority == 0x6E00_01FF)
    #expect(message.isControlling == false)
    #expect(!message.useCandidate)
    #expect(message.unknownAttributes.isEmpty)
    #expect(message.isAuthentic(Self.request, key: Self.key))
    #expect(message.hasFingerprint(Self.request))
  }

  @Test(arguments: [(response, "192.0.2.1"), (response6, "2001:db8:1234:5678:11:2233:4455:6677")])
  func theResponsesOfTheStandardAreReadAndAuthentic(_ bytes: [UInt8], _ address: String) throws {
    let message = try #require(STUNMessage(bytes))
    #expect(message.kind == .bindingSuccess)
    #expect(message.mappedAddress == TransportAddress(IPAddress(address)!, port: 32853))
    #expect(message.isAuthentic(bytes, key: Self.key))
    #expect(message.hasFingerprint(bytes))
  }

  @Test func anotherPasswordOrAChangedByteIsNotAuthentic() throws {
    let message = try #require(STUNMessage(Self.request))
    #expect(!message.isAuthentic(Self.request, key: HMACSHA1(key: [1])))
    var changed = Self.request
    changed[45] ^= 1
    let other = try #require(STUNMessage(changed))
    #expect(!other.isAuthentic(changed, key: Self.key))
    #expect(!other.hasFingerprint(changed))
  }

  @Test(arguments: ["192.0.2.1", "2001:db8::7"]) func whatIsWrittenIsRead(_ address: String) throws {
    let address = TransportAddress(IPAddress(address)!, port: 9)
    var writer = STUNWriter(.bindingRequest, transactionID: Self.transactionID)
    writer.username(Array("a:b".utf8))
    writer.priority(7)
    writer.role(isControlling: true, tieBreaker: 5)
    writer.useCandidate()
    writer.mappedAddress(address)
    writer.error(487, "Role Conflict")
    let bytes = writer.seal(key: Self.key)
    let message = try #require(STUNMessage(bytes))
    #expect(message.username == Array("a:b".utf8))
    #expect(message.priority == 7)
    #expect(message.isControlling == true)
    #expect(message.useCandidate)
    #expect(message.mappedAddress == address)
    #expect(message.errorCode == 487)
    #expect(message.isAuthentic(bytes, key: Self.key))
    #expect(message.hasFingerprint(bytes))
  }

  @Test func whatFollowsTheIntegrityIsNotBelieved() throws {
    var writer = STUNWriter(.bindingRequest, transactionID: Self.transactionID)
    var bytes = writer.seal(key: Self.key)
    // USE-CANDIDATE between MESSAGE-INTEGRITY and FINGERPRINT.
    bytes.insert(contentsOf: [0, 0x25, 0, 0], at: bytes.count - 8)
    bytes.store(UInt16(bytes.count - 20), at: 2)
    let message = try #require(STUNMessage(bytes))
    #expect(!message.useCandidate)
    #expect(message.isAuthentic(bytes, key: Self.key))
  }

  @Test func unknownAttributesThatMustBeUnderstoodAreNamed() throws {
    var bytes = hex("0001000c 2112a442 b7e7a701 bc34d686 fa87dfae 7001000300112200 80010000")
    bytes.store(UInt16(bytes.count - 20), at: 2)
    #expect(STUNMessage(bytes)?.unknownAttributes == [0x7001])
  }

  @Test func tooManyAttributesAreRefused() {
    func message(_ count: Int) -> [UInt8] {
      var bytes = hex("00010000 2112a442 b7e7a701 bc34d686 fa87dfae")
      for _ in 0..<count { bytes += [0x80, 1, 0, 0] }
      bytes.store(UInt16(4 * count), at: 2)
      return bytes
    }
    #expect(STUNMessage(message(STUNMessage.attributesLimit)) != nil)
    #expect(STUNMessage(message(STUNMessage.attributesLimit + 1)) == nil)
  }

  @Test(arguments: [request, response6]) func noInputTraps(_ sample: [UInt8]) {
    attack(sample) { bytes in
      guard let message = STUNMessage(bytes) else { return }
      _ = message.isAuthentic(bytes, key: Self.key)
      _ = message.hasFingerprint(bytes)
    }
  }

  @Test(
    arguments: [
      (0, DatagramKind.stun), (3, .stun), (20, .dtls), (63, .dtls), (128, .rtp), (191, .rtp)
    ] as [(UInt8, DatagramKind)]) func theFirstByteTellsTheKind(_ byte: UInt8, _ kind: DatagramKind)
  {
    #expect(DatagramKind([byte, 0]) == kind)
  }

  @Test func otherFirstBytesAreNothing() {
    for byte: UInt8 in [4, 19, 64, 79, 127, 192, 255] { #expect(DatagramKind([byte, 0]) == nil) }
    #expect(DatagramKind([UInt8]()) == nil)
    #expect(DatagramKind([128, 200]) == .rtcp)
    #expect(DatagramKind([128, 96 | 128]) == .rtp)
  }
}
