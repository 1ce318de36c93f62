import JSON
import MatrixModel
import ServerAccounts
import Testing

@Suite struct StandingTests {
  @Test func `a locked account can only log out, and is whole again when unlocked`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let accounts = fixture.homeserver.accounts
      #expect(try await fixture.call(.get, "account/whoami", as: ann).status == 200)
      try await accounts.setLocked(ann.userID, true)
      for path in ["account/whoami", "sync", "devices"] {
        let refused = try await fixture.call(.get, path, as: ann)
        #expect(refused.status == 401)
        #expect(refused.errorCode == "M_USER_LOCKED")
        #expect(refused.json["soft_logout"]?.bool == true)
      }
      #expect(try await fixture.logIn("ann").errorCode == "M_USER_LOCKED")
      try await accounts.setLocked(ann.userID, false)
      #expect(try await fixture.call(.get, "account/whoami", as: ann).status == 200)
      try await accounts.setLocked(ann.userID, true)
      #expect(try await fixture.call(.post, "logout", as: ann).status == 200)
      try await accounts.setLocked(ann.userID, false)
      #expect(try await fixture.call(.get, "account/whoami", as: ann).errorCode == "M_UNKNOWN_TOKEN")
    }
  }

  @Test func `a suspended account reads and leaves, but neither joins nor writes`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let room = try #require(
        try await fixture.call(.post, "createRoom", as: bob, #"{"preset":"public_chat"}"#).json["room_id"]?.string)
      #expect(try await fixture.call(.post, "join/\(room)", as: ann, "{}").status == 200)
      func send(_ user: APIFixture.User) async throws -> String {
        let sent = try await fixture.call(
          .put, "rooms/\(room)/send/m.room.message/first", as: user, #"{"msgtype":"m.text","body":"x"}"#)
        return try #require(sent.json["event_id"]?.string)
      }
      let (own, theirs) = (try await send(ann), try await send(bob))
      try await fixture.homeserver.accounts.setSuspended(ann.userID, true)
      let refusals: [(HTTPMethod, String, String)] = [
        (.put, "rooms/\(room)/send/m.room.message/1", #"{"msgtype":"m.text","body":"x"}"#), (.post, "createRoom", "{}"),
        (.post, "join/\(room)", "{}"), (.put, "profile/@ann:example.org/displayname", #"{"displayname":"x"}"#)
      ]
      for (method, path, body) in refusals {
        let refused = try await fixture.call(method, path, as: ann, body)
        #expect(refused.status == 403)
        #expect(refused.errorCode == "M_USER_SUSPENDED")
      }
      for (event, code) in [(theirs, "M_USER_SUSPENDED"), (own, nil)] as [(String, String?)] {
        #expect(
          try await fixture.call(.put, "rooms/\(room)/redact/\(event)/r\(event.dropFirst())", as: ann, "{}").errorCode == code)
      }
      #expect(try await fixture.call(.get, "sync", as: ann).status == 200)
      #expect(try await fixture.logIn("ann").status == 200)
      #expect(try await fixture.call(.post, "rooms/\(room)/leave", as: ann, "{}").status == 200)
      try await fixture.homeserver.accounts.setSuspended(ann.userID, false)
      #expect(try await fixture.call(.post, "join/\(room)", as: ann, "{}").status == 200)
    }
  }

  @Test func `an account is valid until its time, to the millisecond`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let accounts = fixture.homeserver.accounts
      try await accounts.setValidity(ann.userID, until: fixture.homeserver.configuration.clock.now() + 1_000)
      fixture.advance(milliseconds: 999)
      #expect(try await fixture.call(.get, "account/whoami", as: ann).status == 200)
      fixture.advance(milliseconds: 1)
      let expired = try await fixture.call(.get, "account/whoami", as: ann)
      #expect(expired.status == 403)
      #expect(expired.errorCode == "ORG_MATRIX_EXPIRED_ACCOUNT")
      #expect(try await fixture.logIn("ann").errorCode == "ORG_MATRIX_EXPIRED_ACCOUNT")
      try await accounts.setValidity(ann.userID, until: nil)
      #expect(try await fixture.call(.get, "account/whoami", as: ann).status == 200)
    }
  }

  @Test func `accounts are listed in pages, by search and by kind`() async throws {
    try await APIFixture.run { fixture in
      for name in ["ann", "bob", "cat_1", "catx1"] { _ = try await fixture.register(name) }
      let accounts = fixture.homeserver.accounts
      try await accounts.setAdmin(UserID(trusted: "@bob:example.org"), true)
      var query = AccountQuery()
      query.limit = 3
      let first = try await accounts.list(query)
      #expect(first.accounts.map(\.userID.string) == ["@ann:example.org", "@bob:example.org", "@cat_1:example.org"])
      #expect(first.total == 4 && !first.isLast)
      query.after = first.accounts.last?.userID
      let second = try await accounts.list(query)
      #expect(second.accounts.map(\.userID.string) == ["@catx1:example.org"] && second.isLast)
      var search = AccountQuery()
      search.search = "Cat_"
      #expect(try await accounts.list(search).accounts.map(\.userID.string) == ["@cat_1:example.org"])
      var admins = AccountQuery()
      admins.isAdmin = true
      #expect(try await accounts.list(admins).accounts.map(\.userID.string) == ["@bob:example.org"])
      await #expect(throws: MatrixError.self) { try await accounts.setAdmin(UserID(trusted: "@no:example.org"), true) }
    }
  }
}
