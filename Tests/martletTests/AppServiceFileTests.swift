import FilesTesting
import ServerPush
import Testing

@testable import martlet

@Suite struct AppServiceFileTests {
  static let required = """
    id: tea
    url: null
    as_token: token-one
    hs_token: token-two
    sender_localpart: bot
    """

  private static func read(_ text: String) throws -> AppServiceRegistration {
    try withTemporaryFile(text) { try AppServiceFile.read($0) }
  }

  @Test("A registration is read whole, and what is not known is passed over")
  func whole() throws {
    let registration = try Self.read(
      """
      id: "IRC Bridge"
      url: "http://127.0.0.1:1234/"
      as_token: token-one
      hs_token: token-two
      sender_localpart: "_irc_bot"
      rate_limited: false
      receive_ephemeral: true
      protocols: [irc, xmpp]
      namespaces:
        users:
          - exclusive: true
            regex: "@_irc_bridge_.*"
        aliases:
          - exclusive: false
            regex: "#_irc_bridge_.*"
        rooms: []
      something: {else: [1, 2]}
      """)
    #expect(registration.id == "IRC Bridge" && registration.url == "http://127.0.0.1:1234")
    #expect(registration.senderLocalpart == "_irc_bot" && !registration.isRateLimited && registration.receivesEphemeral)
    #expect(registration.protocols == ["irc", "xmpp"])
    #expect(registration.users.first?.isExclusive == true && registration.users.first?.expression == "@_irc_bridge_.*")
    #expect(registration.aliases.first?.isExclusive == false && registration.rooms.isEmpty)
  }

  @Test("What may be left out has its default")
  func minimal() throws {
    let registration = try Self.read(Self.required)
    #expect(registration.url == nil && registration.isRateLimited && !registration.receivesEphemeral)
    #expect(registration.users.isEmpty && registration.protocols.isEmpty)
  }

  @Test(
    "What is wrong is said with the file",
    arguments: [
      ("id: tea", "as_token is missing"), ("- a", "must be a mapping"), ("", "the file is empty"),
      ("a: &x 1\nb: *x", "anchors"), ("a: {b: [", "line"), ("a: 1\na: 2", "twice"),
      (required + "\nrate_limited: maybe", "rate_limited"),
      (required + "\nnamespaces: {users: [{regex: a}]}", "exclusive"),
      (required + "\nnamespaces: {users: [{exclusive: true}]}", "regex"),
      (required + "\nnamespaces: {users: {}}", "must be a list"), (required + "\nprotocols: irc", "protocols")
    ])
  func wrong(text: String, part: String) throws {
    let error = #expect(throws: StartError.self) { try Self.read(text) }
    #expect(String(describing: error).contains(part))
  }

  @Test("A file that is not there is said")
  func missing() {
    #expect(throws: StartError.self) { try AppServiceFile.read("/nowhere/tea.yaml") }
  }
}
