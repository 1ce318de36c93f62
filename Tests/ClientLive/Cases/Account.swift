import MatrixClient

/// The account itself and its devices.
extension LiveCase {
  static let account = [
    LiveCase("A9 a changed password is the one that counts, and other devices are signed out") { stage in
      let client = try await stage.user("alice")
      let other = try await stage.device(of: client)
      let user = try await client.ownID.string
      try await client.changePassword("another horse", by: .password(Stage.password, user: user))
      _ = try await other.until("the other device is signed out") { client in
        client.sessionState == .signedIn ? nil : true
      }
      try await expectRefusal("M_FORBIDDEN") { _ = try await stage.device(of: client) }
      _ = try await stage.device(of: client, password: "another horse")
      try expect(await client.sessionState, is: .signedIn)
    },
    LiveCase("A9 a password change that keeps other devices does so") { stage in
      let client = try await stage.user("alice")
      let other = try await stage.device(of: client)
      let user = try await client.ownID.string
      try await client.changePassword(
        "another horse", logsOutOthers: false, by: .password(Stage.password, user: user))
      try expect(try await other.whoAmI().userID.string, is: user)
    },
    LiveCase("A9 a password change wants the old password") { stage in
      let client = try await stage.user("alice")
      do { try await client.changePassword("another horse") } catch ClientError.authenticationNeeded(let needed) {
        return try expect(needed.nextStages.contains("m.login.password"), "the stage m.login.password")
      }
      throw Failure("it was done")
    },
    LiveCase("A9 an account that is deactivated is gone with its tokens") { stage in
      let client = try await stage.user("alice")
      let session = try unwrap(await client.session, "session")
      let user = session.userID.string
      try await client.deactivateAccount(by: .password(Stage.password, user: user))
      try expect(await client.sessionState, is: .signedOut)
      try await expectDead(session, stage)
      try await expectRefusal("M_FORBIDDEN", "M_USER_DEACTIVATED") {
        _ = try await MatrixClient.logIn(to: stage.homeserver, user: user, password: Stage.password)
      }
    },
    LiveCase("A10 a new account has no e-mail address or phone number") { stage in
      try expect(try await stage.user("alice").thirdPartyIDs(), is: [])
    },
    LiveCase("A11 an OpenID token names the server and its lifetime in seconds") { stage in
      let client = try await stage.user("alice")
      let token = try await client.openIDToken()
      try expect(token.serverName, is: try await client.ownID.serverName)
      try expect(token.lifetimeSeconds > 0 && !token.accessToken.isEmpty, "\(token.lifetimeSeconds) s")
    },
    LiveCase("A12 the devices of an account are listed, and renamed") { stage in
      let client = try await stage.user("alice")
      let other = try unwrap(await stage.device(of: client).session, "session").deviceID
      try await client.renameDevice(other, "Kitchen")
      let devices = try await client.devices()
      try expect(devices.count, is: 2)
      try expect(devices.first { $0.id == other }?.name, is: "Kitchen")
      try expect(try await client.device(other).name, is: "Kitchen")
    },
    LiveCase("A12 a device that is not there is M_NOT_FOUND") { stage in
      let client = try await stage.user("alice")
      try await expectRefusal("M_NOT_FOUND") { _ = try await client.device(DeviceID(trusted: "NOWHERE")) }
    },
    LiveCase("A12 a deleted device is signed out") { stage in
      let client = try await stage.user("alice")
      let other = try await stage.device(of: client)
      let session = try unwrap(await other.session, "session")
      let user = session.userID.string
      try await client.deleteDevice(session.deviceID, by: .password(Stage.password, user: user))
      _ = try await other.until("it is signed out") { client in client.sessionState == .signedIn ? nil : true }
      try expect(try await client.devices().count, is: 1)
      try await expectDead(session, stage)
    },
    LiveCase("A12 devices are deleted together, and not with a wrong password") { stage in
      let client = try await stage.user("alice")
      var others: [DeviceID] = []
      for _ in 0..<2 { others.append(try unwrap(await stage.device(of: client).session, "session").deviceID) }
      let user = try await client.ownID.string
      do {
        try await client.deleteDevices(others, by: .password("wrong", user: user))
        throw Failure("deleted with a wrong password")
      } catch ClientError.authenticationNeeded(let needed) {
        try expect(needed.refusal?.code, is: "M_FORBIDDEN")
      }
      try expect(try await client.devices().count, is: 3)
      try await client.deleteDevices(others, by: .password(Stage.password, user: user))
      try expect(try await client.devices().count, is: 1)
    },
    LiveCase("R12 account data comes back on another device") { stage in
      let client = try await stage.user("alice")
      let other = try await stage.device(of: client)
      try await client.setAccountData("org.example.test", Array(#"{"a":[1,{"b":null}]}"#.utf8))
      let content = try await other.accountData("org.example.test")
      try expect(String(decoding: content.bytes, as: UTF8.self), is: #"{"a":[1,{"b":null}]}"#)
      try await expectRefusal("M_NOT_FOUND") { _ = try await other.accountData("org.example.none") }
    },
    LiveCase("A12 a device says what program it runs, once") { stage in
      let client = try await stage.user("alice")
      try await client.setClientInformation(ClientInformation(name: "Live", version: "1"))
      let type = EventType(
        trusted: ByteString("io.element.matrix_client_information." + (await client.session?.deviceID.string ?? "")))
      try expect(try await client.accountData(type)["name"]?.string, is: "Live")
    },
    LiveCase("S3 a filter is kept by the server") { stage in
      let client = try await stage.user("alice")
      let id = try await client.createFilter(Array(#"{"room":{"timeline":{"limit":7}}}"#.utf8))
      try expect(try await client.filter(id)["room"]?["timeline"]?["limit"]?.integer, is: 7)
    }
  ]
}
