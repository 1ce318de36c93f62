import JSON
import MatrixModel
import Telemetry
import Testing

@testable import Homeserver
@testable import HomeserverAPI
@testable import ServerDirectory

/// Many users invited, many rooms left by one request.
@Suite(.timeLimit(.minutes(2))) struct BulkTests {
  private static let base = "/_matrix/client/unstable/martlet.bulk/"

  private static func room(_ fixture: APIFixture, by user: APIFixture.User, _ body: String = "{}") async throws -> String {
    try #require(try await fixture.call(.post, "createRoom", as: user, body).json["room_id"]?.string)
  }

  private static func joined(_ fixture: APIFixture, _ user: APIFixture.User) async throws -> Set<String> {
    Set(
      try await fixture.call(.get, "joined_rooms", as: user).json["joined_rooms"]?.elements.compactMap(\.string) ?? [])
  }

  // MARK: Inviting

  @Test func `each invitation has its own result`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let (bob, cat) = (try await fixture.register("bob"), try await fixture.register("cat"))
      _ = try await fixture.call(
        .put, APIFixture.own(cat, "account_data/m.invite_permission_config"), as: cat, #"{"default_action":"block"}"#)
      let room = try await Self.room(fixture, by: ann)
      let users = [bob, cat, ann].map { "\"\($0.userID)\"" }.joined(separator: ",")
      let body = #"{"room_id":"\#(room)","user_ids":[\#(users),"@nobody:example.org","\#(bob.userID)"],"reason":"tea"}"#
      let answer = try await fixture.call(.post, Self.base + "invite", as: ann, body)
      #expect(answer.status == 200)
      #expect(answer.json["invited"]?.elements.compactMap(\.string) == [bob.userID.string])
      let errors = answer.json["errors"]
      #expect(errors?[cat.userID.text]?["errcode"]?.string == "M_INVITE_BLOCKED")
      #expect(errors?[ann.userID.text]?["errcode"]?.string == "M_FORBIDDEN")
      #expect(errors?["@nobody:example.org"]?["errcode"]?.string == "M_NOT_FOUND")
      let member = try await fixture.call(.get, "rooms/\(room)/state/m.room.member/\(bob.userID)", as: ann)
      #expect(member.json["membership"]?.string == "invite")
      #expect(member.json["reason"]?.string == "tea")
      #expect(try await fixture.call(.post, Self.base + "invite", as: bob, body).errorCode == "M_FORBIDDEN")
    }
  }

  @Test func `a hundred users are invited at once, one more are too many`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let room = try await Self.room(fixture, by: ann)
      func invite(_ count: Int) async throws -> APIFixture.Answer {
        let users = (0..<count).map { #""@u\#($0):example.org""# }.joined(separator: ",")
        return try await fixture.call(
          .post, Self.base + "invite", as: ann, #"{"room_id":"\#(room)","user_ids":[\#(users)]}"#)
      }
      #expect(try await invite(100).json["errors"]?.members.count { _ in true } == 100)
      #expect(try await invite(101).errorCode == "M_TOO_LARGE")
      let bad = try await fixture.call(
        .post, Self.base + "invite", as: ann, #"{"room_id":"\#(room)","user_ids":["bob"]}"#)
      #expect(bad.errorCode == "M_INVALID_PARAM")
      let missing = try await fixture.call(.post, Self.base + "invite", as: ann, #"{"room_id":"\#(room)"}"#)
      #expect(missing.errorCode == "M_MISSING_PARAM")
    }
  }

  // MARK: Leaving

  @Test func `few rooms are left when the answer comes, with the errors of those that were not`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let (one, two, kept) = (
        try await Self.room(fixture, by: ann), try await Self.room(fixture, by: ann), try await Self.room(fixture, by: ann)
      )
      let body = #"{"room_ids":["\#(one)","\#(two)","\#(one)","!none:example.org"],"reason":"enough"}"#
      let answer = try await fixture.call(.post, Self.base + "leave", as: ann, body)
      #expect(answer.status == 200)
      #expect(answer.json["state"]?.string == "finished")
      #expect(answer.json["total"]?.integer == 3)
      #expect(answer.json["done"]?.integer == 3)
      #expect(answer.json["errors"]?["!none:example.org"]?["errcode"]?.string == "M_FORBIDDEN")
      #expect(answer.json["errors"]?.members.count { _ in true } == 1)
      #expect(try await Self.joined(fixture, ann) == [kept])
      for bad in [#"{}"#, #"{"all":true,"room_ids":[]}"#, #"{"room_ids":["x"]}"#] {
        #expect(try await fixture.call(.post, Self.base + "leave", as: ann, bad).errorCode == "M_INVALID_PARAM")
      }
      let many = (0...BulkLeaves.roomsLimit).map { "\"!r\($0):example.org\"" }.joined(separator: ",")
      let tooMany = try await fixture.call(.post, Self.base + "leave", as: ann, #"{"room_ids":[\#(many)]}"#)
      #expect(tooMany.errorCode == "M_TOO_LARGE")
      let capabilities = try await fixture.call(.get, "capabilities", as: ann)
      #expect(capabilities.json["capabilities"]?["martlet.bulk"]?["enabled"]?.bool == true)
    }
  }

  /// Asks for a job until it is finished; each answer takes a read behind the job's writes.
  private static func finished(_ fixture: APIFixture, _ job: String, _ user: APIFixture.User) async throws -> JSON {
    while true {
      let answer = try await fixture.call(.get, Self.base + job, as: user)
      guard answer.status == 200, answer.json["state"]?.string == "running" else { return answer.json }
      await Task.yield()
    }
  }

  @Test func `all rooms are left in the background, invitations with them, and the job tells how far it is`() async throws {
    try await APIFixture.run { fixture in
      let (ann, bob) = (try await fixture.register("ann"), try await fixture.register("bob"))
      for _ in 0..<(BulkLeaves.immediateLimit + 5) { _ = try await Self.room(fixture, by: ann) }
      let invitation = try await Self.room(fixture, by: bob, #"{"invite":["\#(ann.userID)"]}"#)
      let answer = try await fixture.call(.post, Self.base + "leave", as: ann, #"{"all":true}"#)
      #expect(answer.status == 200)
      #expect(answer.json["total"]?.integer == Int64(BulkLeaves.immediateLimit + 6))
      let job = try #require(answer.json["job"]?.string)
      let end = try await Self.finished(fixture, job, ann)
      #expect(end["state"]?.string == "finished")
      #expect(end["done"]?.integer == Int64(BulkLeaves.immediateLimit + 6))
      #expect(end["errors"]?.members.count { _ in true } == 0)
      #expect(try await Self.joined(fixture, ann) == [])
      let member = try await fixture.call(.get, "rooms/\(invitation)/state/m.room.member/\(ann.userID)", as: bob)
      #expect(member.json["membership"]?.string == "leave")
      #expect(try await fixture.call(.get, Self.base + job, as: bob).errorCode == "M_NOT_FOUND")
      // It is forgotten after a day.
      fixture.advance(milliseconds: BulkLeaves.lifetimeMilliseconds)
      try await fixture.homeserver.bulkLeaves.forgetFinished()
      #expect(try await fixture.call(.get, Self.base + job, as: ann).status == 200)
      fixture.advance(milliseconds: 1)
      try await fixture.homeserver.bulkLeaves.forgetFinished()
      #expect(try await fixture.call(.get, Self.base + job, as: ann).errorCode == "M_NOT_FOUND")
    }
  }

  @Test func `a job that a stop interrupts goes on with the next start`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      let count = BulkLeaves.immediateLimit + 15
      for _ in 0..<count { _ = try await Self.room(fixture, by: ann) }
      let answer = try await fixture.call(.post, Self.base + "leave", as: ann, #"{"all":true}"#)
      let job = BulkLeaves.ID(trusted: ByteString(try #require(answer.json["job"]?.string)))
      await fixture.homeserver.shutdown()
      let restarted = try Homeserver(fixture.homeserver.configuration, log: Log("test"))
      restarted.bulkLeaves.start()
      var progress = try await restarted.bulkLeaves.progress(of: job, ann.userID)
      while !progress.isFinished { progress = try await restarted.bulkLeaves.progress(of: job, ann.userID) }
      #expect(progress.done == count)
      #expect(progress.errors.isEmpty)
      #expect(try await restarted.rooms.joinedRooms(of: ann.userID) == [])
      // Each was left once: what was done before the stop is not done again.
      let leaves = try await restarted.database.read { transaction in
        try transaction.first(
          "SELECT COUNT(*) FROM state_change WHERE type = 'm.room.member' AND state_key = $1", ann.userID
        ) { $0.integer(0) }
      }
      #expect(leaves == Int64(2 * count))
      await restarted.shutdown()
    }
  }

  @Test func `a user has four jobs at once`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      // No more work is begun, so that those stay that are asked for.
      await fixture.homeserver.bulkLeaves.stop()
      for _ in 0..<BulkLeaves.runningLimit {
        let answer = try await fixture.call(.post, Self.base + "leave", as: ann, #"{"all":true}"#)
        #expect(answer.json["state"]?.string == "running")
      }
      let refused = try await fixture.call(.post, Self.base + "leave", as: ann, #"{"all":true}"#)
      #expect(refused.status == 429)
      #expect(refused.errorCode == "M_LIMIT_EXCEEDED")
    }
  }
}
