import HTTPServer
import Homeserver
import JSON
import MatrixModel
import Testing

@testable import HomeserverAPI

@Suite struct InfrastructureTests {
  @Test(arguments: [
    (HTTPMethod.get, "nothing/here", 404), (.get, "/_matrix/nothing", 404), (.delete, "login", 405),
    (.post, "account/whoami", 405)
  ]) func `unknown paths and methods are unrecognized`(method: HTTPMethod, path: String, status: Int) async throws {
    try await APIFixture.run { fixture in
      let answer = try await fixture.call(method, path)
      #expect(answer.status == status)
      #expect(answer.errorCode == "M_UNRECOGNIZED")
      #expect(answer.headers["Access-Control-Allow-Origin"] == "*")
    }
  }

  @Test func `OPTIONS tells the CORS headers and runs nothing`() async throws {
    try await APIFixture.run { fixture in
      for path in ["account/whoami", "nothing"] {
        let answer = try await fixture.call(.options, path)
        #expect(answer.status == 200)
        #expect(answer.headers["Access-Control-Allow-Origin"] == "*")
        #expect(answer.headers["Access-Control-Allow-Methods"] == "GET, POST, PUT, DELETE, OPTIONS")
        #expect(
          answer.headers["Access-Control-Allow-Headers"]
            == "X-Requested-With, Content-Type, Authorization, Content-Range, Range, If-Range")
      }
    }
  }

  @Test(arguments: [
    ("", "M_NOT_JSON", 400), ("{", "M_NOT_JSON", 400), ("[]", "M_BAD_JSON", 400), ("7", "M_BAD_JSON", 400),
    (#"{"type":7}"#, "M_BAD_JSON", 400), ("{}", "M_MISSING_PARAM", 400)
  ]) func `a body that cannot be used says why`(body: String, code: String, status: Int) async throws {
    try await APIFixture.run { fixture in
      let answer = try await fixture.call(.post, "login", body)
      #expect(answer.errorCode == code)
      #expect(answer.status == status)
    }
  }

  @Test func `a body may have a mebibyte, one of strangers 64 KiB, and no more`() async throws {
    try await APIFixture.run { fixture in
      let ann = try await fixture.register("ann")
      func padded(_ count: Int) -> String { #"{"a":""# + String(repeating: "x", count: count - 8) + #""}"# }
      let cases = [("login", nil, Routes.anonymousBodyBytesLimit), ("keys/query", ann, Routes.bodyBytesLimit)]
      for (path, user, limit) in cases {
        let most = try await fixture.call(.post, path, as: user, padded(limit))
        #expect(most.errorCode == "M_MISSING_PARAM")
        let answer = try await fixture.call(.post, path, as: user, padded(limit + 1))
        #expect(answer.status == 413)
        #expect(answer.errorCode == "M_TOO_LARGE")
      }
    }
  }

  @Test func `an invalid identifier in the path is an invalid parameter`() async throws {
    try await APIFixture.run { fixture in
      let cases = [("ann", "M_INVALID_PARAM"), ("%40ann%3Aexample.org", "M_NOT_FOUND"), ("%FF", "M_INVALID_PARAM")]
      for (userID, code) in cases {
        let answer = try await fixture.call(.get, "profile/" + userID)
        #expect(answer.errorCode == code)
      }
    }
  }

  @Test func `versions reach 1.19 and discovery names the server`() async throws {
    try await APIFixture.run { fixture in
      let versions = try await fixture.call(.get, "/_matrix/client/versions")
      #expect(versions.json["versions"]?.elements.contains { $0.string == "v1.19" } == true)
      // What would be offered in vain.
      for missing: StaticString in ["martlet.no_mail", "martlet.no_federation"] {
        #expect(versions.json["unstable_features"]?[missing]?.bool == true)
      }
      let known = try await fixture.call(.get, "/.well-known/matrix/client", headers: [("Host", "localhost:8008")])
      #expect(known.json["m.homeserver"]?["base_url"]?.string == "http://localhost:8008")
      let ann = try await fixture.register("ann")
      let rooms = try await fixture.call(.get, "capabilities", as: ann).json["capabilities"]?["m.room_versions"]
      #expect(rooms?["default"]?.string == "12")
      #expect(rooms?["available"]?["10"]?.string == "stable")
    }
  }

  @Test func `beyond the budget a client is told when to come back`() async throws {
    try await APIFixture.run(APIConfiguration()) { fixture in
      var answers: [APIFixture.Answer] = []
      for _ in 0...30 { answers.append(try await fixture.call(.post, "login", "{}")) }
      #expect(answers[..<30].allSatisfy { $0.errorCode == "M_MISSING_PARAM" })
      let refused = answers[30]
      #expect(refused.status == 429)
      #expect(refused.errorCode == "M_LIMIT_EXCEEDED")
      #expect((1...1_000).contains(refused.json["retry_after_ms"]?.integer ?? 0))
      #expect(refused.headers["Retry-After"] == "1")
    }
  }
}

@Suite struct RateLimiterTests {
  @Test func `a bucket empties at its burst and fills at its rate`() throws {
    let clock = APIFixture.Time()
    clock.milliseconds.store(0, ordering: .relaxed)
    let limiter = RateLimiter { UInt64(clock.milliseconds.load(ordering: .relaxed)) * 1_000_000 }
    let (ann, bob) = (UserID(trusted: "@ann:x"), UserID(trusted: "@bob:x"))
    for _ in 0..<30 { try limiter.charge(.authentication, to: ann) }
    #expect(throws: MatrixError.self) { try limiter.charge(.authentication, to: ann) }
    try limiter.charge(.authentication, to: bob)
    try limiter.charge(.write, to: ann)
    clock.milliseconds.store(999, ordering: .relaxed)
    #expect(throws: MatrixError.self) { try limiter.charge(.authentication, to: ann) }
    clock.milliseconds.store(1_000, ordering: .relaxed)
    try limiter.charge(.authentication, to: ann)
    #expect(throws: MatrixError.self) { try limiter.charge(.authentication, to: ann) }
  }

  @Test func `a request may cost a share, and waits for no more than that`() throws {
    let clock = APIFixture.Time()
    clock.milliseconds.store(0, ordering: .relaxed)
    let limiter = RateLimiter { UInt64(clock.milliseconds.load(ordering: .relaxed)) * 1_000_000 }
    let ann = UserID(trusted: "@ann:x")
    for _ in 0..<200 { try limiter.charge(.initialSync, share: 0.5, to: ann) }
    let early = #expect(throws: MatrixError.self) { try limiter.charge(.initialSync, share: 0.25, to: ann) }
    #expect(early?.retryAfterMilliseconds == 250)
    clock.milliseconds.store(250, ordering: .relaxed)
    let whole = #expect(throws: MatrixError.self) { try limiter.charge(.initialSync, to: ann) }
    #expect(whole?.retryAfterMilliseconds == 750)
    try limiter.charge(.initialSync, share: 0.25, to: ann)
    #expect(throws: MatrixError.self) { try limiter.charge(.initialSync, share: 0.25, to: ann) }
  }

  @Test func `who lets a sync tell again and again is limited, who goes on is not`() async throws {
    try await APIFixture.run(APIConfiguration()) { fixture in
      let (ann, bob) = (try await fixture.register("ann"), try await fixture.register("bob"))
      let first = try await fixture.call(.get, "sync", as: ann)
      let old = try #require(first.json["next_batch"]?.string)
      let made = try await fixture.call(.post, "createRoom", as: bob, #"{"preset":"public_chat"}"#)
      _ = try await fixture.call(.post, "join/\(#require(made.json["room_id"]?.string))", as: ann, "{}")
      var answer = try await fixture.call(.get, "sync?since=\(old)", as: ann)
      let newest = try #require(answer.json["next_batch"]?.string)
      for _ in 0..<10_000 where answer.status == 200 { answer = try await fixture.call(.get, "sync?since=\(old)", as: ann) }
      #expect(answer.errorCode == "M_LIMIT_EXCEEDED")
      for _ in 0..<1_000 {
        #expect(try await fixture.call(.get, "sync?since=\(newest)", as: ann).status == 200)
      }
      let sliding = "/_matrix/client/unstable/org.matrix.simplified_msc3575/sync"
      answer = try await fixture.call(.post, sliding, as: bob, #"{"lists":{"all":{"ranges":[[0,9]],"timeline_limit":1}}}"#)
      let pos = try #require(answer.json["pos"]?.string)
      let wanting = #"{"lists":{"all":{"ranges":[[0,9]],"timeline_limit":500}}}"#
      for _ in 0..<10_000 where answer.status == 200 {
        answer = try await fixture.call(.post, "\(sliding)?pos=\(pos)", as: bob, wanting)
      }
      #expect(answer.errorCode == "M_LIMIT_EXCEEDED")
    }
  }

  @Test func `addresses of one IPv6 network share a budget`() throws {
    let limiter = RateLimiter { 0 }
    func peer(_ address: String) throws -> SocketAddress { try #require(SocketAddress(address: address, port: 1)) }
    for _ in 0..<30 { try limiter.charge(.authentication, to: peer("2001:db8::1")) }
    #expect(throws: MatrixError.self) { try limiter.charge(.authentication, to: peer("2001:db8::2")) }
    try limiter.charge(.authentication, to: peer("2001:db8:0:1::1"))
    try limiter.charge(.authentication, to: peer("192.0.2.1"))
  }
}
