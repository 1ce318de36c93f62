import Homeserver
import JSON
import MatrixModel
import Testing

@Suite struct NoticeTests {
  private static func notice(_ user: String, _ text: String) -> String {
    #"{"user_id":"\#(user)","content":{"msgtype":"m.text","body":"\#(text)"}}"#
  }

  private static func invitations(_ server: AdministrationFixture, _ user: APIFixture.User) async throws -> [String] {
    let sync = try await server.fixture.call(.get, "sync", as: user).json
    return sync["rooms"]?["invite"]?.members.map { $0.key.string } ?? []
  }

  @Test func `a notice makes one tagged room, whose invitation cannot be declined`() async throws {
    try await AdministrationFixture.run { server in
      let body = Self.notice("@ann:example.org", "hello")
      let sent = try await server.ask(.put, "/v1/send_server_notice/t1", body)
      let event = try #require(sent.json["event_id"]?.string)
      #expect(try await server.ask(.put, "/v1/send_server_notice/t1", body).json["event_id"]?.string == event)
      #expect(try await server.ask(.post, "/v1/send_server_notice", Self.notice("@ann:example.org", "again")).status == 200)
      let rooms = try await Self.invitations(server, server.ann)
      #expect(rooms.count == 1)
      let room = try #require(rooms.first)
      for path in ["rooms/\(room)/leave", "rooms/\(room)/forget"] {
        let answer = try await server.fixture.call(.post, path, as: server.ann, "{}")
        #expect(answer.status >= 400)
        if path.hasSuffix("leave") { #expect(answer.errorCode == "M_CANNOT_LEAVE_SERVER_NOTICE_ROOM") }
      }
      let declined = try await server.fixture.call(
        .put, "rooms/\(room)/state/m.room.member/@ann:example.org", as: server.ann, #"{"membership":"leave"}"#)
      #expect(declined.errorCode == "M_CANNOT_LEAVE_SERVER_NOTICE_ROOM")
      try await server.join(room, by: server.ann)
      let tags = try await server.fixture.call(.get, "user/@ann:example.org/rooms/\(room)/tags", as: server.ann).json
      #expect(tags["tags"]?["m.server_notice"] != nil)
      let messages = try await server.fixture.call(.get, "rooms/\(room)/messages?dir=b", as: server.ann).json
      let bodies = messages["chunk"]?.elements.compactMap { $0["content"]?["body"]?.string } ?? []
      #expect(bodies == ["again", "hello"])
      let answer = try await server.fixture.call(
        .put, "rooms/\(room)/send/m.room.message/x", as: server.ann, #"{"msgtype":"m.text","body":"no"}"#)
      #expect(answer.errorCode == "M_FORBIDDEN")
      #expect(try await server.fixture.call(.post, "rooms/\(room)/leave", as: server.ann, "{}").status == 200)
      #expect(try await server.ask(.post, "/v1/send_server_notice", Self.notice("@ann:example.org", "third")).status == 200)
      #expect(try await Self.invitations(server, server.ann) == [room])
    }
  }

  @Test func `a notice reaches who blocks invitations, and nobody can take the name of the server's voice`() async throws {
    try await AdministrationFixture.run { server in
      let block = try await server.fixture.call(
        .put, "user/@ann:example.org/account_data/m.invite_permission_config", as: server.ann, #"{"default_action":"block"}"#)
      #expect(block.status == 200)
      let taken = try await server.fixture.call(
        .post, "register", #"{"username":"server-notices","password":"correct horse","auth":{"type":"m.login.dummy"}}"#)
      #expect(taken.errorCode == "M_EXCLUSIVE")
      #expect(try await server.ask(.post, "/v1/send_server_notice", Self.notice("@ann:example.org", "x")).status == 200)
      #expect(try await Self.invitations(server, server.ann).count == 1)
      #expect(try await server.fixture.logIn("server-notices").status == 403)
      for (user, code) in [
        ("@nobody:example.org", "M_NOT_FOUND"), ("@ann:elsewhere.org", "M_INVALID_PARAM"), ("ann", "M_INVALID_PARAM")
      ] {
        #expect(try await server.ask(.post, "/v1/send_server_notice", Self.notice(user, "x")).errorCode == code)
      }
      #expect(
        try await server.ask(.post, "/v1/send_server_notice", #"{"user_id":"@ann:example.org"}"#).errorCode == "M_MISSING_PARAM"
      )
      let long = Self.notice("@ann:example.org", String(repeating: "x", count: ServerNotices.contentBytesLimit))
      #expect(try await server.ask(.post, "/v1/send_server_notice", long).errorCode == "M_TOO_LARGE")
      for path in ["/v1/reset_password/@server-notices:example.org", "/v2/users/@server-notices:example.org"] {
        let method: HTTPMethod = path.hasPrefix("/v1") ? .post : .put
        let body = #"{"new_password":"correct horse","password":"correct horse"}"#
        #expect(try await server.ask(method, path, body).errorCode == "M_FORBIDDEN")
      }
      // Who is invited can still end their account.
      #expect(try await server.ask(.post, "/v1/deactivate/@ann:example.org", "{}").status == 200)
    }
  }

  @Test func `somebody's account never becomes the server's voice`() async throws {
    try await AdministrationFixture.run { server in
      _ = try await server.fixture.homeserver.accounts.create("server-notices", password: .init("correct horse"))
      let answer = try await server.ask(.post, "/v1/send_server_notice", Self.notice("@ann:example.org", "x"))
      #expect(answer.errorCode == "M_USER_IN_USE")
      let all = try await server.ask(.post, AdministrationFixture.own + "/broadcasts", #"{"content":{"body":"x"}}"#)
      #expect(all.errorCode == "M_USER_IN_USE")
    }
  }

  @Test func `a broadcast tells its progress and its recipients`() async throws {
    try await AdministrationFixture.run { server in
      try await server.fixture.homeserver.accounts.deactivate(server.bob.userID, erase: false)
      let path = AdministrationFixture.own + "/broadcasts"
      let started = try await server.ask(.post, path, #"{"content":{"msgtype":"m.text","body":"all"}}"#)
      let id = try #require(started.json["broadcast_id"]?.string)
      await server.settle()
      let status = try await server.ask(.get, "\(path)/\(id)").json
      #expect(status["status"]?.string == "complete" && status["reached"]?.integer == 2 && status["total"]?.integer == 2)
      #expect(status["failed"]?.integer == 0 && status["actor"]?.string == "@admin:example.org")
      #expect(try await server.ask(.get, path).json.texts("broadcasts", "broadcast_id") == [id])
      #expect(try await server.ask(.get, "\(path)/none").errorCode == "M_NOT_FOUND")
      #expect(try await server.ask(.post, path, "{}").errorCode == "M_MISSING_PARAM")
      #expect(try await Self.invitations(server, server.ann).count == 1)
      #expect(try await Self.invitations(server, server.admin).count == 1)
    }
  }
}
