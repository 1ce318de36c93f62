import JSON
import MatrixModel
import Testing

@testable import CallServer

@Suite struct SessionEventTests {
  /// What an application's server would be told, in OpenTok's words.
  private func told(_ fixture: SessionFixture) -> [JSON] {
    defer { fixture.happened = [] }
    return fixture.happened.map {
      try! JSON.parse($0.body(of: SessionFixture.session, of: ProjectID(trusted: "4000"), at: 1_700_000_000_000))
    }
  }

  @Test func `connections and streams come and go, each told once with what it is and why`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(.moderator, data: "Alice"), try fixture.connect(data: "Bob"))
    let created = told(fixture)
    #expect(created.map { $0["event"]?.string } == ["connectionCreated", "connectionCreated"])
    #expect(created[1]["connection"]?["id"]?.string == bob.id.string && created[1]["connection"]?["data"]?.string == "Bob")
    #expect(created[1]["sessionId"]?.string == "1_test" && created[1]["projectId"]?.string == "4000")
    #expect(created[1]["timestamp"]?.integer == 1_700_000_000_000)

    let stream = try fixture.publish(bob, #""name":"a talk","video_type":"screen""#)
    let published = told(fixture)
    #expect(published.map { $0["event"]?.string } == ["streamCreated"])
    #expect(published[0]["stream"]?["id"]?.string == stream.string && published[0]["stream"]?["name"]?.string == "a talk")
    #expect(published[0]["stream"]?["videoType"]?.string == "screen")
    #expect(published[0]["stream"]?["connection"]?["data"]?.string == "Bob")

    try fixture.ask(alice, "unpublish", #""stream":"\#(stream)""#)
    let ended = told(fixture)
    #expect(ended.map { $0["event"]?.string } == ["streamDestroyed"])
    #expect(ended[0]["reason"]?.string == "forceUnpublished")

    try fixture.ask(alice, "disconnect", #""connection":"\#(bob.id)""#)
    #expect(told(fixture).map { $0["reason"]?.string } == ["forceDisconnected"])
  }

  @Test func `who is lost takes the stream along; the end of all ends everything`() throws {
    let fixture = SessionFixture()
    let alice = try fixture.connect()
    _ = try fixture.publish(alice)
    let bob = try fixture.connect()
    _ = told(fixture)
    fixture.lose(alice)
    #expect(told(fixture).isEmpty)
    fixture.pass(CallLimits.resumeMilliseconds)
    let lost = told(fixture)
    #expect(lost.map { $0["event"]?.string } == ["streamDestroyed", "connectionDestroyed"])
    #expect(lost.allSatisfy { $0["reason"]?.string == "networkDisconnected" })
    _ = try fixture.publish(bob)
    _ = told(fixture)
    fixture.state.endAll(CallRefusal(.ended, "The session is over."))
    fixture.collect()
    #expect(told(fixture).map { $0["event"]?.string } == ["streamDestroyed", "connectionDestroyed"])
  }
}
