import JSON
import MatrixModel
import Testing

@testable import Homeserver
@testable import HomeserverAPI
@testable import ServerAccounts

@Suite struct AdministrationAccessTests {
  private static let calls: [(HTTPMethod, String)] = [
    (.get, "/v2/users"), (.get, "/v3/users"), (.get, "/v2/users/@ann:example.org"), (.put, "/v2/users/@ann:example.org"),
    (.get, "/v1/username_available?username=x"), (.post, "/v1/deactivate/@ann:example.org"),
    (.post, "/v1/reset_password/@ann:example.org"), (.get, "/v1/users/@ann:example.org/admin"),
    (.put, "/v1/users/@ann:example.org/admin"), (.put, "/v1/suspend/@ann:example.org"),
    (.post, "/v1/account_validity/validity"), (.post, "/v1/users/@ann:example.org/login"),
    (.get, "/v1/whois/@ann:example.org"), (.get, "/v1/users/@ann:example.org/joined_rooms"),
    (.get, "/v2/users/@ann:example.org/devices"), (.get, "/v2/users/@ann:example.org/devices/X"),
    (.put, "/v2/users/@ann:example.org/devices/X"), (.delete, "/v2/users/@ann:example.org/devices/X"),
    (.post, "/v2/users/@ann:example.org/delete_devices"), (.get, "/v1/users/@ann:example.org/media"),
    (.delete, "/v1/users/@ann:example.org/media"), (.post, "/v1/media/quarantine/example.org/x"),
    (.post, "/v1/media/unquarantine/example.org/x"), (.post, "/v1/user/@ann:example.org/media/quarantine"),
    (.post, "/v1/media/protect/x"), (.post, "/v1/media/unprotect/x"), (.get, "/v1/media/example.org/x"),
    (.delete, "/v1/media/example.org/x"), (.post, "/v1/media/delete?before_ts=0"), (.get, "/v1/rooms"),
    (.get, "/v1/rooms/!r:example.org"), (.get, "/v1/rooms/!r:example.org/members"), (.get, "/v1/rooms/!r:example.org/state"),
    (.get, "/v1/rooms/!r:example.org/block"), (.put, "/v1/rooms/!r:example.org/block"),
    (.post, "/v1/rooms/!r:example.org/make_room_admin"), (.post, "/v1/join/!r:example.org"),
    (.delete, "/v2/rooms/!r:example.org"), (.get, "/v2/rooms/!r:example.org/delete_status"),
    (.get, "/v2/rooms/delete_status/x"), (.post, "/v1/purge_history/!r:example.org"),
    (.post, "/v1/purge_history/!r:example.org/$e"), (.get, "/v1/purge_history_status/x"), (.get, "/v1/event_reports"),
    (.get, "/v1/event_reports/1"), (.delete, "/v1/event_reports/1"), (.get, "/v1/registration_tokens"),
    (.post, "/v1/registration_tokens/new"), (.get, "/v1/registration_tokens/x"), (.put, "/v1/registration_tokens/x"),
    (.delete, "/v1/registration_tokens/x"), (.get, "/v1/statistics/users/media"), (.post, "/v1/send_server_notice"),
    (.put, "/v1/send_server_notice/t"), (.get, AdministrationFixture.own + "/audit"),
    (.get, AdministrationFixture.own + "/statistics"), (.get, AdministrationFixture.own + "/reports"),
    (.get, AdministrationFixture.own + "/broadcasts"), (.post, AdministrationFixture.own + "/broadcasts"),
    (.get, AdministrationFixture.own + "/broadcasts/x")
  ]

  @Test func `nobody but administrators gets in anywhere`() async throws {
    try await AdministrationFixture.run { server in
      let guest = try server.fixture.user(try await server.fixture.call(.post, "register?kind=guest", "{}"))
      for (method, path) in Self.calls {
        let target = path.hasPrefix("/_matrix") ? path : AdministrationFixture.path + path
        let body = method == .get ? nil : "{}"
        let own = try await server.fixture.call(method, target, as: server.ann, body)
        #expect(own.status == 403 && own.errorCode == "M_FORBIDDEN", "\(method) \(path)")
        #expect(try await server.fixture.call(method, target, as: guest, body).status == 403, "\(method) \(path)")
        #expect(try await server.fixture.call(method, target, body).status == 401, "\(method) \(path)")
        #expect(try await server.fixture.call(method, target, token: "mlo_guess", body).status == 401, "\(method) \(path)")
      }
      #expect(try await server.audit().isEmpty)
      #expect(try await server.fixture.call(.get, "account/whoami", as: server.ann).status == 200)
    }
  }

