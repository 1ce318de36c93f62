import CallClient
import Testing

@testable import GStreamerMedia

@Suite struct SectionDirectionsTests {
  private let offer: ByteString =
    "v=0\r\na=group:BUNDLE 0 1\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\na=sendonly\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:1\r\na=recvonly\r\n"

  @Test("A section that is over is inactive for the other side; the others stay")
  func outgoing() {
    var directions = SectionDirections()
    #expect(directions.outgoing(offer) == offer)
    directions.stop("1")
    let text = directions.outgoing(offer).string
    #expect(text == offer.string.replacing("a=recvonly", with: "a=inactive"))
  }

  @Test("webrtcbin hears that every section lives as it was offered")
  func incoming() {
    var directions = SectionDirections()
    _ = directions.outgoing(offer)
    let answer = offer.string.replacing("a=sendonly", with: "a=inactive").replacing("a=recvonly", with: "a=inactive")
    #expect(
      directions.incoming(ByteString(answer)).string
        == offer.string.replacing("a=sendonly", with: "a=x").replacing("a=recvonly", with: "a=sendonly").replacing(
          "a=x", with: "a=recvonly"))
  }

  @Test(
    "The SSRCs that may come are those that are named; any may where a section that sends names none",
    arguments: [
      ("a=sendonly\r\na=ssrc:7 cname:a\r\na=ssrc:7 msid:a b\r\na=ssrc:4294967295 cname:a", [7, .max]),
      ("a=sendonly", nil), ("a=mid:0", nil), ("a=sendrecv\r\na=ssrc:x cname:a", nil),
      ("a=recvonly", []), ("a=inactive", []), ("a=inactive\r\na=ssrc:9", [9])
    ] as [(String, Set<UInt32>?)])
  func sources(_ second: String, _ expected: Set<UInt32>?) {
    let head = "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=sendonly\r\na=ssrc:5 cname:a\r\n"
    let told = SDPSections(ByteString(head + "m=video 9 UDP/TLS/RTP/SAVPF 96\r\n" + second + "\r\n")).sources
    #expect(told == expected.map { $0.union([5]) })
    // One that is refused sends nothing.
    #expect(SDPSections(ByteString(head + "m=video 0 UDP/TLS/RTP/SAVPF 96\r\na=sendonly\r\n")).sources == [5])
  }

  @Test("A section that is over does not open the door to all, though webrtcbin hears that it sends")
  func sourcesOfWhatIsOver() {
    var directions = SectionDirections()
    _ = directions.outgoing(offer)
    directions.stop("1")
    let answer = ByteString(
      offer.string.replacing("a=sendonly", with: "a=recvonly").replacing("a=mid:1\r\na=recvonly", with: "a=mid:1\r\na=inactive")
    )
    #expect(SDPSections(directions.incoming(answer)).sources == nil)
    #expect(SDPSections(answer).sources == [])
  }

  @Test(
    "What is no description stays as it is, and breaks nothing",
    arguments: ["", "m=", "a=mid:", "\u{0}", "m=audio\na=sendonly", "x"])
  func noise(_ text: String) {
    var directions = SectionDirections()
    directions.stop("")
    _ = directions.outgoing(ByteString(text))
    _ = directions.incoming(ByteString(text))
    #expect(directions.stopped == [""])
  }

  @Test("Servers of ICE are told to webrtcbin in its words, with what is odd in names escaped")
  func servers() throws {
    let server = ICEServer(urls: [], username: "17:a@b", credential: "p/w=")
    #expect(ICEAddress("stun:example.org:3478")?.stun == "stun://example.org:3478")
    #expect(
      ICEAddress("turn:example.org:3478?transport=tcp")?.relay(server)
        == "turn://17%3Aa%40b:p%2Fw%3D@example.org:3478?transport=tcp")
    #expect(ICEAddress("turn:[::1]:9")?.relay(server) == "turn://17%3Aa%40b:p%2Fw%3D@[::1]:9")
    #expect(ICEAddress("turn:example.org")?.relay(ICEServer(urls: [])) == nil)
    for odd in ["", "stun:", "http://x", "turn://x", "turn:a@b", "example.org"] { #expect(ICEAddress(odd) == nil) }
  }

  @Test("A text in a pipeline's description is one text")
  func quoting() {
    #expect(quoted(#"a "b" \ ! c"#) == #""a \"b\" \\ ! c""#)
  }
}
