import JSON
import Testing

@testable import CallServer

@Suite struct SignalTests {
  @Test func `a signal to one reaches that one, a signal to all everyone`() throws {
    let fixture = SessionFixture()
    let clients = try (0..<3).map { _ in try fixture.connect() }
    for client in clients { _ = fixture.told(client) }
    try fixture.ask(clients[0], "signal", #""kind":"chat","data":"hi","to":"\#(clients[1].id)""#)
    let heard = fixture.told(clients[1])
    #expect(heard.count == 1 && heard[0]["kind"]?.string == "chat" && heard[0]["data"]?.string == "hi")
    #expect(ConnectionID(heard[0]["from"]) == clients[0].id)
    #expect(fixture.told(clients[0]).isEmpty && fixture.told(clients[2]).isEmpty)
    try fixture.ask(clients[0], "signal", #""data":"all""#)
    for client in clients { #expect(fixture.told(client).map { $0["data"]?.string } == ["all"]) }
  }

  // Proves M26
  @Test func `a signal has limits on both sides`() throws {
    let fixture = SessionFixture()
    let client = try fixture.connect()
    let kind = String(repeating: "k", count: CallLimits.signalKindCharacters)
    let data = String(repeating: "d", count: CallLimits.signalDataBytes)
    #expect(try fixture.refusal(client, "signal", #""kind":"\#(kind)","data":"\#(data)""#) == nil)
    #expect(try fixture.refusal(client, "signal", #""kind":"\#(kind)k""#) == "too_large")
    #expect(try fixture.refusal(client, "signal", #""data":"\#(data)d""#) == "too_large")
    let escaped = String(repeating: "\\u0001", count: CallLimits.signalDataBytes)
    #expect(try fixture.refusal(client, "signal", #""data":"\#(escaped)""#) == "too_large")
    for kind in ["a b", "ä", "a/b", "\\u0000"] {
      #expect(try fixture.refusal(client, "signal", #""kind":"\#(kind)""#) == "invalid")
    }
    #expect(try fixture.refusal(client, "signal", #""kind":"A-z_0~""#) == nil)
    for nobody in ["00000000-0000-4000-8000-000000000000", "nobody", ""] {
      #expect(try fixture.refusal(client, "signal", #""to":"\#(nobody)""#) == "not_found")
    }
    #expect(try fixture.refusal(client, "signal", #""to":1"#) == "invalid")
    #expect(try fixture.refusal(client, "signal", #""data":{}"#) == "invalid")
  }

  // Proves M26
  @Test func `a session has so many signals a second`() throws {
    let fixture = SessionFixture()
    let clients = try (0..<3).map { _ in try fixture.connect() }
    var codes: [String?] = []
    for index in 0...Int(CallLimits.signalRate.burst) { codes.append(try fixture.refusal(clients[index % 3], "signal")) }
    #expect(codes.last == "limit" && codes.dropLast().allSatisfy { $0 == nil })
  }

  @Test func `a relayed session takes as many as can all have a link to each other`() throws {
    let fixture = SessionFixture(isRouted: false)
    let clients = try (0..<CallLimits.connectionsOfRelayedSession).map { _ in try fixture.connect() }
    #expect { try fixture.connect() } throws: { ($0 as? CallRefusal)?.code == .limit }
    try fixture.ask(clients[0], "leave")
    _ = try fixture.connect()
    let routed = SessionFixture()
    for _ in 0...CallLimits.connectionsOfRelayedSession { _ = try routed.connect() }
  }

  // Proves M24
  @Test func `peers of a relayed session reach each other`() throws {
    let fixture = SessionFixture(isRouted: false)
    let (alice, bob) = (try fixture.connect(), try fixture.connect(.subscriber))
    _ = fixture.told(alice)
    try fixture.ask(alice, "relay", #""to":"\#(bob.id)","data":"offer""#)
    let told = fixture.told(bob)
    #expect(told.map { $0["data"]?.string } == ["offer"] && ConnectionID(told[0]["from"]) == alice.id)
    // There is no media here that would tell of a stream.
    try fixture.ask(alice, "publish", #""stream":{}"#)
    #expect(fixture.types(bob) == ["stream_created"])
    #expect(try fixture.offer(alice, OfferText([("audio", "sendonly")]).text, "")["code"]?.string == "invalid")
    let routed = SessionFixture()
    let (carol, dave) = (try routed.connect(), try routed.connect())
    #expect(try routed.refusal(carol, "relay", #""to":"\#(dave.id)","data":"offer""#) == "invalid")
    let token = ConnectionToken(session: SessionFixture.session, role: .publisher, data: "")
    #expect(throws: CallRefusal.self) { _ = try fixture.state.connect(token, on: fixture.newSocket(), now: fixture.now) }
  }
}
