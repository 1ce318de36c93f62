import JSON
import Testing

@testable import CallServer

@Suite struct RoleTests {
  private static let nobody = "00000000-0000-4000-8000-000000000000"

  /// What each role may do. The standard is Documentation/Decisions/0014-call-sessions.md, "Words".
  private static let table: [(action: String, allowed: Set<Role>)] = [
    ("publish", [.publisher, .publisherOnly, .moderator]),
    ("offer to publish", [.publisher, .publisherOnly, .moderator]),
    ("offer to subscribe", [.subscriber, .publisher, .moderator]),
    ("signal", [.subscriber, .publisher, .moderator]),
    ("unpublish another's", [.moderator]),
    ("mute another's", [.moderator]),
    ("mute all", [.moderator]),
    ("disconnect", [.moderator]),
    ("record", [.moderator]),
    ("update another's", []),
    ("leave", Set(Role.allCases))
  ]

  // Proves L1, M25, Q13
  @Test(arguments: Role.allCases) func `a role may do what the table says, and nothing else`(role: Role) throws {
    for (action, allowed) in Self.table {
      let fixture = SessionFixture()
      let (owner, victim, client) = (try fixture.connect(), try fixture.connect(), try fixture.connect(role))
      let stream = try fixture.publish(owner)
      let before = fixture.state.streams.count
      let code = try Self.refusal(action, client, stream, victim, fixture)
      #expect((code == nil) == allowed.contains(role), "\(role) \(action): \(code ?? "done")")
      guard !allowed.contains(role) else { continue }
      #expect(code == "forbidden", "\(role) \(action)")
      // Nothing came of it.
      #expect(fixture.state.streams.count == before && fixture.state.has(victim.id) && !fixture.state.isMuted)
      #expect(fixture.state.recordingID == nil)
      #expect(fixture.state.streams[stream]?.isMuted == false)
    }
  }

  private static func refusal(
    _ action: String, _ client: SessionFixture.Client, _ stream: StreamID, _ victim: SessionFixture.Client,
    _ fixture: SessionFixture
  ) throws -> String? {
    switch action {
    case "publish": return try fixture.refusal(client, "publish", #""stream":{}"#)
    case "offer to publish", "offer to subscribe":
      let use = action.hasSuffix("publish") ? "publish" : "subscribe"
      let answer = try fixture.offer(
        client, OfferText([("audio", "sendrecv")]).text, #""0":{"\#(use)":"\#(stream)"}"#)
      return answer["code"]?.string
    case "signal": return try fixture.refusal(client, "signal", #""kind":"k","data":"d""#)
    case "unpublish another's": return try fixture.refusal(client, "unpublish", #""stream":"\#(stream)""#)
    case "mute another's": return try fixture.refusal(client, "mute", #""stream":"\#(stream)""#)
    case "mute all": return try fixture.refusal(client, "mute", #""all":true"#)
    case "disconnect": return try fixture.refusal(client, "disconnect", #""connection":"\#(victim.id)""#)
    case "record": return try fixture.refusal(client, "record", #""action":"start""#)
    case "update another's": return try fixture.refusal(client, "update", #""stream":"\#(stream)","has_audio":false"#)
    default: return try fixture.refusal(client, action)
    }
  }

  @Test func `what a moderator names must be there`() throws {
    let fixture = SessionFixture()
    let moderator = try fixture.connect(.moderator)
    for (type, member) in [("unpublish", "stream"), ("mute", "stream"), ("disconnect", "connection")] {
      #expect(try fixture.refusal(moderator, type, #""\#(member)":"\#(Self.nobody)""#) == "not_found")
      #expect(try fixture.refusal(moderator, type, #""\#(member)":5"#) == "invalid")
    }
  }

  @Test func `who comes while all are muted is told`() throws {
    let fixture = SessionFixture()
    let moderator = try fixture.connect(.moderator)
    #expect(try fixture.greeting()["muted"] == nil)
    try fixture.ask(moderator, "mute", #""all":true"#)
    #expect(try fixture.greeting()["muted"]?.bool == true)
    try fixture.ask(moderator, "mute", #""all":true,"active":false"#)
    #expect(try fixture.greeting()["muted"] == nil)
  }

  @Test func `a participant that a moderator disconnects cannot resume`() throws {
    let fixture = SessionFixture()
    let (moderator, victim) = (try fixture.connect(.moderator), try fixture.connect())
    try fixture.ask(moderator, "disconnect", #""connection":"\#(victim.id)""#)
    let last = try #require(fixture.told(victim).last)
    #expect(last["type"]?.string == "closed" && last["code"]?.string == "forced" && last["retry"]?.bool == false)
    #expect(fixture.told(moderator).last?["reason"]?.string == "forced")
    #expect(!fixture.resume(victim, after: 0))
  }
}
