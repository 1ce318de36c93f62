import JSON
import MatrixModel
import Testing

@Suite struct PermalinkTests {
  private func link(_ text: String) -> Permalink? { Permalink(ByteString(text)) }

  private static let elsewhere = [ServerName(trusted: "elsewhere.ca")]
  private static let room = RoomID(trusted: "!somewhere:example.org")

  /// The examples of the spec, Appendices, "URIs".
  @Test(arguments: [
    ("https://matrix.to/#/%23somewhere:example.org", Permalink(.alias(RoomAlias(trusted: "#somewhere:example.org")))),
    ("https://matrix.to/#/!somewhere:example.org?via=elsewhere.ca", Permalink(.room(room), via: elsewhere)),
    (
      "https://matrix.to/#/!somewhere:example.org/$event:example.org?via=elsewhere.ca",
      Permalink(.room(room), event: EventID(trusted: "$event:example.org"), via: elsewhere)
    ),
    ("https://matrix.to/#/@alice:example.org", Permalink(.user(UserID(trusted: "@alice:example.org")))),
    ("https://matrix.to/#/%23somewhere%3Aexample.org", Permalink(.alias(RoomAlias(trusted: "#somewhere:example.org")))),
    (
      "https://matrix.to/#/%21somewhere%3Aexample.org/%24event%3Aexample.org?via=elsewhere.ca",
      Permalink(.room(room), event: EventID(trusted: "$event:example.org"), via: elsewhere)
    ),
    ("https://matrix.to/#/%40alice%3Aexample.org", Permalink(.user(UserID(trusted: "@alice:example.org")))),
    ("matrix:r/somewhere:example.org", Permalink(.alias(RoomAlias(trusted: "#somewhere:example.org")))),
    ("matrix:roomid/somewhere:example.org?via=elsewhere.ca", Permalink(.room(room), via: elsewhere)),
    (
      "matrix:roomid/somewhere:example.org/e/event?via=elsewhere.ca",
      Permalink(.room(room), event: EventID(trusted: "$event"), via: elsewhere)
    ),
    ("matrix:u/alice:example.org?action=chat", Permalink(.user(UserID(trusted: "@alice:example.org")), action: .chat))
  ]) func `the spec's links are read, and what is written is read again`(text: String, link: Permalink) {
    #expect(Permalink(ByteString(text)) == link)
    #expect(Permalink(link.matrixURI) == link)
    var plain = link
    plain.action = nil
    #expect(Permalink(link.matrixTo) == plain)
  }

  @Test func `what clients have written in the past is read`() {
    #expect(link("https://matrix.to/#/#tea:test")?.target == .alias(RoomAlias(trusted: "#tea:test")))
    #expect(link("HTTPS://Matrix.To/#/@a:test")?.target == .user(UserID(trusted: "@a:test")))
    #expect(link("matrix:user/a:test")?.target == .user(UserID(trusted: "@a:test")))
    #expect(link("matrix:room/tea:test/event/x")?.event == EventID(trusted: "$x"))
    #expect(link("matrix://host/roomid/x:test?action=join")?.action == .join)
    #expect(link("https://matrix.to/#/!a:test/%24b%2Fc")?.event == EventID(trusted: "$b/c"))
  }

  @Test(arguments: [
    "", "https://matrix.to/#/", "https://matrix.to/#/x", "https://matrix.to/@a:test", "https://matrix.to/#/@a:test/$event",
    "https://matrix.to/#/%zz", "https://matrix.to/#/%40a:test%2", "matrix:", "matrix:u", "matrix:u/", "matrix:x/a:test",
    "matrix:u/a:test/e/x",
    "matrix:roomid/a:test/e", "https://example.org/#/@a:test", "https://matrix.to/#/!a:test/event", "mailto:a@test"
  ]) func `other links are none`(text: String) {
    #expect(link(text) == nil)
  }

  @Test func `a link has an end, and so have its servers`() {
    let vias = (0..<30).map { "via=s\($0).org" }.joined(separator: "&")
    #expect(link("https://matrix.to/#/!a:test?" + vias)?.via.count == Permalink.viaLimit)
    let long = "matrix:u/a:test?x=" + String(repeating: "x", count: Permalink.bytesLimit)
    #expect(link(long) == nil)
    #expect(link(String(long.prefix(Permalink.bytesLimit))) != nil)
  }

  @Test func `actions that make no sense are ignored`() {
    #expect(link("matrix:u/a:test?action=join")?.action == nil)
    #expect(link("matrix:r/a:test?action=chat")?.action == nil)
  }
}
