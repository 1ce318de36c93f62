import JSON
import MatrixModel
import ServerAccounts
import Testing

@Suite struct DeviceTests {
  @Test func `devices are listed, renamed and deleted with the password`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let second = try fixture.user(await fixture.logIn("ann", more: #","device_id":"B""#))
      #expect(try await fixture.call(.put, "devices/B", as: ann, #"{"display_name":"Tablet"}"#).status == 200)
      let tablet = try await fixture.call(.get, "devices/B", as: ann)
      #expect(tablet.json["display_name"]?.string == "Tablet")
      #expect(tablet.json["last_seen_ts"]?.integer == 1_700_000_000_000)
      #expect(try await fixture.call(.put, "devices/B", as: ann, "{}").status == 200)
      #expect(try await fixture.call(.get, "devices/B", as: ann).json["display_name"]?.string == "Tablet")
      for (method, path) in [(HTTPMethod.get, "devices/C"), (.put, "devices/C")] {
        let unknown = try await fixture.call(method, path, as: ann, "{}")
        #expect(unknown.errorCode == "M_NOT_FOUND")
      }
      let auth = APIFixture.passwordAuth("ann")
      let deleted = try await fixture.call(.post, "delete_devices", as: ann, #"{"devices":["B","C"],"auth":\#(auth)}"#)
      #expect(deleted.status == 200)
      #expect(try await fixture.call(.get, "account/whoami", as: second).errorCode == "M_UNKNOWN_TOKEN")
      #expect(try await fixture.call(.get, "devices", as: ann).json["devices"]?.count == 1)
    }
  }

  @Test func `nobody sees or deletes another user's device`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let path = "devices/\(ann.deviceID)"
      #expect(try await fixture.call(.get, path, as: bob).errorCode == "M_NOT_FOUND")
      let auth = APIFixture.passwordAuth("bob")
      #expect(try await fixture.call(.delete, path, as: bob, #"{"auth":\#(auth)}"#).status == 200)
      #expect(try await fixture.call(.get, "account/whoami", as: ann).status == 200)
    }
  }

  @Test(arguments: [(256, nil), (257, "M_INVALID_PARAM")]) func `a device's name has at most 256 bytes`(
    count: Int, code: String?
  )
    async throws
  {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let name = String(repeating: "x", count: count)
      let answer = try await fixture.call(.put, "devices/\(ann.deviceID)", as: ann, #"{"display_name":"\#(name)"}"#)
      #expect(answer.errorCode == code)
    }
  }

  @Test func `a device is seen at most every five minutes`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let start: Int64 = 1_700_000_000_000
      for (advance, seen) in [(299_999, start), (1, start + 300_000)] {
        fixture.advance(milliseconds: Int64(advance))
        let device = try await fixture.call(.get, "devices/\(ann.deviceID)", as: ann)
        #expect(device.json["last_seen_ts"]?.integer == seen)
      }
    }
  }

  @Test func `a message to a device arrives once, in order, until it is acknowledged`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      let other = try fixture.user(await fixture.logIn("bob", more: #","device_id":"OTHER""#))
      func send(_ transaction: String, _ device: String, _ number: Int) async throws -> APIFixture.Answer {
        try await fixture.call(
          .put, "sendToDevice/m.test/\(transaction)", as: ann,
          #"{"messages":{"@bob:example.org":{"\#(device)":{"n":\#(number)}},"@nobody:example.org":{"*":{}}}}"#)
      }
      #expect(try await send("1", bob.deviceID.string, 1).status == 200)
      #expect(try await send("2", "*", 2).status == 200)
      #expect(try await send("2", "*", 2).status == 200)
      #expect(try await send("3", "UNKNOWN", 3).status == 200)
      func waiting(_ user: APIFixture.User, limit: Int = 100) async throws -> (
        messages: [ToDeviceMessages.Message], isLimited: Bool
      ) {
        try await fixture.homeserver.database.read { tx in
          try ToDeviceMessages.messages(tx, for: user.userID, user.deviceID, after: 0, upTo: .max, limit: limit)
        }
      }
      let messages = try await waiting(bob).messages
      #expect(messages.map { String(decoding: $0.content, as: UTF8.self) } == [#"{"n":1}"#, #"{"n":2}"#])
      #expect(messages.allSatisfy { $0.sender == ann.userID && $0.type == "m.test" })
      #expect(try await waiting(bob, limit: 1).isLimited)
      #expect(try await waiting(bob, limit: 2).isLimited == false)
      #expect(try await waiting(other).messages.count == 1)

      try await fixture.homeserver.toDeviceMessages.acknowledge(
        for: bob.userID, bob.deviceID, upTo: messages[0].position)
      #expect(try await waiting(bob).messages.map(\.position) == [messages[1].position])
      #expect(try await waiting(other).messages.count == 1)
    }
  }

  @Test(arguments: [
    "{}", #"{"messages":[]}"#, #"{"messages":{"@bob:example.org":7}}"#, #"{"messages":{"@bob:example.org":{"*":7}}}"#
  ])
  func `what is no map of messages is refused`(body: String) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let answer = try await fixture.call(.put, "sendToDevice/m.test/1", as: ann, body)
      #expect(answer.status == 400)
    }
  }

  @Test func `what an application service names is made where there is no such device`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let (devices, sessions) = (fixture.homeserver.devices, fixture.homeserver.sessions)
      let deviceID = DeviceID(trusted: "BRIDGE")
      #expect(try await devices.put(deviceID, of: ann.userID, named: "one", sessions))
      #expect(try await !devices.put(deviceID, of: ann.userID, named: "two", sessions))
      let device = try await fixture.call(.get, "devices/BRIDGE", as: ann)
      #expect(device.json["display_name"]?.string == "two")
      // Who is a person makes none.
      #expect(try await fixture.call(.put, "devices/OTHER", as: ann, "{}").errorCode == "M_NOT_FOUND")
    }
  }
}
