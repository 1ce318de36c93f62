import MatrixClient

/// What a server tells anybody.
extension LiveCase {
  static let discovery = [
    LiveCase("A1 a URL is checked by asking what the server speaks") { stage in
      let found = try await Homeserver(stage.homeserver).discover()
      try expect(found.url.string, is: stage.homeserver)
      try expect(found.versions.supports(major: 1, minor: 1), "v1.1 or newer")
    },
    LiveCase("A1 an address without a homeserver is a typed error") { _ in
      do { _ = try await Homeserver("http://127.0.0.1:1").discover() } catch ClientError.noHomeserver(let error) {
        return try expect(error, is: .failError(.noAnswer))
      }
      throw Failure("something was found")
    },
    LiveCase("A1 what is no address is not asked for") { _ in
      do { _ = try await Homeserver("not a server").discover() } catch ClientError.noHomeserver(let error) {
        return try expect(error, is: .invalidAddress)
      }
      throw Failure("something was found")
    },
    LiveCase("A1 the capabilities name the room versions and the default among them") { stage in
      let capabilities = stage.announced.capabilities
      let version = capabilities.roomVersions.first { $0.version == capabilities.defaultRoomVersion }
      try expect(version?.isStable == true, "the default version is a stable one")
    },
    LiveCase("A2 the login flows have the password among them") { stage in
      try expect(try await Homeserver(stage.homeserver).loginFlows().allowsPassword, "m.login.password")
    },
    LiveCase("A7 a free user name is available, a taken one is refused with the reason") { stage in
      let server = Homeserver(stage.homeserver)
      try expect(try await server.isUsernameAvailable(stage.fresh("free")), "it is available")
      let user = try await stage.user("taken").ownID
      try await expectRefusal("M_USER_IN_USE") {
        _ = try await server.isUsernameAvailable(user.localpart.string)
      }
    },
    LiveCase("R14 the published rooms are shown without an account") { stage in
      let alice = try await stage.user("alice")
      let room = try await alice.make(NewRoom(preset: .publicChat, name: "Seen by all"))
      try await room.setPublished(true)
      let rooms = try await Homeserver(stage.homeserver).publicRooms(limit: 1_000).rooms
      let found = try unwrap(rooms.first { $0.id == room.id }, "room in the directory")
      try expect(found.name, is: "Seen by all")
      try expect(found.memberCount, is: 1)
    },
    LiveCase("U2 a profile is shown without an account") { stage in
      let alice = try await stage.user("alice")
      try await alice.setDisplayName("Alice in public")
      let profile = try await Homeserver(stage.homeserver).profile(of: try await alice.ownID)
      try expect(profile.displayName, is: "Alice in public")
    }
  ]
}
