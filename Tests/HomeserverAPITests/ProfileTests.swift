import Homeserver
import JSON
import MatrixModel
import Testing

@Suite struct ProfileTests {
  private static func path(_ user: APIFixture.User, _ field: String = "") -> String {
    "profile/" + PercentEncoding.encode(user.userID.text) + (field.isEmpty ? "" : "/" + field)
  }

  @Test func `fields are set, read by anyone and deleted`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      #expect(try await fixture.call(.get, Self.path(ann)).json["displayname"]?.string == "ann")
      #expect(try await fixture.call(.get, Self.path(ann, "avatar_url")).errorCode == "M_NOT_FOUND")
      let fields = [
        ("displayname", #""Ann""#), ("avatar_url", #""mxc://example.org/abc""#), ("m.tz", #""Europe/Berlin""#),
        ("org.example.x", #"{"a":[1]}"#)
      ]
      for (name, value) in fields {
        #expect(try await fixture.call(.put, Self.path(ann, name), as: ann, #"{"\#(name)":\#(value)}"#).status == 200)
        let answer = try await fixture.call(.get, Self.path(ann, name))
        #expect(answer.json[ByteString(name)]?.bytes.elementsEqual(value.utf8) == true)
      }
      #expect(try await fixture.call(.get, Self.path(ann)).json.count == 4)
      #expect(try await fixture.call(.delete, Self.path(ann, "displayname"), as: ann).status == 200)
      #expect(try await fixture.call(.get, Self.path(ann)).json["displayname"] == nil)
    }
  }

  @Test func `the operator decides which fields users change, and says so`() async throws {
    let settings: [(allowed: [ByteString]?, disallowed: [ByteString])] = [
      (["m.tz"], []), (nil, ["displayname"]), ([], []), (nil, [])
    ]
    for (allowed, disallowed) in settings {
      try await APIFixture.run(
        configure: {
          $0.registration = .open
          $0.profileFields.allowed = allowed
          $0.profileFields.disallowed = disallowed
        }
      ) { fixture in
        let ann = try await fixture.register("ann")
        let capabilities = try await fixture.call(.get, "capabilities", as: ann).json["capabilities"]
        let fields = try #require(capabilities?["m.profile_fields"])
        #expect(fields["enabled"]?.bool == (allowed?.isEmpty != true))
        #expect(fields["allowed"]?.elements.map { $0.text } == allowed)
        #expect(fields["disallowed"]?.elements.map { $0.text } == (disallowed.isEmpty ? nil : disallowed))
        for (name, value) in [("displayname", #""Ann""#), ("m.tz", #""Europe/Berlin""#), ("avatar_url", #""mxc://a/b""#)] {
          let isAllowed = allowed?.contains(ByteString(name)) ?? !disallowed.contains(ByteString(name))
          let put = try await fixture.call(.put, Self.path(ann, name), as: ann, #"{"\#(name)":\#(value)}"#)
          let deleted = try await fixture.call(.delete, Self.path(ann, name), as: ann)
          for answer in [put, deleted] {
            #expect(answer.status == (isAllowed ? 200 : 403) && answer.errorCode == (isAllowed ? nil : "M_FORBIDDEN"))
          }
        }
        let isNameAllowed = allowed?.contains("displayname") ?? !disallowed.contains("displayname")
        #expect(capabilities?["m.set_displayname"]?["enabled"]?.bool == isNameAllowed)
      }
    }
  }

  @Test(arguments: [
    ("displayname", "{}", "M_MISSING_PARAM"), ("displayname", #"{"displayname":7}"#, "M_INVALID_PARAM"),
    ("avatar_url", #"{"avatar_url":"https://x"}"#, "M_INVALID_PARAM"),
    ("Bad%20Name", #"{"Bad Name":1}"#, "M_INVALID_PARAM")
  ]) func `a field that cannot be is refused`(field: String, body: String, code: String) async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let answer = try await fixture.call(.put, Self.path(ann, field), as: ann, body)
      #expect(answer.errorCode == code)
      #expect(answer.status == 400)
    }
  }

  @Test func `a name has 255 bytes and a profile less than 64 KiB`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      for (count, code) in [(255, nil), (256, "M_KEY_TOO_LARGE")] as [(Int, String?)] {
        let name = String(repeating: "x", count: count)
        let answer = try await fixture.call(.put, Self.path(ann, name), as: ann, #"{"\#(name)":1}"#)
        #expect(answer.errorCode == code)
      }
      _ = try await fixture.call(.delete, Self.path(ann, String(repeating: "x", count: 255)), as: ann)
      _ = try await fixture.call(.delete, Self.path(ann, "displayname"), as: ann)
      // {"a":"…"},: two braces, four bytes around the name, two quotes around the text.
      for (count, code) in [(65_536 - 10, nil), (65_536 - 9, "M_PROFILE_TOO_LARGE")] as [(Int, String?)] {
        let text = String(repeating: "y", count: count)
        let answer = try await fixture.call(.put, Self.path(ann, "a"), as: ann, #"{"a":"\#(text)"}"#)
        #expect(answer.errorCode == code)
      }
    }
  }

  @Test func `nobody changes another user's profile`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob")
      for method in [HTTPMethod.put, .delete] {
        let answer = try await fixture.call(method, Self.path(ann, "displayname"), as: bob, #"{"displayname":"x"}"#)
        #expect(answer.errorCode == "M_FORBIDDEN")
      }
    }
  }

  @Test func `a new display name reaches the member events of joined rooms`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let room = try await fixture.call(.post, "createRoom", as: ann, "{}")
      let roomID = PercentEncoding.encode(try #require(room.json["room_id"]?.text))
      _ = try await fixture.call(.put, Self.path(ann, "displayname"), as: ann, #"{"displayname":"Ann"}"#)
      let members = try await fixture.call(.get, "rooms/\(roomID)/joined_members", as: ann)
      #expect(members.json["joined"]?["@ann:example.org"]?["display_name"]?.string == "Ann")
    }
  }

  @Test func `the directory finds others by name and by display name, without case, up to the limit`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let bob = try await fixture.register("bob_1")
      _ = try await fixture.call(.put, Self.path(bob, "displayname"), as: bob, #"{"displayname":"Élan"}"#)
      func search(_ term: String, _ more: String = "") async throws -> APIFixture.Answer {
        try await fixture.call(.post, "user_directory/search", as: ann, #"{"search_term":"\#(term)"\#(more)}"#)
      }
      for (term, found) in [("BOB", 1), ("élan", 1), ("example.org", 1), ("ann", 0), ("%", 0), ("b_b", 0), ("b_1", 1)] {
        let answer = try await search(term)
        #expect(answer.json["results"]?.count == found)
        #expect(answer.json["limited"]?.bool == false)
      }
      _ = try await fixture.register("cyn")
      let one = try await search("example", #","limit":1"#)
      #expect(one.json["results"]?.count == 1)
      #expect(one.json["limited"]?.bool == true)
      #expect(try await search("élan").json["results"]?.elements.first { _ in true }?["display_name"]?.string == "Élan")
    }
  }
}
