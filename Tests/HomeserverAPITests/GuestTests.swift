import Homeserver
import JSON
import MatrixModel
import Testing

@Suite struct GuestTests {
  private static func run(_ body: (APIFixture, APIFixture.User) async throws -> Void) async throws {
    try await APIFixture.run(
      configure: {
        $0.registration = .open
        $0.allowsGuests = true
      }
    ) { fixture in
      let answer = try await fixture.call(
        .post, "register?kind=guest",
        #"{"initial_device_display_name":"Look","username":"boss","password":"correct horse","device_id":"MINE"}"#)
      try await body(fixture, try fixture.user(answer))
    }
  }

  @Test func `a guest gets a name and a device of the server's choice`() async throws {
    try await Self.run { fixture, guest in
      #expect(guest.userID.string != "@boss:example.org" && guest.deviceID.string != "MINE")
      let who = try await fixture.call(.get, "account/whoami", as: guest)
      #expect(who.json["is_guest"]?.bool == true)
      #expect(try await fixture.call(.get, "devices/\(guest.deviceID)", as: guest).json["display_name"]?.string == "Look")
      let localpart = guest.userID.string.dropFirst().prefix { $0 != ":" }
      #expect(try await fixture.logIn(String(localpart)).status == 403)
      let second = try await fixture.call(.post, "register?kind=guest", "")
      #expect(try fixture.user(second).userID != guest.userID)
    }
  }

  @Test func `a guest may call what the standard lists and nothing else`() async throws {
    try await Self.run { fixture, guest in
      let own = "profile/\(guest.userID)/"
      let allowed: [(HTTPMethod, String, String?)] = [
        (.get, "sync", nil), (.get, "devices", nil), (.post, "keys/query", #"{"device_keys":{}}"#),
        (.put, own + "displayname", #"{"displayname":"G"}"#), (.delete, own + "displayname", nil),
        (.put, "devices/\(guest.deviceID)", "{}")
      ]
      for (method, path, body) in allowed {
        #expect(try await fixture.call(method, path, as: guest, body).status == 200, "\(path)")
      }
      let password = try await fixture.call(.post, "account/password", as: guest, #"{"new_password":"correct horse"}"#)
      #expect(password.errorCode == "M_GUEST_ACCESS_FORBIDDEN")
      let refused: [(HTTPMethod, String, String?)] = [
        (.post, "createRoom", "{}"), (.get, "capabilities", nil), (.get, "joined_rooms", nil), (.get, "pushrules/", nil),
        (.post, "user_directory/search", #"{"search_term":"a"}"#), (.put, own + "avatar_url", #"{"avatar_url":""}"#),
        (.delete, own + "m.tz", nil), (.post, "user/\(guest.userID)/openid/request_token", "{}")
      ]
      for (method, path, body) in refused {
        let answer = try await fixture.call(method, path, as: guest, body)
        #expect(answer.status == 403 && answer.errorCode == "M_GUEST_ACCESS_FORBIDDEN", "\(path)")
      }
    }
  }

  @Test func `a guest joins a room that admits guests, on either path`() async throws {
    try await Self.run { fixture, guest in
      let ann = try await fixture.register("ann")
      for path in ["join/", "rooms/"] {
        let room = try await fixture.call(
          .post, "createRoom", as: ann,
          #"{"preset":"public_chat","initial_state":[{"type":"m.room.guest_access","content":{"guest_access":"can_join"}}]}"#)
        let roomID = PercentEncoding.encode(try #require(room.json["room_id"]?.text))
        let rest = path == "rooms/" ? "/join" : ""
        #expect(try await fixture.call(.post, "\(path)\(roomID)\(rest)", as: guest, "{}").status == 200, "\(path)")
      }
    }
  }

  @Test func `a guest becomes a user, keeps the ID, and then may do what users may`() async throws {
    try await Self.run { fixture, guest in
      let name = String(guest.userID.string.dropFirst().prefix { $0 != ":" })
      func body(_ name: String?, token: String) -> String {
        let username = name.map { #""username":"\#($0)","# } ?? ""
        return
          #"{\#(username)"password":"correct horse","guest_access_token":"\#(token)","auth":{"type":"m.login.dummy"}}"#
      }
      let ann = try await fixture.register("ann")
      #expect(try await fixture.call(.post, "register", body(nil, token: guest.token)).errorCode == "M_MISSING_PARAM")
      #expect(try await fixture.call(.post, "register", body("other", token: guest.token)).errorCode == "M_FORBIDDEN")
      #expect(try await fixture.call(.post, "register", body("ann", token: ann.token)).errorCode == "M_FORBIDDEN")
      #expect(try await fixture.call(.post, "register", body(name, token: "x")).errorCode == "M_FORBIDDEN")
      #expect(
        try await fixture.call(
          .post, "register", #"{"username":"\#(name)","password":"correct horse","auth":{"type":"m.login.dummy"}}"#
        ).errorCode == "M_USER_IN_USE")
      let user = try fixture.user(try await fixture.call(.post, "register", body(name, token: guest.token)))
      #expect(user.userID == guest.userID)
      #expect(try await fixture.call(.get, "account/whoami", as: user).json["is_guest"]?.bool == false)
      #expect(try await fixture.call(.get, "capabilities", as: guest).status == 200)
      #expect(try await fixture.logIn(name).status == 200)
      #expect(try await fixture.call(.post, "register", body(name, token: guest.token)).errorCode == "M_FORBIDDEN")
    }
  }

  @Test func `of upgrades at once, one makes the user`() async throws {
    try await Self.run { fixture, guest in
      let name = String(guest.userID.string.dropFirst().prefix { $0 != ":" })
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<4 {
          group.addTask {
            try await fixture.call(
              .post, "register",
              #"{"username":"\#(name)","password":"password \#(number)","guest_access_token":"\#(guest.token)","auth":{"type":"m.login.dummy"}}"#
            ).status
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.count { $0 == 200 } == 1)
    }
  }
}