  @Test func `who is no administrator any more, locked or suspended out is refused at once`() async throws {
    try await AdministrationFixture.run { server in
      #expect(try await server.ask(.get, "/v2/users").status == 200)
      try await server.fixture.homeserver.accounts.setLocked(server.admin.userID, true)
      #expect(try await server.ask(.get, "/v2/users").errorCode == "M_USER_LOCKED")
      try await server.fixture.homeserver.accounts.setLocked(server.admin.userID, false)
      try await server.fixture.homeserver.accounts.setAdmin(server.admin.userID, false)
      #expect(try await server.ask(.get, "/v2/users").errorCode == "M_FORBIDDEN")
    }
  }

  @Test func `the operator's token is good for administration only, and for nothing if there is none`() async throws {
    var api = APIConfiguration()
    api.rateLimits = false
    let key = AccessToken.random()
    api.operatorKey = key
    try await APIFixture.run(api) { fixture in
      let token = key.text.string
      #expect(try await fixture.call(.get, AdministrationFixture.path + "/v2/users", token: token).status == 200)
      #expect(try await fixture.call(.get, "account/whoami", token: token).status == 401)
      #expect(try await fixture.call(.get, "/_matrix/client/v1/admin/lock/@a:example.org", token: token).status == 401)
      let made = try await fixture.call(
        .put, AdministrationFixture.path + "/v2/users/@ann:example.org", token: token, #"{"password":"correct horse"}"#)
      #expect(made.status == 201)
      #expect(try await fixture.homeserver.audit.list(AuditLog.Query()).map(\.actor) == ["operator"])
    }
    try await APIFixture.run { fixture in
      let answer = try await fixture.call(.get, AdministrationFixture.path + "/v2/users", token: key.text.string)
      #expect(answer.status == 401)
    }
  }

  @Test func `numbers beyond all bounds and other nonsense are refused or bounded`() async throws {
    try await AdministrationFixture.run { server in
      let lists = [
        "/v2/users", "/v3/users", "/v1/rooms", "/v1/event_reports", "/v1/statistics/users/media",
        "/v1/users/@ann:example.org/media"
      ]
      for list in lists {
        let far = try await server.ask(.get, list + "?from=9223372036854775807&limit=9223372036854775807")
        #expect(far.status == 200, "\(list)")
        #expect(far.json["next_token"] == nil && far.json["next_batch"] == nil, "\(list)")
        for query in ["from=-1", "limit=0", "limit=-5", "from=9223372036854775808", "limit=1e3", "dir=x", "order_by=%00"] {
          let answer = try await server.ask(.get, "\(list)?\(query)")
          let isUnknownOrder = query.hasPrefix("order_by") && list == "/v1/event_reports"
          #expect(isUnknownOrder || answer.errorCode == "M_INVALID_PARAM", "\(list)?\(query)")
        }
      }
      #expect(try await server.ask(.get, AdministrationFixture.own + "/audit?before=-1").errorCode == "M_INVALID_PARAM")
      let paths = [
        "/v2/users/ann", "/v2/users/@ann:elsewhere.org", "/v2/users/%2e%2e", "/v2/users/@ann%2Fdevices:elsewhere",
        "/v1/rooms/ann", "/v1/event_reports/x", "/v1/event_reports/-1", "/v1/event_reports/99999999999999999999"
      ]
      for path in paths { #expect(try await server.ask(.get, path).errorCode == "M_INVALID_PARAM", "\(path)") }
      for path in ["/v2/users/@x:example.org", "/v1/rooms/!x", "/v1/event_reports/7", "/v1/media/elsewhere.org/x"] {
        #expect(try await server.ask(.get, path).errorCode == "M_NOT_FOUND", "\(path)")
      }
      for path in ["/v1/shutdown_room/!x", "/v1/background_updates/status", "/v2/users/../rooms", "/v9/users"] {
        #expect(try await server.ask(.get, path).errorCode == "M_UNRECOGNIZED", "\(path)")
      }
    }
  }
}
