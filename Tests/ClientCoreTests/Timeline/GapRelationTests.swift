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
    host.command(.sync(.pause))
    host.command(.sync(.resume))
    host.sync(Wire.join([PollTests.vote(["a"], "$v1", by: Self.bob)], limited: true, token: "t5"))
    #expect(PollTests.result(host) == "a:1 b:0 of 1")
    let gap = try #require(host.items().last)
    host.command(.timeline(.fillGap(.test, gap.id)))
    host.answer(
      "/messages", TimelineTests.page([PollTests.vote(["b"], "$v0", by: "@alice:test"), PollTests.start("$p")], end: "t4"))
    #expect(PollTests.result(host) == "a:1 b:1 of 2")
  }

  @Test func `reactions in a gap and on older pages count`() {
    var host = Host.inRoom()
    host.sync(Wire.join([Wire.message("five", "$5")], limited: true, token: "t5"))
    host.command(.timeline(.fillGap(.test, host.items()[1].id)))
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
    host.command(.timeline(.paginateBack(.test)))
    host.answer(
      "/messages",
      TimelineTests.page(
        [TimelineTests.reaction("🐢", to: "$0", "$r0", by: Self.bob), Wire.message("zero", "$0")], end: nil))
    #expect(Self.reactions(host.items()) == ["🐢1", "👍1", "🎉1", ""])
  }

  private static let four = Wire.message("four", "$4")
  private static let reaction = TimelineTests.reaction("a", to: "$1", "$r", by: "@alice:test")

  /// A receipt may name an event without an item, which stands at the item before it: at a gap, until what is there is known.
  @Test(arguments: [
    // Nothing was missing; what was missing had no items; it had one; it came in two pages.
    (pages: [[ReadingTests.three[2]]], behindGap: "$3", inGap: nil),
    ([[reaction, ReadingTests.three[2]]], "$3", "$3"),
    ([[reaction, four, ReadingTests.three[2]]], "$4", "$4"),
    ([[four], [reaction, ReadingTests.three[2]]], "$4", "$3"),
    ([[reaction], [four, ReadingTests.three[2]]], "$4", "$4")
  ])
  func `who has read up to an event in or behind a gap has read what turns out to stand before it`(
    pages: [[String]], behindGap: String, inGap: String?
  ) throws {
    for (read, expected) in [("$r5", behindGap), ("$r", inGap)] {
      guard let expected else { continue }
      var host = Host.inRoom(ReadingTests.three)
      let behind = TimelineTests.reaction("b", to: "$1", "$r5", by: "@alice:test")
      let receipt = ReadingTests.receipt(read, Self.bob)
      host.sync(Wire.join([behind, Wire.message("six", "$6")], limited: true, token: "t5", extra: receipt))
      for (number, page) in pages.enumerated() {
        let gap = try #require(host.items().first { if case .gap = $0.content { true } else { false } })
        host.command(.timeline(.fillGap(.test, gap.id)))
        host.answer("/messages", TimelineTests.page(page, end: "p\(number)"))
      }
      let room = try #require(host.client.room(.test))
      let place = room.timeline.items.first { room.timeline.readers(at: $0.id).contains(UserID(trusted: ByteString(Self.bob))) }
      #expect(place?.eventID?.string == expected, "read \(read)")
      #expect(host.items().allSatisfy { $0.eventID != nil }, "the gap is closed")
    }
  }

  @Test func `reactions that stand around a link count, and those that the room has from its gap`() {
    var host = Host.inRoom()
    host.sync(
      Wire.join([TimelineTests.reaction("👍", to: "$50", "$r1", by: "@me:test")], limited: true, token: "t5"))
    let key = TimelineKey(.test, .event(EventID(trusted: "$50")))
    host.command(.timeline(.open(key)))
    let after = TimelineTests.reaction("👍", to: "$50", "$r2", by: Self.bob)
    host.answer(
      "/context/",
      #"{"event":\#(Wire.message("fifty", "$50")),"events_before":[],"events_after":[\#(after)],"start":"s","end":"e"}"#)
    #expect(host.texts(key) == ["fifty"])
    #expect(Self.reactions(host.items(key)) == ["👍2"])
  }
}
