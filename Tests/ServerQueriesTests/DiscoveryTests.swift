import JSON
import MatrixModel
import Testing

@testable import ServerQueries

@Suite struct DiscoveryTests {
  static let wellKnown = "https://example.org/.well-known/matrix/client"
  static let versions = #"{"versions":["v1.18","v1.19"],"unstable_features":{"on":true,"off":false,"odd":1}}"#

  /// Answers by URL; what is not there gets none. Gives the URLs asked for and the end.
  static func run(
    _ address: ByteString, _ answers: [String: (Int, String)]
  ) -> (asked: [String], step: Discovery.Step) {
    var discovery = Discovery(address)
    var asked: [String] = []
    while case .fetch(let fetch) = discovery.step, asked.count < 10 {
      asked.append(fetch.url)
      let answer = answers[fetch.url]
      discovery.take(status: answer?.0, body: Array((answer?.1 ?? "").utf8))
    }
    return (asked, discovery.step)
  }

  static func error(_ step: Discovery.Step) -> DiscoveryError? {
    guard case .failed(let error) = step else { return nil }
    return error
  }

  static func found(_ step: Discovery.Step) -> DiscoveredHomeserver? {
    guard case .found(let found) = step else { return nil }
    return found
  }

  @Test(arguments: ["example.org", "@alice:example.org", "example.org:8448", "@alice:example.org:8448"])
  func `from a name the base URL is found`(address: ByteString) throws {
    let (asked, step) = Self.run(
      address,
      [
        Self.wellKnown: (200, #"{"m.homeserver":{"base_url":"https://hs.example.org/base/"},"io.example":{"x":1}}"#),
        "https://hs.example.org/base/_matrix/client/versions": (200, Self.versions)
      ])
    let found = try #require(Self.found(step))
    #expect(found.url.string == "https://hs.example.org/base")
    #expect(found.identityServer == nil)
    #expect(found.versions.versions == ["v1.18", "v1.19"])
    #expect(found.versions.unstableFeatures == ["on"])
    #expect(found.wellKnown?["io.example"]?["x"]?.integer == 1)
    #expect(asked.count == 2)
  }

  @Test func `an identity server that answers is found as well`() throws {
    let (_, step) = Self.run(
      "example.org",
      [
        Self.wellKnown: (
          200, #"{"m.homeserver":{"base_url":"https://h"},"m.identity_server":{"base_url":"https://i/"}}"#
        ),
        "https://h/_matrix/client/versions": (200, Self.versions), "https://i/_matrix/identity/v2": (200, "{}")
      ])
    #expect(try #require(Self.found(step)).identityServer?.string == "https://i")
  }

  @Test func `a URL is asked itself`() throws {
    let (asked, step) = Self.run(
      "http://localhost:8008/", ["http://localhost:8008/_matrix/client/versions": (200, Self.versions)])
    #expect(try #require(Self.found(step)).url.string == "http://localhost:8008")
    #expect(asked.count == 1)
    #expect(Self.error(Self.run("http://localhost:1", [:]).step) == .failError(.noAnswer))
  }

  @Test func `a server that announces nothing may be where its name says`() throws {
    let (_, step) = Self.run(
      "example.org:8448",
      [Self.wellKnown: (404, ""), "https://example.org:8448/_matrix/client/versions": (200, Self.versions)])
    #expect(try #require(Self.found(step)).url.string == "https://example.org:8448")
    #expect(Self.error(Self.run("example.org", [Self.wellKnown: (404, "")]).step) == .ignore)
  }

  @Test(arguments: [
    (500, "{}", DiscoveryError.failPrompt(.status(500))), (302, "{}", .failPrompt(.status(302))),
    (200, "", .failPrompt(.status(200))), (200, "<html>", .failPrompt(.notJSON)), (200, "[]", .failPrompt(.notJSON)),
    (200, "{}", .failPrompt(.noHomeserver)), (200, #"{"m.homeserver":{}}"#, .failPrompt(.noHomeserver)),
    (200, #"{"m.homeserver":{"base_url":7}}"#, .failPrompt(.noHomeserver)),
    (200, #"{"m.homeserver":{"base_url":"example"}}"#, .failError(.invalidHomeserver)),
    (200, #"{"m.homeserver":{"base_url":"ftp://example"}}"#, .failError(.invalidHomeserver)),
    (200, #"{"m.homeserver":{"base_url":"https://nobody"}}"#, .failError(.noAnswer)),
    (200, #"{"m.homeserver":{"base_url":"https://error"}}"#, .failError(.invalidHomeserver)),
    (200, #"{"m.homeserver":{"base_url":"https://page"}}"#, .failError(.invalidHomeserver)),
    (200, #"{"m.homeserver":{"base_url":"https://odd"}}"#, .failError(.invalidHomeserver)),
    (200, #"{"m.homeserver":{"base_url":"https://h"},"m.identity_server":{}}"#, .failPrompt(.noIdentityServer)),
    (
      200, #"{"m.homeserver":{"base_url":"https://h"},"m.identity_server":{"base_url":"x"}}"#,
      .failError(.invalidIdentityServer)
    ),
    (
      200, #"{"m.homeserver":{"base_url":"https://h"},"m.identity_server":{"base_url":"https://nobody"}}"#,
      .failError(.invalidIdentityServer)
    )
  ]) func `what is announced wrong is told by the spec's actions`(status: Int, body: String, error: DiscoveryError) {
    let (_, step) = Self.run(
      "example.org",
      [
        Self.wellKnown: (status, body), "https://h/_matrix/client/versions": (200, Self.versions),
        "https://error/_matrix/client/versions": (502, "{}"), "https://page/_matrix/client/versions": (200, "<html>"),
        "https://odd/_matrix/client/versions": (200, #"{"versions":[1]}"#)
      ])
    #expect(Self.error(step) == error)
  }

  @Test func `no answer at all is FAIL_PROMPT`() {
    #expect(Self.error(Self.run("example.org", [:]).step) == .failPrompt(.noAnswer))
  }

  @Test(arguments: [(Discovery.bytesLimit, true), (Discovery.bytesLimit + 1, false)])
  func `an answer of that size is looked at`(bytes: Int, isFine: Bool) {
    var discovery = Discovery("example.org")
    let json = #"{"m.homeserver":{"base_url":"https://h"}}"#
    discovery.take(status: 200, body: Array(json.utf8) + [UInt8](repeating: 32, count: bytes - json.utf8.count))
    if case .fetch = discovery.step { #expect(isFine) } else { #expect(!isFine) }
  }

  @Test(arguments: ["", "exa mple.org", "@alice", "https://", "https://a b", "ftp://x", "#room:example.org"])
  func `an invalid address is refused without a request`(address: ByteString) {
    let (asked, step) = Self.run(address, [:])
    #expect(asked.isEmpty)
    #expect(Self.error(step) == .invalidAddress)
  }

  @Test(
    arguments: [
      ("https://example.org", "https://example.org"), ("HTTPS://Example.org//", "HTTPS://Example.org"),
      ("http://[::1]:8008/a/b/", "http://[::1]:8008/a/b"), ("https://example.org:443", "https://example.org:443"),
      ("https://user@example.org", nil), ("https://example.org?x", nil), ("https://example.org/#x", nil),
      ("https://example.org/a b", nil), ("example.org", nil), ("https:///x", nil), ("", nil)
    ] as [(ByteString, ByteString?)]) func `base URLs`(text: ByteString, expected: ByteString?)
  {
    #expect(ServerURL(text)?.text == expected)
  }

  @Test(arguments: [(2_048, true), (2_049, false)]) func `a base URL has a limit`(bytes: Int, isFine: Bool) {
    let start = "https://h/"
    let url = ByteString(start + String(repeating: "a", count: bytes - start.utf8.count))
    #expect((ServerURL(url) != nil) == isFine)
  }
}
