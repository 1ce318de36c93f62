import JSON
import MatrixModel
import ServerAccounts
import Testing

@Suite struct DehydratedDeviceTests {
  private static let path = "/_matrix/client/unstable/org.matrix.msc3814.v1/dehydrated_device"

  private static func body(_ user: APIFixture.User, _ deviceID: String = "SLEEPER", of owner: String? = nil) -> String {
    let owner = owner ?? user.userID.string
    return #"""
      {"device_id":"\#(deviceID)","initial_device_display_name":"Asleep",
      "device_data":{"algorithm":"m.dehydration.v2","account": "secret"},
      "device_keys":{"user_id":"\#(owner)","device_id":"\#(deviceID)","algorithms":["a"],"dehydrated":true,
        "keys":{"ed25519:\#(deviceID)":"abc"},"signatures":{}},
      "one_time_keys":{"curve:A":"one"},"fallback_keys":{"curve:F":{"key":"f","fallback":true,"signatures":{}}}}
      """#
  }

  @Test func `a server says that it knows dehydrated devices`() async throws {
    try await APIFixture.run { fixture in
      let versions = try await fixture.call(.get, "/_matrix/client/versions")
      #expect(versions.json["unstable_features"]?["org.matrix.msc3814"]?.bool == true)
    }
  }

  @Test func `a dehydrated device is read back and seen by others as a device`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      #expect(try await fixture.call(.get, Self.path, as: ann).errorCode == "M_NOT_FOUND")
      #expect(try await fixture.call(.delete, Self.path, as: ann).errorCode == "M_NOT_FOUND")
      let put = try await fixture.call(.put, Self.path, as: ann, Self.body(ann))
      #expect(put.status == 200 && put.json["device_id"]?.string == "SLEEPER")
      let got = try await fixture.call(.get, Self.path, as: ann)
      #expect(got.json["device_id"]?.string == "SLEEPER")
      #expect(got.json["device_data"]?["account"]?.string == "secret")
      let query = try await fixture.call(.post, "keys/query", as: bob, #"{"device_keys":{"@ann:example.org":[]}}"#)
      let device = query.json["device_keys"]?["@ann:example.org"]?["SLEEPER"]
      #expect(device?["dehydrated"]?.bool == true)
      #expect(device?["unsigned"]?["device_display_name"]?.string == "Asleep")
      for expected in ["curve:A", "curve:F"] {
        let claim = try await fixture.call(
          .post, "keys/claim", as: bob, #"{"one_time_keys":{"@ann:example.org":{"SLEEPER":"curve"}}}"#)
        let keys = claim.json["one_time_keys"]?["@ann:example.org"]?["SLEEPER"]
        #expect(keys?[ByteString(expected)] != nil)
      }
      #expect(try await fixture.call(.get, Self.path, as: bob).errorCode == "M_NOT_FOUND")
    }
  }

  @Test func `keys of another user or device, and the ID of another device, are refused`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      for body in [Self.body(ann, of: "@bob:example.org"), Self.body(ann, ann.deviceID.string)] {
        #expect(try await fixture.call(.put, Self.path, as: ann, body).errorCode == "M_INVALID_PARAM")
      }
      #expect(try await fixture.call(.put, Self.path, as: ann, #"{"device_id":"A"}"#).errorCode == "M_MISSING_PARAM")
      #expect(try await fixture.call(.get, "account/whoami", as: ann).status == 200)
      _ = try await fixture.call(.put, Self.path, as: ann, Self.body(ann))
      let logIn = try await fixture.logIn("ann", more: #","device_id":"SLEEPER""#)
      #expect(logIn.status == 403)
    }
  }

  @Test func `its messages are read in pages, as often as somebody likes`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      _ = try await fixture.call(.put, Self.path, as: ann, Self.body(ann))
      for number in 0...ToDeviceMessages.pageLimit {
        let body = #"{"messages":{"@ann:example.org":{"SLEEPER":{"n":\#(number)}}}}"#
        #expect(try await fixture.call(.put, "sendToDevice/t/\(number)", as: bob, body).status == 200)
      }
      let events = Self.path + "/SLEEPER/events"
      for _ in 0..<2 {
        var numbers: [Int64] = []
        var next: String?
        while true {
          let body = next.map { #"{"next_batch":"\#($0)"}"# } ?? "{}"
          let page = try await fixture.call(.post, events, as: ann, body)
          #expect(page.status == 200)
          let found = page.json["events"]?.elements.compactMap { $0["content"]?["n"]?.integer } ?? []
          #expect(page.json["events"]?.elements.allSatisfy { $0["sender"]?.string == "@bob:example.org" } == true)
          next = page.json["next_batch"]?.string
          if found.isEmpty { break }
          numbers += found
        }
        #expect(numbers == Array(0...Int64(ToDeviceMessages.pageLimit)))
      }
      let wrong = try await fixture.call(.post, events, as: ann, #"{"next_batch":"s1"}"#)
      #expect(wrong.errorCode == "M_INVALID_PARAM")
      #expect(try await fixture.call(.post, Self.path + "/OTHER/events", as: ann, "{}").errorCode == "M_NOT_FOUND")
      #expect(try await fixture.call(.post, events, as: bob, "{}").errorCode == "M_NOT_FOUND")
    }
  }

  @Test func `a new one takes the place of the old with all that was its`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      _ = try await fixture.call(.put, Self.path, as: ann, Self.body(ann))
      _ = try await fixture.call(
        .put, "sendToDevice/t/1", as: ann, #"{"messages":{"@ann:example.org":{"SLEEPER":{}}}}"#)
      for name in ["SLEEPER", "OTHER"] {
        #expect(try await fixture.call(.put, Self.path, as: ann, Self.body(ann, name)).status == 200)
        #expect(try await fixture.call(.get, Self.path, as: ann).json["device_id"]?.string == name)
        let events = try await fixture.call(.post, Self.path + "/\(name)/events", as: ann, "{}")
        #expect(events.json["events"]?.count == 0)
        let names = try await fixture.call(.get, "devices", as: ann).json["devices"]?.elements
          .compactMap { $0["device_id"]?.string }
        #expect(names.map(Set.init) == [ann.deviceID.string, name])
      }
      let deleted = try await fixture.call(.delete, Self.path, as: ann)
      #expect(deleted.status == 200 && deleted.json["device_id"]?.string == "OTHER")
      #expect(try await fixture.call(.get, Self.path, as: ann).errorCode == "M_NOT_FOUND")
      let query = try await fixture.call(.post, "keys/query", as: ann, #"{"device_keys":{"@ann:example.org":[]}}"#)
      #expect(query.json["device_keys"]?["@ann:example.org"]?.count == 0)
    }
  }

  @Test func `it outlives logging out everywhere, and goes where it is deleted as a device`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      _ = try await fixture.call(.put, Self.path, as: ann, Self.body(ann))
      #expect(try await fixture.call(.post, "logout/all", as: ann, "{}").status == 200)
      let back = try fixture.user(await fixture.logIn("ann"))
      #expect(try await fixture.call(.get, Self.path, as: back).json["device_id"]?.string == "SLEEPER")
      let auth = #"{"auth":\#(APIFixture.passwordAuth("ann"))}"#
      #expect(try await fixture.call(.delete, "devices/SLEEPER", as: back, auth).status == 200)
      #expect(try await fixture.call(.get, Self.path, as: back).errorCode == "M_NOT_FOUND")
    }
  }
}
