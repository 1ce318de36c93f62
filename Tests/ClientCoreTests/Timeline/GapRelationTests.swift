import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// What is said of events by others that come by another way: in gaps, on older pages, around a link, after a rest.
@Suite struct GapRelationTests {
  private static let bob = "@bob:test"

  private static func reactions(_ items: [TimelineItem]) -> [String] {
    items.map { item in item.reactions.map { "\($0.key)\($0.count)" }.joined() }
  }

  @Test func `votes count that stand in a gap, or came while one rested`() throws {
    var host = Host.inRoom([PollTests.start("$p")])
    host.command(.pause)
    host.command(.resume)
    host.sync(Wire.join([PollTests.vote(["a"], "$v1", by: Self.bob)], limited: true, token: "t5"))
    #expect(PollTests.result(host) == "a:1 b:0 of 1")
    let gap = try #require(host.items().last)
    host.command(.fillGap(.test, gap.id))
    host.answer(
      "/messages", TimelineTests.page([PollTests.vote(["b"], "$v0", by: "@alice:test"), PollTests.start("$p")], end: "t4"))
    #expect(PollTests.result(host) == "a:1 b:1 of 2")
  }

  @Test func `reactions in a gap and on older pages count`() {
    var host = Host.inRoom()
    host.sync(Wire.join([Wire.message("five", "$5")], limited: true, token: "t5"))
    host.command(.fillGap(.test, host.items()[1].id))
    host.answer(
      "/messages",
      TimelineTests.page(
        [
          TimelineTests.reaction("👍", to: "$1", "$r1", by: Self.bob),
          TimelineTests.reaction("🎉", to: "$4", "$r4", by: Self.bob),
          Wire.message("four", "$4"), Wire.message("one", "$1")
        ], end: "t1"))
    #expect(host.texts() == ["one", "four", "five"])
    #expect(Self.reactions(host.items()) == ["👍1", "🎉1", ""])
    host.command(.paginateBack(.test))
    host.answer(
      "/messages",
      TimelineTests.page(
        [TimelineTests.reaction("🐢", to: "$0", "$r0", by: Self.bob), Wire.message("zero", "$0")], end: nil))
    #expect(Self.reactions(host.items()) == ["🐢1", "👍1", "🎉1", ""])
  }

  @Test func `reactions that stand around a link count, and those that the room has from its gap`() {
    var host = Host.inRoom()
    host.sync(
      Wire.join([TimelineTests.reaction("👍", to: "$50", "$r1", by: "@me:test")], limited: true, token: "t5"))
    let key = TimelineKey(.test, .event(EventID(trusted: "$50")))
    host.command(.openTimeline(key))
    let after = TimelineTests.reaction("👍", to: "$50", "$r2", by: Self.bob)
    host.answer(
      "/context/",
      #"{"event":\#(Wire.message("fifty", "$50")),"events_before":[],"events_after":[\#(after)],"start":"s","end":"e"}"#)
    #expect(host.texts(key) == ["fifty"])
    #expect(Self.reactions(host.items(key)) == ["👍2"])
  }
}
