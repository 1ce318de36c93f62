import ClientCore
import JSON
import MatrixModel
import Testing

@testable import WebApp

/// What an address of the page invites to; anybody can write one.
@Suite struct InviteAddressTests {
  @Test func `tokens and rooms are read, in both ways to write them`() throws {
    #expect(InviteAddress(fragment: "/join/OPwDyvAcvCTA0xeWmvgj_-") == .token("OPwDyvAcvCTA0xeWmvgj_-"))
    #expect(InviteAddress(fragment: "join/abc") == .token("abc"))
    let alias = try #require(RoomAlias("#garden:example.org"))
    #expect(InviteAddress(fragment: "/join/%23garden:example.org") == .room(Permalink(.alias(alias))))
    #expect(InviteAddress(fragment: "/join/#garden:example.org") == .room(Permalink(.alias(alias))))
  }

  @Test(arguments: [
    "", "@ann:example.org", "%40ann:example.org", "javascript:alert(1)", "<img src=x>", "https://elsewhere.example/#/join/a",
    "a b",
    "a/b", "%", "%00", "\u{202E}abc", "caf\u{E9}", String(repeating: "a", count: 65)
  ])
  func `anything else is unread`(text: String) {
    #expect(InviteAddress(fragment: "/join/" + text) == .unread)
  }

  @Test(arguments: ["", "/", "room/!a:b", "joined/abc", "/Join/abc", "//join/abc"])
  func `addresses of other places are no invitation`(fragment: String) {
    #expect(InviteAddress(fragment: fragment) == nil)
  }

  @Test(arguments: ["/join/abc", "/join/%23garden:example.org"])
  func `an address survives being written again`(fragment: String) throws {
    let address = try #require(InviteAddress(fragment: fragment))
    #expect(InviteAddress(fragment: address.fragment) == address)
  }
}
