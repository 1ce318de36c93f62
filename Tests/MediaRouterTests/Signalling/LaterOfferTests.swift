import Addresses
@testable import MediaRouter
import Testing

/// Offers of a peer that has a transport already.
@Suite struct LaterOfferTests {
  private static let fingerprint = "sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":")

  private static func section(_ mid: Int, _ direction: String, port: Int = 9) -> String {
    """
    m=video \(port) UDP/TLS/RTP/SAVPF 95 96
    a=mid:\(mid)
    a=\(direction)
    a=rtpmap:95 red/90000
    a=rtpmap:96 VP8/90000

    """
      + (port == 0 ? "" : "a=ice-ufrag:abcd\na=ice-pwd:abcdefghijklmnopqrstuv\na=fingerprint:\(fingerprint)\na=setup:actpass\n")
  }

  private static func offer(bundle: String, _ sections: [String]) throws -> PeerOffer {
    try PeerOffer("v=0\na=group:BUNDLE \(bundle)\n" + sections.joined())
  }

  private static func answer(
    _ offer: PeerOffer, _ choices: [PeerOffer.Choice], isDTLSClient: Bool = false
  ) throws -> SessionDescription {
    let text = offer.answer(
      choices, credentials: ICECredentials(ufrag: Array("ours".utf8), password: [UInt8](repeating: 97, count: 22)),
      fingerprint: offer.identity.fingerprint, candidates: [TransportAddress(IPAddress("192.0.2.7")!, port: 5000)], number: 7,
      version: 3, isDTLSClient: isDTLSClient)
    #expect(text.contains("\r\no=- 7 3 IN IP4 127.0.0.1\r\n"))
    return try SessionDescription(text)
  }

  @Test func whatIsStoppedOrRestsKeepsItsPlaceAndName() throws {
    let offer = try Self.offer(
      bundle: "1 2 3",
      [
        Self.section(0, "inactive", port: 0), Self.section(1, "inactive"), Self.section(2, "recvonly"),
        Self.section(3, "sendonly")
      ])
    #expect(offer.identity.ufrag == "abcd" && offer.media[0] == nil)
    let format = try #require(offer.media[2]?.format(.vp8))
    let answer = try Self.answer(
      offer, [.refuse, .rest, .send(format, ssrc: 5, rtxSSRC: nil, stream: "s", track: "t"), .receive(format)])
    #expect(answer.attributes.contains(.init("group", "BUNDLE 1 2 3")))
    #expect(answer.sections.map { $0["mid"] } == ["0", "1", "2", "3"])
    #expect(answer.sections.map { $0.port == 0 } == [true, false, false, false])
    for (section, direction) in zip(answer.sections, ["inactive", "inactive", "sendonly", "recvonly"]) {
      #expect(section.has(direction))
    }
    #expect(answer.sections[1].formats == ["96"], "a format that is known")
    #expect(answer.sections.map { $0.has("candidate") } == [false, true, false, false])
  }

  @Test func aStoppedPlaceIsUsedAgainUnderAnotherName() throws {
    let before = try Self.offer(bundle: "0 1", [Self.section(0, "sendonly"), Self.section(1, "sendonly")])
    let after = try Self.offer(bundle: "9 1", [Self.section(9, "recvonly"), Self.section(1, "sendonly")])
    let format = try #require(after.media[0]?.format(.vp8))
    #expect(try Self.answer(before, [.refuse, .receive(format)]).attributes.contains(.init("group", "BUNDLE 1")))
    let answer = try Self.answer(
      after, [.send(format, ssrc: 5, rtxSSRC: 6, stream: "s", track: "t"), .receive(format)])
    #expect(answer.attributes.contains(.init("group", "BUNDLE 9 1")))
    #expect(answer.sections[0]["mid"] == "9" && answer.sections[0].has("sendonly"))
  }

  @Test func aDirectionThatWasNotOfferedIsNotAnswered() throws {
    let offer = try Self.offer(bundle: "0 1", [Self.section(0, "recvonly"), Self.section(1, "sendonly")])
    let format = try #require(offer.media[0]?.format(.vp8))
    let answer = try Self.answer(
      offer, [.receive(format), .send(format, ssrc: 1, rtxSSRC: nil, stream: "s", track: "t")])
    #expect(answer.sections.allSatisfy { $0.has("inactive") && !$0.has("ssrc") && $0.port != 0 })
  }

  @Test func theRoleOfALivingTransportStays() throws {
    let offer = try Self.offer(bundle: "0", [Self.section(0, "inactive")])
    #expect(try Self.answer(offer, [.rest]).sections[0]["setup"] == "passive")
    #expect(try Self.answer(offer, [.rest], isDTLSClient: true).sections[0]["setup"] == "active")
  }

  @Test func whereAllIsStoppedThereIsNoTransport() throws {
    #expect(throws: SDPError.unsupported) { try Self.offer(bundle: "", [Self.section(0, "inactive", port: 0)]) }
    let offer = try Self.offer(bundle: "0", [Self.section(0, "sendonly")])
    #expect(try !Self.answer(offer, [.refuse]).attributes.contains { $0.name == "group" })
  }

  // Proves A15
  @Test func fiftyParticipantsFitIntoOneOffer() throws {
    let mids = 0..<200
    let offer = try Self.offer(
      bundle: mids.map { "\($0)" }.joined(separator: " "), mids.map { Self.section($0, "recvonly") })
    let format = try #require(offer.media[199]?.format(.vp8))
    let answer = try Self.answer(
      offer, mids.map { .send(format, ssrc: UInt32($0 + 1), rtxSSRC: nil, stream: "s", track: "\($0)") })
    #expect(answer.sections.count == 200 && answer.sections.allSatisfy { $0.has("sendonly") })
  }
}
