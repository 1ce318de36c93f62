import JSON
import Testing

@testable import CallServer

@Suite struct SessionLifeTests {
  @Test func `who comes is told who is there, and the others of who came`() throws {
    let fixture = SessionFixture()
    let alice = try fixture.connect(.moderator, data: "Alice")
    let stream = try fixture.publish(alice, #""name":"camera""#)
    _ = fixture.told(alice)
    let greeting = try fixture.greeting()
    #expect(greeting["mode"]?.string == "routed" && greeting["resume_seconds"]?.integer == 30)
    #expect(greeting["connections"]?.elements.map { $0["data"]?.string } == ["Alice"])
    #expect(greeting["streams"]?.elements.map { StreamID($0["id"]) } == [stream])
    #expect(fixture.types(alice) == ["connection_created", "connection_destroyed"])
  }

  @Test func `who leaves takes its streams along`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(), try fixture.connect())
    _ = try fixture.publish(alice)
    _ = fixture.told(bob)
    try fixture.ask(alice, "leave")
    let told = fixture.told(bob)
    #expect(told.map { $0["type"]?.string } == ["stream_destroyed", "connection_destroyed"])
    #expect(told.allSatisfy { $0["reason"]?.string == "left" })
    #expect(fixture.isClosed(alice.socket))
    try fixture.ask(bob, "leave")
    #expect(fixture.state.isEmpty)
  }

  // Proves M27
  @Test func `a lost connection stays thirty seconds, and no longer`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(), try fixture.connect())
    _ = try fixture.publish(alice)
    _ = fixture.told(bob)
    fixture.lose(alice)
    #expect(fixture.state.deadline == fixture.now.monotonic + CallLimits.resumeMilliseconds)
    fixture.pass(CallLimits.resumeMilliseconds - 1)
    #expect(fixture.told(bob).isEmpty)
    fixture.pass(1)
    #expect(fixture.told(bob).map { $0["reason"]?.string } == ["lost", "lost"])
    #expect(!fixture.resume(alice, after: 0))
    #expect(fixture.state.deadline == nil)
  }

  @Test func `what was missed is said again, what was done is not done again`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(), try fixture.connect())
    try fixture.ask(alice, "signal", #""kind":"a","data":"1""#)
    let seen = try #require(fixture.told(bob).last?["seq"]?.integer)
    fixture.lose(bob)
    for number in 2...4 { try fixture.ask(alice, "signal", #""kind":"a","data":"\#(number)""#) }
    #expect(fixture.resume(bob, after: seen))
    let told = fixture.told(bob)
    #expect(told.first?["type"]?.string == "resumed" && told.first?["handled"]?.integer == 0)
    #expect(told.dropFirst().map { $0["data"]?.string } == ["2", "3", "4"])
    #expect(told.dropFirst().map { $0["seq"]?.integer } == [seen + 1, seen + 2, seen + 3])
    // A request that was carried out before is not carried out again.
    fixture.receive(#"{"type":"signal","id":1,"kind":"a","data":"again"}"#, on: alice.socket)
    #expect(fixture.told(bob).isEmpty)
  }

  // Proves M27
  @Test func `nobody else can resume, nor from a number that cannot be`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(), try fixture.connect())
    try fixture.ask(alice, "signal", #""data":"1""#)
    let stranger = SessionFixture.Client(id: bob.id, key: alice.key, socket: fixture.newSocket())
    #expect(!fixture.resume(stranger, after: 0))
    #expect(!fixture.resume(bob, after: -1) && !fixture.resume(bob, after: 100))
    fixture.receive(#"{"type":"ack","seq":1}"#, on: bob.socket)
    #expect(!fixture.resume(bob, after: 0), "what was acknowledged is not kept")
    #expect(fixture.resume(bob, after: 1))
  }

  @Test func `a connection that is resumed elsewhere leaves its old socket`() throws {
    let fixture = SessionFixture()
    let alice = try fixture.connect()
    let old = alice.socket
    #expect(fixture.resume(alice, after: 0))
    #expect(fixture.isClosed(old))
    fixture.state.lose(old, now: fixture.now)
    #expect(fixture.state.deadline == nil)
    try fixture.ask(alice, "signal", #""data":"x""#)
  }

  @Test func `who acknowledges nothing is let go, the others are not`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(), try fixture.connect())
    let text = String(repeating: "x", count: 8_000)
    for _ in 0..<(CallLimits.unacknowledgedBytes / 8_000 + 2) {
      fixture.pass(100)
      try fixture.ask(alice, "signal", #""data":"\#(text)","to":"\#(bob.id)""#)
      if !fixture.state.has(bob.id) { break }
    }
    #expect(!fixture.state.has(bob.id) && fixture.isClosed(bob.socket) && fixture.state.has(alice.id))
    #expect(fixture.told(bob).last?["code"]?.string == "too_slow")
    #expect(fixture.types(alice).contains("connection_destroyed"))
  }

  @Test func `what is against the protocol ends the connection`() throws {
    let long = String(repeating: "a", count: CallLimits.messageBytes)
    for text in [
      "", "[]", "{}", "nonsense", #"{"type":"connect","token":"","session":"1_a"}"#, #"{"type":"signal","id":7}"#,
      #"{"type":"ack"}"#, #"{"type":"signal","id":1,"data":"\#(long)"}"#
    ] {
      let fixture = SessionFixture()
      let alice = try fixture.connect()
      fixture.receive(text, on: alice.socket)
      #expect(fixture.isClosed(alice.socket) && fixture.state.isEmpty, "\(text.prefix(60))")
    }
  }

  @Test func `what is not known is ignored, or refused where it wants an answer`() throws {
    let fixture = SessionFixture()
    let alice = try fixture.connect()
    fixture.receive(#"{"type":"later"}"#, on: alice.socket)
    fixture.receive(#"{"type":"ack","seq":99}"#, on: alice.socket)
    #expect(try fixture.refusal(alice, "later") == "invalid")
    #expect(try fixture.refusal(alice, "signal", #""data":"x","more":[]"#) == nil)
  }

  // Proves M32
  @Test func `requests have a rate`() throws {
    let fixture = SessionFixture()
    let alice = try fixture.connect()
    var refused = 0
    for _ in 0..<CallLimits.requestRate.burst + 1 {
      if try fixture.refusal(alice, "prefer", #""stream":"00000000-0000-4000-8000-000000000000""#) == "limit" { refused += 1 }
    }
    #expect(refused == 1)
    let answer = try fixture.ask(alice, "signal")
    let wait = try #require(answer["retry_after_ms"]?.integer)
    fixture.pass(wait)
    #expect(try fixture.refusal(alice, "signal") == nil)
  }

  @Test func `a session has room for so many, those who may come back included`() throws {
    let fixture = SessionFixture(connectionsLimit: 3)
    let clients = try (0..<3).map { _ in try fixture.connect() }
    fixture.lose(clients[0])
    #expect(throws: CallRefusal(.limit, "The session is full.")) { try fixture.connect() }
    fixture.send(clients[1], "leave")
    _ = try fixture.connect()
    #expect(fixture.resume(clients[0], after: fixture.state.connections[clients[0].id]?.outbox.last ?? 0))
  }

  @Test func `a session and a connection hold so much and no more`() throws {
    let fixture = SessionFixture()
    let alice = try fixture.connect()
    for _ in 0..<CallLimits.streamsOfConnection { #expect(try fixture.refusal(alice, "publish", #""stream":{}"#) == nil) }
    #expect(try fixture.refusal(alice, "publish", #""stream":{}"#) == "limit")
    while fixture.state.streams.count < CallLimits.streams {
      let client = try fixture.connect()
      for _ in 0..<CallLimits.streamsOfConnection { fixture.send(client, "publish", #""stream":{}"#) }
    }
    #expect(try fixture.refusal(try fixture.connect(), "publish", #""stream":{}"#) == "limit")
  }

  @Test func `a session's end is said, and nothing is left`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(), try fixture.connect())
    _ = try fixture.publish(alice)
    fixture.lose(bob)
    fixture.state.endAll(CallRefusal(.ended, "Over."))
    #expect(fixture.types(alice).suffix(2) == ["session_ended", "closed"])
    #expect(fixture.state.isEmpty)
  }
}
