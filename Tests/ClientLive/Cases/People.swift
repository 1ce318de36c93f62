import MatrixClient

/// Names, pictures and presence.
extension LiveCase {
  static let people = [
    LiveCase("U1 a new name shows in the profile, in rooms, and to the user") { stage in
      let (alice, bob) = try await stage.pair()
      try await alice.client.setDisplayName("Alice Anew")
      let user = try await alice.client.ownID
      try expect(try await bob.client.profile(of: user).displayName, is: "Alice Anew")
      try await bob.loadMembers()
      try await bob.until("her new name") { $0.displayName(of: user) == "Alice Anew" }
      try await alice.until("her new name") { $0.displayName(of: user) == "Alice Anew" }
    },
    LiveCase("U1 a picture is uploaded and named in the profile") { stage in
      let alice = try await stage.user("alice")
      let path = try stage.folder.file("face.png", Picture.png)
      try await alice.setAvatar(path: path, mimeType: "image/png")
      let profile = try await alice.profile(of: try await alice.ownID)
      try expect(profile.avatar?.serverName, is: try await alice.ownID.serverName)
    },
    LiveCase("U1 a profile has further fields, and loses them again", needs: .profileField("m.tz")) { stage in
      let alice = try await stage.user("alice")
      let user = try await alice.ownID
      try await alice.setProfileField("m.tz", Array(#""Europe/Berlin""#.utf8))
      try expect(try await alice.profile(of: user).timeZone, is: "Europe/Berlin")
      try await alice.setProfileField("m.tz", nil)
      try expect(try await alice.profile(of: user).timeZone, is: nil)
    },
    LiveCase("U2 a user that is not there has no profile") { stage in
      let alice = try await stage.user("alice")
      let nobody = try unwrap(UserID("@\(stage.fresh("nobody")):\(try await alice.ownID.serverName)"), "user ID")
      // Synapse answers 404 without that code.
      try await expectRefusal("M_NOT_FOUND", "M_UNKNOWN") { _ = try await alice.profile(of: nobody) }
    },
    LiveCase("U2 a user is found by name among those one shares a room with") { stage in
      let (alice, bob) = try await stage.pair()
      let name = stage.fresh("Robert")
      try await bob.client.setDisplayName(name)
      let user = try await bob.client.ownID
      try await alice.loadMembers()
      try await alice.until("his name") { $0.displayName(of: user) == ByteString(name) }
      // A directory of users may be filled later than the room.
      var found = try await alice.client.searchUsers(name)
      while found.users.isEmpty {
        try await Task.sleep(for: .milliseconds(100))
        // Synapse goes on with its directory when something happens.
        try await alice.send("Are you there?")
        found = try await alice.client.searchUsers(name)
      }
      try expect(found.users.map(\.id), is: [user])
      try expect(!found.isLimited, "all that there are")
    },
    // Proves J48
    LiveCase("J48 all users come in pages of one moment", needs: .extensions(.paging)) { stage in
      // Names of this case alone: others come and go meanwhile.
      let name = stage.fresh("crowd")
      let alice = try await stage.user(name)
      let bob = try await stage.user(name)
      let cyn = try await stage.user(name)
      let first = try await alice.users(matching: name, limit: 2)
      let late = try await stage.user(name)
      let second = try await alice.users(matching: name, limit: 2, from: try unwrap(first.nextBatch, "next page"))
      let found = (first.members + second.members).map(\.userID)
      try expect(found.count, is: 3)
      try expect(Set(found), is: [try await alice.ownID, try await bob.ownID, try await cyn.ownID])
      try expect(second.nextBatch, is: nil)
      let anew = try await alice.users(matching: name).members.map(\.userID)
      try expect(anew.contains(try await late.ownID), "who came between is there in a list that begins after")
    },
    LiveCase("U2 rooms that two users share are found", needs: .version(minor: 19)) { stage in
      let (alice, bob) = try await stage.pair()
      try expect(try await alice.client.mutualRooms(with: try await bob.client.ownID).rooms, is: [alice.id])
    },
    LiveCase("U3 presence is told to those in the same room") { stage in
      let (alice, bob) = try await stage.pair()
      try await alice.client.setPresence(.unavailable, message: "At tea")
      let seen = try await bob.client.presence(of: try await alice.client.ownID)
      try expect(seen.message, is: "At tea")
    },
    LiveCase("U3 who wants to know who is there is told so, and loses nothing by it") { stage in
      let (alice, bob) = try await stage.pair(.automatic)
      try await alice.say("Before")
      try await bob.client.perform(.timeline(.openRoom(bob.id)))
      let presences = await bob.client.presences(of: [try await alice.client.ownID])
      try await alice.client.setPresence(.unavailable, message: "At tea")
      for await (_, presence) in presences where presence.message == "At tea" { break }
      try await alice.say("After")
      await bob.client.observePresence(false)
      try await alice.say("Later")
      _ = try await bob.item(saying: "Later")
      let texts = try unwrap(await bob.state, "room").timeline.items.compactMap(\.text)
      try expect(texts, is: ["Before", "After", "Later"])
    }
  ]
}

/// A picture of one pixel.
enum Picture {
  static let png: [UInt8] = [
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x06, 0x00, 0x00, 0x00, 0x1f, 0x15, 0xc4, 0x89, 0x00, 0x00, 0x00, 0x0d, 0x49,
    0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x64, 0x60, 0xf8, 0xff, 0x1f, 0x00, 0x03, 0x03, 0x02, 0x00, 0xef, 0xbf, 0xa7,
    0xdb, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82
  ]
}
