import JSON
import ServerAccounts
import Testing

@Suite struct SessionTests {
  @Test func `a token is asked for and must be known`() async throws {
    try await APIFixture.run { fixture in
      let missing = try await fixture.call(.get, "account/whoami")
      #expect(missing.status == 401)
      #expect(missing.errorCode == "M_MISSING_TOKEN")
      let wrong = try await fixture.call(.get, "account/whoami", token: "mlt_wrong")
      #expect(wrong.status == 401)
      #expect(wrong.errorCode == "M_UNKNOWN_TOKEN")
      #expect(wrong.json["soft_logout"]?.bool == false)
    }
  }

  @Test func `a login says where the server is, if that is set`() async throws {
    for base in [nil, "https://chat.example.org"] {
      try await APIFixture.run(configure: {
        $0.registration = .open
        $0.identity.publicBaseURL = base
      }) { fixture in
        _ = try await fixture.register("ann")
        let login = try await fixture.logIn("ann")
        #expect(login.json["well_known"]?["m.homeserver"]?["base_url"]?.string == base)
      }
    }
  }

  @Test func `the token may stand in the query, and the scheme has no case`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      #expect(try await fixture.call(.get, "account/whoami?access_token=\(ann.token)").status == 200)
      let header = try await fixture.call(.get, "account/whoami", headers: [("authorization", "bearer " + ann.token)])
      #expect(header.status == 200)
      let basic = try await fixture.call(.get, "account/whoami", headers: [("Authorization", "Basic " + ann.token)])
      #expect(basic.errorCode == "M_MISSING_TOKEN")
    }
  }

  @Test func `the database holds no token`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let hashes = try await fixture.homeserver.database.read { tx in
        try tx.all("SELECT hash FROM access_token") { $0.blob(0) }
      }
      #expect(hashes == [AccessTokenHash(of: Array(ann.token.utf8)[...]).bytes])
    }
  }

  @Test func `logging in by localpart or user ID makes a device, and a known device gets a new token`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let second = try fixture.user(
        await fixture.logIn("@ann:example.org", more: #","device_id":"B","initial_device_display_name":"Two""#))
      #expect(second.deviceID.string == "B")
      let third = try fixture.user(
        await fixture.logIn("ann", more: #","device_id":"B","initial_device_display_name":"Other""#))
      #expect(try await fixture.call(.get, "account/whoami", as: second).errorCode == "M_UNKNOWN_TOKEN")
      let device = try await fixture.call(.get, "devices/B", as: third)
      #expect(device.json["display_name"]?.string == "Two")
      #expect(try await fixture.call(.get, "devices", as: ann).json["devices"]?.count == 2)
    }
  }

  @Test(arguments: [("ann", "wrong horse"), ("nobody", "correct horse"), ("@ann:elsewhere.org", "correct horse")])
  func `a wrong name and a wrong password get the same answer`(name: String, password: String) async throws {
    try await APIFixture.run { fixture in
      _ = try await fixture.register("ann")
      let answer = try await fixture.logIn(name, password: password)
      #expect(answer.status == 403)
      #expect(answer.errorCode == "M_FORBIDDEN")
      #expect(answer.json["error"]?.string == "The user name or the password is wrong.")
    }
  }

  @Test func `the deprecated user parameter logs in; other types do not`() async throws {
    try await APIFixture.run { fixture in
      _ = try await fixture.register("ann")
      let old = try await fixture.call(
        .post, "login", #"{"type":"m.login.password","user":"ann","password":"correct horse"}"#)
      #expect(old.status == 200)
      let sso = try await fixture.call(.post, "login", #"{"type":"m.login.sso"}"#)
      #expect(sso.status == 400)
      #expect(sso.errorCode == "M_UNKNOWN")
      let missing = try await fixture.call(.post, "login", #"{"type":"m.login.password","user":"ann"}"#)
      #expect(missing.errorCode == "M_MISSING_PARAM")
    }
  }

  @Test func `logging out ends one session, logging out everywhere all of them`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let second = try fixture.user(await fixture.logIn("ann"))
      let third = try fixture.user(await fixture.logIn("ann"))
      #expect(try await fixture.call(.post, "logout", as: second).status == 200)
      #expect(try await fixture.call(.get, "account/whoami", as: second).errorCode == "M_UNKNOWN_TOKEN")
      #expect(try await fixture.call(.get, "account/whoami", as: ann).status == 200)
      #expect(try await fixture.call(.post, "logout/all", as: ann, "{}").status == 200)
      for user in [ann, third] {
        #expect(try await fixture.call(.get, "account/whoami", as: user).errorCode == "M_UNKNOWN_TOKEN")
      }
    }
  }

  @Test func `a new password logs the other devices out unless asked not to`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let second = try fixture.user(await fixture.logIn("ann"))
      func change(_ old: String, _ new: String, _ more: String) async throws -> APIFixture.Answer {
        try await fixture.call(
          .post, "account/password", as: ann,
          #"{"new_password":"\#(new)","auth":\#(APIFixture.passwordAuth("ann", old))\#(more)}"#)
      }
      #expect(try await change("wrong horse", "battery staple", "").errorCode == "M_FORBIDDEN")
      #expect(try await change("correct horse", "battery staple", #","logout_devices":false"#).status == 200)
      #expect(try await fixture.call(.get, "account/whoami", as: second).status == 200)
      #expect(try await fixture.logIn("ann").status == 403)
      #expect(try await change("battery staple", "correct horse", "").status == 200)
      #expect(try await fixture.call(.get, "account/whoami", as: second).errorCode == "M_UNKNOWN_TOKEN")
      #expect(try await fixture.call(.get, "account/whoami", as: ann).status == 200)
      #expect(try await change("correct horse", "short", "").errorCode == "M_WEAK_PASSWORD")
    }
  }

  @Test func `a deactivated account cannot come back and keeps its name`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      #expect(try await fixture.call(.post, "account/deactivate", as: ann, "{}").status == 401)
      let done = try await fixture.call(
        .post, "account/deactivate", as: ann, #"{"auth":\#(APIFixture.passwordAuth("ann")),"erase":true}"#)
      #expect(done.status == 200)
      #expect(done.json["id_server_unbind_result"]?.string == "success")
      #expect(try await fixture.call(.get, "account/whoami", as: ann).errorCode == "M_UNKNOWN_TOKEN")
      let login = try await fixture.logIn("ann")
      #expect(login.status == 403)
      #expect(login.errorCode == "M_USER_DEACTIVATED")
      #expect(try await fixture.call(.get, "register/available?username=ann").errorCode == "M_USER_IN_USE")
    }
  }

  @Test func `a session of one operation is of no use for another`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let second = try fixture.user(await fixture.logIn("ann"))
      let challenge = try await fixture.call(.delete, "devices/\(second.deviceID)", as: ann)
      let session = try #require(challenge.json["session"]?.string)
      let auth = APIFixture.passwordAuth("ann", session: session)
      #expect(try await fixture.call(.delete, "devices/\(ann.deviceID)", as: ann, #"{"auth":\#(auth)}"#).status == 403)
      #expect(
        try await fixture.call(.delete, "devices/\(second.deviceID)", as: ann, #"{"auth":\#(auth)}"#).status == 200)
      #expect(try await fixture.call(.get, "account/whoami", as: second).errorCode == "M_UNKNOWN_TOKEN")
    }
  }

  @Test func `another user's password proves nothing`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      _ = try await fixture.register("bob", password: "bobs password")
      let auth = APIFixture.passwordAuth("bob", "bobs password")
      #expect(
        try await fixture.call(.delete, "devices/\(ann.deviceID)", as: ann, #"{"auth":\#(auth)}"#).errorCode
          == "M_FORBIDDEN")
    }
  }
}
