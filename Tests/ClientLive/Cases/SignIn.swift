import MatrixClient

/// Accounts and ways into them.
extension LiveCase {
  static let signIn = [
    LiveCase("A7 who registers is signed in, and the server knows the token") { stage in
      let name = stage.fresh("new")
      let client = await stage.keep(
        try await MatrixClient.register(at: stage.homeserver, username: name, password: Stage.password))
      try expect(await client.sessionState, is: .signedIn)
      let owner = try await client.whoAmI()
      try expect(owner.userID.localpart.string, is: name)
      try expect(owner.userID, is: try await client.ownID)
      try expect(owner.deviceID, is: await client.session?.deviceID)
      try expect(!owner.isGuest, "no guest")
    },
    LiveCase("A7 a name that is taken cannot be registered") { stage in
      let name = try await stage.user("taken").ownID.localpart.string
      try await expectRefusal("M_USER_IN_USE") {
        _ = try await MatrixClient.register(at: stage.homeserver, username: name, password: Stage.password)
      }
    },
    LiveCase("A7 a name that no user ID can have is refused") { stage in
      try await expectRefusal("M_INVALID_USERNAME") {
        _ = try await MatrixClient.register(
          at: stage.homeserver, username: "no spaces, please", password: Stage.password)
      }
    },
    LiveCase("A2 a password login gives a token and a device of its own") { stage in
      let first = try await stage.user("alice")
      let second = try await stage.device(of: first)
      let one = try unwrap(await first.session, "session")
      let two = try unwrap(await second.session, "session")
      try expect(one.userID, is: two.userID)
      try expect(one.deviceID != two.deviceID, "two devices")
      try expect(one.accessToken != two.accessToken, "two tokens")
    },
    LiveCase("A2 the localpart does for a user ID") { stage in
      let user = try await stage.user("alice").ownID
      let client = try await MatrixClient.logIn(
        to: stage.homeserver, user: user.localpart.string, password: Stage.password)
      await stage.keep(client)
      try expect(await client.userID, is: user)
    },
    LiveCase("A2 a device can be named, and gone on with under its ID") { stage in
      let first = try await stage.user("alice")
      let login = Login.password(ByteString(Stage.password), user: .user(try await first.ownID.text))
      let client = try await MatrixClient.logIn(
        to: stage.homeserver, with: login, deviceID: DeviceID("OFMYCHOICE"), deviceDisplayName: "Live suite")
      await stage.keep(client)
      try expect(try await client.device(DeviceID(trusted: "OFMYCHOICE")).name, is: "Live suite")
    },
    LiveCase("A2 a wrong password is refused with M_FORBIDDEN and its words") { stage in
      let user = try await stage.user("alice").ownID
      let message = try await expectRefusal("M_FORBIDDEN") {
        _ = try await MatrixClient.logIn(to: stage.homeserver, user: user.string, password: "wrong")
      }
      try expect(!message.isEmpty, "the server's words")
    },
    LiveCase("A2 a user that is not there is refused like a wrong password") { stage in
      try await expectRefusal("M_FORBIDDEN") {
        _ = try await MatrixClient.logIn(to: stage.homeserver, user: stage.fresh("nobody"), password: Stage.password)
      }
    },
    LiveCase("A3 a login token signs another device in once, and is refused then", needs: .loginTokens) { stage in
      let first = try await stage.user("alice")
      let user = try await first.ownID.string
      let token = try await first.loginToken(by: .password(Stage.password, user: user)).token
      let second = try await MatrixClient.logIn(to: stage.homeserver, with: .token(token))
      await stage.keep(second)
      try expect(await second.userID, is: await first.userID)
      try await expectRefusal("M_FORBIDDEN") {
        _ = try await MatrixClient.logIn(to: stage.homeserver, with: .token(token))
      }
    }
  ]
}
