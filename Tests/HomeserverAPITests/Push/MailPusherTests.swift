import JSON
import MatrixModel
import Testing

@testable import Homeserver

@Suite struct MailPusherTests {
  private typealias Fixture = MailPushFixture
  private static let minute = MailPushFixture.minute

  private func keys(_ mails: MailPushFixture, _ user: APIFixture.User) async throws -> [String] {
    let pushers = try await mails.fixture.call(.get, "pushers", as: user).json["pushers"]
    return pushers?.elements.compactMap { $0["kind"]?.isString("email") ?? false ? $0["pushkey"]?.string : nil } ?? []
  }

  @Test func `where no mail is sent there are no e-mail pushers`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let answer = try await fixture.call(
        .post, "pushers/set", as: ann,
        #"""
        {"kind":"email","app_id":"m.email","pushkey":"ann@example.com","app_display_name":"Mail","lang":"en",
         "device_display_name":"ann","data":{}}
        """#)
      #expect(answer.status == 400 && answer.errorCode == "M_INVALID_PARAM")
    }
  }

  @Test func `an address is the account's own, however it is written, and one pusher`() async throws {
    try await Fixture.run { mails in
      let stranger = try await mails.set("else@example.com", as: mails.ann)
      #expect(stranger.status == 400 && stranger.errorCode == "M_THREEPID_NOT_FOUND")
      #expect(stranger.json["error"]?.string?.contains("add the address and confirm it first") == true)
      #expect(try await mails.set("ann@example.com", as: mails.bob).errorCode == "M_THREEPID_NOT_FOUND")
      #expect(try await mails.set("Ann@Example.com", as: mails.ann).status == 200)
      #expect(try await keys(mails, mails.ann) == ["ann@example.com"])
      #expect(try await mails.set("ANN@example.com", as: mails.ann, kind: "null").status == 200)
      #expect(try await keys(mails, mails.ann).isEmpty)
    }
  }

  @Test(arguments: [
    (#""email""#, "m.email", "no address"), (#""email""#, "org.example.app", "ann@example.com"),
    (#""http""#, "m.email", "ann@example.com"), (#""email""#, "m.email", #"ann@example.com\r\nBcc: eve@example.org"#)
  ])
  func `what is no e-mail pusher is refused`(_ kind: String, _ appID: String, _ address: String) async throws {
    try await Fixture.run { mails in
      let answer = try await mails.set(address, as: mails.ann, kind: kind, appID: appID)
      #expect(answer.status == 400 && answer.errorCode == "M_INVALID_PARAM")
    }
  }

  @Test func `the link in a mail asks first, its button ends the mails, without signing in`() async throws {
    try await Fixture.run { mails in
      try await mails.say("one")
      let mail = try #require(try await mails.sent(after: 10 * Self.minute).first)
      let path = try Fixture.wayOut(of: mail)
      let look = try await mails.fixture.page(.get, path)
      #expect(look.status == 200 && look.text.contains("ann@example.com") && look.text.contains("<button>"))
      #expect(try await keys(mails, mails.ann) == ["ann@example.com"])
      #expect(try await mails.fixture.page(.post, String(path.dropLast())).status == 404)
      #expect(try await mails.fixture.page(.post, String(path.prefix { $0 != "?" })).status == 400)
      try await mails.say("two")
      try await mails.sent()
      let done = try await mails.fixture.page(
        .post, path, headers: [(name: "Content-Type", value: "application/x-www-form-urlencoded")])
      #expect(done.status == 200 && done.text.contains("no more mails"))
      #expect(try await keys(mails, mails.ann).isEmpty)
      let rows = try await mails.rows()
      #expect(rows.waiting == 0 && rows.rooms == 0)
      #expect(try await mails.sent(after: 60 * Self.minute).isEmpty)
      for method: HTTPMethod in [.get, .post] { #expect(try await mails.fixture.page(method, path).status == 404) }
      // Switched on again, it has a new link, and tells of what comes from then on.
      #expect(try await mails.set("ann@example.com", as: mails.ann).status == 200)
      try await mails.say("three")
      let next = try #require(try await mails.sent(after: 10 * Self.minute).first)
      #expect(try Fixture.wayOut(of: next) != path)
      #expect(next.contains("bob: three") && !next.contains("bob: two"))
    }
  }

  @Test func `a link stays good while the pusher is there`() async throws {
    try await Fixture.run { mails in
      try await mails.say("one")
      let path = try Fixture.wayOut(of: try #require(try await mails.sent(after: 10 * Self.minute).first))
      #expect(try await mails.set("ann@example.com", as: mails.ann).status == 200)
      #expect(try await mails.fixture.page(.post, path).status == 200)
    }
  }

  @Test func `the pusher stays when the device that set it goes, and ends with the address`() async throws {
    try await Fixture.run { mails in
      let phone = try mails.fixture.user(try await mails.fixture.logIn("ann"))
      #expect(try await mails.fixture.call(.post, "logout", as: mails.ann, "{}").status == 200)
      try await mails.say("one")
      #expect(try await mails.sent(after: 10 * Self.minute).count == 1)
      try await mails.say("two")
      try await mails.sent()
      let deletion = #"{"medium":"email","address":"Ann@example.com"}"#
      #expect(try await mails.fixture.call(.post, "account/3pid/delete", as: phone, deletion).status == 200)
      #expect(try await keys(mails, phone).isEmpty)
      let rows = try await mails.rows()
      #expect(rows.waiting == 0 && rows.rooms == 0)
      #expect(try await mails.sent(after: 120 * Self.minute).isEmpty)
    }
  }

  @Test func `nothing stays of who deactivates their account`() async throws {
    try await Fixture.run { mails in
      try await mails.say("one")
      #expect(try await mails.sent(after: 10 * Self.minute).count == 1)
      try await mails.say("two")
      try await mails.sent()
      let auth = #"{"auth":\#(APIFixture.passwordAuth("ann")),"erase":true}"#
      #expect(try await mails.fixture.call(.post, "account/deactivate", as: mails.ann, auth).status == 200)
      let rows = try await mails.rows()
      #expect(rows.waiting == 0 && rows.rooms == 0)
      let pushers = try await mails.fixture.homeserver.database.read { tx in
        try tx.first("SELECT COUNT(*) FROM pusher") { $0.integer(0) }
      }
      #expect(pushers == 0)
      #expect(try await mails.sent(after: 120 * Self.minute).isEmpty)
    }
  }

  @Test func `a push gateway beside it is told at once, whatever waits for the mail`() async throws {
    try await PeerServer.run { peer in
      try await Fixture.run({ $0.pushGateways = [peer.url] }) { mails in
        let body = #"""
          {"kind":"http","app_id":"org.example.app","pushkey":"key","app_display_name":"App","lang":"en",
           "device_display_name":"Phone","data":{"url":"\#(peer.url)/_matrix/push/v1/notify"}}
          """#
        #expect(try await mails.fixture.call(.post, "pushers/set", as: mails.ann, body).status == 200)
        try await mails.say("one")
        #expect(try await mails.sent().isEmpty)
        #expect(peer.take().compactMap { $0.json["notification"]?["content"]?["body"]?.string } == ["one"])
        let queued = try await mails.fixture.homeserver.database.read { tx in
          try tx.first("SELECT COUNT(*) FROM push_queue") { $0.integer(0) }
        }
        #expect(queued == 0)
        #expect(try await mails.sent(after: 10 * Self.minute).count == 1)
      }
    }
  }
}
