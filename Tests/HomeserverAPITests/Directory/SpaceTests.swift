import JSON
import MatrixModel
import Testing

@testable import HomeserverAPI
@testable import ServerDirectory

@Suite struct SpaceTests {
  /// A space with rooms and spaces in it, made by `ann`.
  private struct Tree {
    let fixture: APIFixture
    let ann: APIFixture.User

    func room(_ name: String, isSpace: Bool = false, preset: String = "public_chat", _ more: String = "") async throws -> String
    {
      let type = isSpace ? #","creation_content":{"type":"m.space"}"# : ""
      let answer = try await fixture.call(
        .post, "createRoom", as: ann, #"{"name":"\#(name)","preset":"\#(preset)"\#(type)\#(more)}"#)
      return try #require(answer.json["room_id"]?.string)
    }

    func add(_ child: String, to parent: String, _ more: String = "") async throws {
      let answer = try await fixture.call(
        .put, "rooms/\(path(parent))/state/m.space.child/\(path(child))", as: ann, #"{"via":["example.org"]\#(more)}"#)
      #expect(answer.status == 200)
      fixture.advance(milliseconds: 1)
    }

    func hierarchy(_ root: String, as user: APIFixture.User, _ query: String = "") async throws -> APIFixture.Answer {
      try await fixture.call(.get, "/_matrix/client/v1/rooms/\(path(root))/hierarchy?\(query)", as: user)
    }
  }

  private static func names(_ answer: APIFixture.Answer) -> [String] {
    answer.json["rooms"]?.elements.map { $0["name"]?.string ?? "-" } ?? []
  }

  @Test func `a tree is walked down, children in the order of the space, each room once`() async throws {
    try await APIFixture.run { fixture in
      let tree = Tree(fixture: fixture, ann: try await fixture.register("ann"))
      let bob = try await fixture.register("bob")
      let root = try await tree.room("root", isSpace: true)
      let sub = try await tree.room("sub", isSpace: true)
      let (a, b, c, d) = (
        try await tree.room("a"), try await tree.room("b"), try await tree.room("c"), try await tree.room("d")
      )
      try await tree.add(a, to: root)
      try await tree.add(b, to: root, #","order":"2""#)
      try await tree.add(sub, to: root, #","order":"1","suggested":true"#)
      // No valid order: after those with one, by time.
      try await tree.add(d, to: root, #","order":"ü""#)
      try await tree.add(c, to: sub)
      try await tree.add(root, to: sub)
      let all = try await tree.hierarchy(root, as: bob)
      #expect(Self.names(all) == ["root", "sub", "c", "b", "a", "d"])
      let first = try #require(all.json["rooms"]?.elements.first { _ in true })
      #expect(first["children_state"]?.elements.map { $0["state_key"]?.string } == [sub, b, a, d])
      #expect(first["children_state"]?.elements.first { _ in true }?["origin_server_ts"]?.integer != nil)
      #expect(first["room_type"]?.string == "m.space" && first["room_version"]?.string == "12")
      #expect(Self.names(try await tree.hierarchy(root, as: bob, "max_depth=0")) == ["root"])
      #expect(Self.names(try await tree.hierarchy(root, as: bob, "max_depth=1")) == ["root", "sub", "b", "a", "d"])
      #expect(Self.names(try await tree.hierarchy(root, as: bob, "suggested_only=true")) == ["root", "sub"])
      // A child that is taken back.
      _ = try await fixture.call(.put, "rooms/\(path(root))/state/m.space.child/\(path(a))", as: tree.ann, "{}")
      #expect(Self.names(try await tree.hierarchy(root, as: bob)) == ["root", "sub", "c", "b", "d"])
    }
  }

  @Test func `pages go on where the last one ended, whatever changes meanwhile`() async throws {
    try await APIFixture.run { fixture in
      let tree = Tree(fixture: fixture, ann: try await fixture.register("ann"))
      let bob = try await fixture.register("bob")
      let root = try await tree.room("root", isSpace: true)
      for number in 0..<4 { try await tree.add(try await tree.room("r\(number)"), to: root) }
      let first = try await tree.hierarchy(root, as: bob, "limit=2&max_depth=5")
      #expect(Self.names(first) == ["root", "r0"])
      let token = try #require(first.json["next_batch"]?.string)
      try await tree.add(try await tree.room("early"), to: root, #","order":"0""#)
      let second = try await tree.hierarchy(root, as: bob, "limit=2&from=\(token)")
      #expect(Self.names(second) == ["r1", "r2"])
      let third = try await tree.hierarchy(root, as: bob, "limit=2&from=\(try #require(second.json["next_batch"]?.string))")
      #expect(Self.names(third) == ["r3"] && third.json["next_batch"] == nil)
      #expect(Self.names(try await tree.hierarchy(root, as: bob, "limit=2&from=\(token)")) == ["r1", "r2"])
      for query in ["from=\(token)&max_depth=4", "from=\(token)&suggested_only=true", "from=x", "limit=0", "max_depth=-1"] {
        #expect(try await tree.hierarchy(root, as: bob, query).errorCode == "M_INVALID_PARAM")
      }
      #expect(try await tree.hierarchy(root, as: tree.ann, "from=\(token)").errorCode == "M_INVALID_PARAM")
      fixture.advance(milliseconds: 10 * 60 * 1_000)
      #expect(try await tree.hierarchy(root, as: bob, "from=\(token)").errorCode == "M_INVALID_PARAM")
    }
  }

  @Test func `only rooms that the user may see are told of`() async throws {
    try await APIFixture.run { fixture in
      let tree = Tree(fixture: fixture, ann: try await fixture.register("ann"))
      let bob = try await fixture.register("bob")
      let root = try await tree.room("root", isSpace: true)
      func state(_ type: String, _ content: String) -> String { #"{"type":"\#(type)","content":\#(content)}"# }
      let allow = #"{"join_rule":"restricted","allow":[{"type":"m.room_membership","room_id":"\#(root)"}]}"#
      for (name, more) in [
        ("secret", ""), ("knockable", state("m.room.join_rules", #"{"join_rule":"knock"}"#)),
        ("restricted", state("m.room.join_rules", allow)),
        ("readable", state("m.room.history_visibility", #"{"history_visibility":"world_readable"}"#))
      ] {
        let room = try await tree.room(name, preset: "private_chat", #","initial_state":[\#(more)]"#)
        try await tree.add(room, to: root)
      }
      let invited = try await tree.room("invited", preset: "private_chat", #","invite":["@bob:example.org"]"#)
      try await tree.add(invited, to: root)
      #expect(Self.names(try await tree.hierarchy(root, as: bob)) == ["root", "knockable", "readable", "invited"])
      _ = try await fixture.call(.post, "join/\(path(root))", as: bob, "{}")
      let member = try await tree.hierarchy(root, as: bob)
      #expect(Self.names(member) == ["root", "knockable", "restricted", "readable", "invited"])
      let restricted = member.json["rooms"]?.elements.first { $0["name"]?.isString("restricted") ?? false }
      #expect(restricted?["allowed_room_ids"]?.elements.map { $0.string } == [root])
      // A private root is nobody's who is not in it, like one that is not there.
      let hidden = try await tree.room("hidden", isSpace: true, preset: "private_chat")
      #expect(try await tree.hierarchy(hidden, as: bob).errorCode == "M_FORBIDDEN")
      #expect(try await tree.hierarchy("!none", as: bob).errorCode == "M_FORBIDDEN")
    }
  }

  @Test(arguments: [
    "/_matrix/client/v1/room_summary/ID", "/_matrix/client/unstable/im.nheko.summary/rooms/ID/summary",
    "/_matrix/client/unstable/im.nheko.summary/summary/ID"
  ]) func `a summary is for who may see the room`(pattern: String) async throws {
    try await APIFixture.run { fixture in
      let tree = Tree(fixture: fixture, ann: try await fixture.register("ann"))
      let bob = try await fixture.register("bob")
      let encryption = #"{"type":"m.room.encryption","content":{"algorithm":"m.megolm.v1.aes-sha2"}}"#
      let open = try await tree.room("open", #","room_alias_name":"lobby","initial_state":[\#(encryption)]"#)
      let secret = try await tree.room("secret", preset: "private_chat")
      func summary(_ name: String, _ user: APIFixture.User?) async throws -> APIFixture.Answer {
        try await fixture.call(.get, pattern.replacing("ID", with: path(name)), as: user)
      }
      for name in [open, "#lobby:example.org"] {
        let answer = try await summary(name, bob)
        #expect(answer.json["room_id"]?.string == open && answer.json["membership"]?.string == "leave")
        #expect(answer.json["encryption"]?.string == "m.megolm.v1.aes-sha2" && answer.json["room_version"]?.string == "12")
      }
      #expect(try await summary(open, tree.ann).json["membership"]?.string == "join")
      let anonymous = try await summary(open, nil)
      #expect(anonymous.status == 200 && anonymous.json["membership"] == nil)
      #expect(try await summary(secret, tree.ann).status == 200)
      for (name, user) in [(secret, bob), (secret, nil), ("!none", bob), ("#none:example.org", bob)]
        as [(String, APIFixture.User?)]
      {
        #expect(try await summary(name, user).errorCode == "M_NOT_FOUND")
      }
    }
  }

  @Test func `one who asks again and again keeps no more than ten walks, and pushes out nobody else's`() async throws {
    try await APIFixture.run { fixture in
      let tree = Tree(fixture: fixture, ann: try await fixture.register("ann"))
      let bob = try await fixture.register("bob")
      let root = try await tree.room("root", isSpace: true)
      for number in 0..<2 { try await tree.add(try await tree.room("r\(number)"), to: root) }
      let others = try #require(try await tree.hierarchy(root, as: tree.ann, "limit=1").json["next_batch"]?.string)
      var tokens: [String] = []
      for _ in 0...SpaceHierarchy.userWaitingLimit {
        fixture.advance(milliseconds: 1)
        tokens.append(try #require(try await tree.hierarchy(root, as: bob, "limit=1").json["next_batch"]?.string))
      }
      // The last page keeps no walk: the answers do not push each other out.
      #expect(try await tree.hierarchy(root, as: bob, "limit=9&from=\(tokens[0])").status == 400)
      for token in tokens.dropFirst() {
        #expect(Self.names(try await tree.hierarchy(root, as: bob, "limit=9&from=\(token)")) == ["r0", "r1"])
      }
      #expect(Self.names(try await tree.hierarchy(root, as: tree.ann, "limit=9&from=\(others)")) == ["r0", "r1"])
    }
  }

  @Test func `a request looks at so many rooms, and the next one goes on`() async throws {
    try await APIFixture.run { fixture in
      let tree = Tree(fixture: fixture, ann: try await fixture.register("ann"))
      let bob = try await fixture.register("bob")
      let root = try await tree.room("root", isSpace: true)
      let sub = try await tree.room("sub", isSpace: true)
      let seen = try await tree.room("seen")
      try await tree.add(sub, to: root, #","order":"0""#)
      try await tree.add(seen, to: root, #","order":"1""#)
      // With root and sub, one more than are looked at.
      for number in 0..<(SpaceHierarchy.looksLimit - 1) {
        try await tree.add("!none\(number):example.org", to: sub)
      }
      let first = try await tree.hierarchy(root, as: bob)
      #expect(Self.names(first) == ["root", "sub"])
      let next = try #require(first.json["next_batch"]?.string)
      let second = try await tree.hierarchy(root, as: bob, "from=\(next)")
      #expect(Self.names(second) == ["seen"] && second.json["next_batch"] == nil)
    }
  }

  @Test(arguments: [(RoomPreview.allowedRoomsLimit, true), (RoomPreview.allowedRoomsLimit + 1, false)])
  func `who may join by a condition sees the room, of the first hundred conditions`(count: Int, isSeen: Bool) async throws {
    try await APIFixture.run { fixture in
      let tree = Tree(fixture: fixture, ann: try await fixture.register("ann"))
      let bob = try await fixture.register("bob")
      let club = try await tree.room("club")
      _ = try await fixture.call(.post, "rooms/\(path(club))/join", as: bob, "{}")
      let rooms = (1..<count).map { "!none\($0):example.org" } + [club]
      let allow = rooms.map { #"{"type":"m.room_membership","room_id":"\#($0)"}"# }.joined(separator: ",")
      let rules = #"{"type":"m.room.join_rules","content":{"join_rule":"restricted","allow":[\#(allow)]}}"#
      let room = try await tree.room("room", preset: "private_chat", #","initial_state":[\#(rules)]"#)
      #expect((try await tree.hierarchy(room, as: bob).status == 200) == isSeen)
    }
  }
}
