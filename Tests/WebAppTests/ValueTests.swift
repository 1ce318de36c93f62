import ClientCore
import ClientHost
import JSON
import MatrixModel
import PageWidgets
import PageWords
import Testing

@testable import WebApp

@Suite("Places, addresses and words")
struct ValueTests {
  @Test("a place survives being the page's address", arguments: ["!abc:example.org", "!abc", "!a/b?c%d:x.org"])
  func place(_ id: String) throws {
    let room = try #require(RoomID(id))
    for place in [Place.room(room), .details(room)] {
      let read = try #require(Destination(fragment: place.fragment))
      #expect(read.link == Permalink(.room(room)) && read.showsDetails == place.showsDetails)
    }
    #expect(Place.list.fragment.isEmpty)
  }

  // Proves C55
  @Test("an address names a room or alias, an event in it and servers that know it, encoded or not")
  func destination() throws {
    let alias = try #require(RoomAlias("#garden:chat.example"))
    let event = try #require(EventID("$abc"))
    let servers = try ["one.example", "two.example:8448"].map { try #require(ServerName(ByteString($0))) }
    let link = Permalink(.alias(alias), event: event, via: servers)
    #expect(
      Destination(fragment: "/room/%23garden%3Achat.example/%24abc?via=one.example&via=two.example%3A8448")?.link == link)
    #expect(Destination(fragment: "room/#garden:chat.example/$abc?via=one.example&via=two.example:8448")?.link == link)
  }

  @Test(
    "an address that names nothing is refused",
    arguments: ["", "room/", "room/abc", "settings", "room/!", "room/@alice:example.org", "room/!a:b/abc", "rooms/!a:b"])
  func noPlace(_ fragment: String) {
    #expect(Destination(fragment: fragment) == nil)
  }

  @Test("where one read survives as text, to the 64th of a pixel", arguments: [0.0, 12.5, -3.25, 100_000.015625])
  func savedPlace(_ offset: Double) throws {
    let place = SavedPlace(event: try #require(EventID("$abc")), offset: offset)
    let read = try #require(SavedPlace(text: place.text))
    #expect(read.event == place.event && read.offset == offset)
  }

  @Test("an invalid saved place is ignored", arguments: ["", "$abc", "abc 1", "$abc 1 2", "$abc 99999999999999999999"])
  func noSavedPlace(_ text: String) {
    #expect(SavedPlace(text: text) == nil)
  }

  @Test(
    "a typed server becomes an address",
    arguments: [
      ("example.org", "https://example.org"), (" http://localhost:8008/ ", "http://localhost:8008"),
      ("https://example.org/some/path", "https://example.org"), ("[::1]:8448", "https://[::1]:8448")
    ])
  func server(_ typed: String, _ base: String) {
    #expect(Server.address(typed: typed)?.base == base)
  }

  @Test("what cannot be a host is refused", arguments: ["", "https://", "two words", "exa\"mple", "javascript:alert(1)"])
  func noServer(_ typed: String) {
    #expect(Server.address(typed: typed) == nil)
  }

  @Test("the well-known file names the server, and an invalid file names nothing")
  func wellKnown() {
    let good = Array(#"{"m.homeserver":{"base_url":"https://matrix.example.org/"}}"#.utf8)
    #expect(Server.named(inWellKnown: good)?.base == "https://matrix.example.org")
    for bad in ["", "[]", #"{"m.homeserver":{}}"#, "<html>"] { #expect(Server.named(inWellKnown: Array(bad.utf8)) == nil) }
  }

  @Test("every error has words, and the server's own are shown where there are none better")
  func words() {
    #expect(Strings.words(for: .refused(status: 400, code: "M_STRANGE", message: "Because.")) == "Because.")
    #expect(Strings.words(for: .refused(status: 502, code: "M_UNKNOWN", message: "")) == Strings[.serverInTrouble])
    #expect(Strings.wordsAtSignIn(for: .refused(status: 400, code: .userInUse, message: "")) == Strings[.userNameTaken])
    #expect(Strings.wordsAtSignIn(for: .refused(status: 403, code: .forbidden, message: "")) == Strings[.signInWrong])
  }
}
