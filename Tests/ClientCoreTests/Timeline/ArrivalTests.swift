import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// Whatever order things come in, the items end up the same.
@Suite struct ArrivalTests {
  private static let me = UserID(trusted: "@me:test")

  /// A message and a poll with what was said about them, each event once.
  private static let events: [String] = [
    Wire.message("one", "$1", time: 1), PollTests.start("$p", limit: 1), RelationTests.reply("yes", to: "$1", "$reply"),
    Wire.message("root", "$root", time: 3), LiveLocationTests.start("$b")
  ]

  private static let relations: [String] = [
    TimelineTests.edit("two", of: "$1", "$e1", time: 10), TimelineTests.edit("three", of: "$1", "$e2", time: 11),
    TimelineTests.edit("forged", of: "$1", "$e3", by: "@bob:test", time: 12),
    TimelineTests.edit("same time", of: "$1", "$e4", time: 11),
    reaction("👍", "$r1", by: "@bob:test", time: 20), reaction("👍", "$r2", by: "@me:test", time: 21),
    reaction("🎉", "$r3", by: "@bob:test", time: 19), reaction("👍", "$r4", by: "@bob:test", time: 22),
    PollTests.vote(["a"], "$v1", by: "@bob:test", time: 1_700_000_000_100),
    PollTests.vote(["b"], "$v2", by: "@bob:test", time: 1_700_000_000_200),
    PollTests.vote(["a"], "$v3", by: "@me:test", time: 1_700_000_000_100), PollTests.end("$end", time: 1_700_000_000_150),
    RelationTests.threaded("a", in: "$root", "$t1", time: 30), RelationTests.threaded("b", in: "$root", "$t2", time: 31),
    LiveLocationTests.position("geo:1,1", "$p1", of: "$b"),
    LiveLocationTests.position("geo:2,2", "$p2", of: "$b", time: LiveLocationTests.startTime + 2_000),
    LiveLocationTests.stop("$stop")
  ]

  private static let redactions: [String] = ["$e2", "$r1", "$v3", "$t2", "$p2", "$reply"].enumerated().map {
    TimelineTests.redaction(of: $1, "$x\($0)")
  }

  private static func reaction(_ key: String, _ id: String, by sender: String, time: Int) -> String {
    Wire.event(
      "m.reaction", id, by: sender, time: time,
      #"{"m.relates_to":{"rel_type":"m.annotation","event_id":"$1","key":"\#(key)"}}"#)
  }

  private static func snapshot(_ timeline: Timeline) -> [String] {
    timeline.items.map { Snapshot.text($0) }.sorted()
  }

  private static func timeline(now: Int64 = 0) -> Timeline {
    var timeline = Timeline()
    timeline.loadState = .loaded
    timeline.relations.now = now
    return timeline
  }

  private static func applied(_ events: [TimelineEvent], batches: Int, _ random: inout RandomSource) -> Timeline {
    var timeline = timeline()
    var ids = ItemIDs()
    var mirror: [TimelineItem] = []
    var rest = events[...]
    var known: [EventID: ItemID] = [:]
    while !rest.isEmpty {
      let count = min(rest.count, 1 + Int(random.next(below: Int64(batches))))
      let batch = Array(rest.prefix(count))
      rest = rest.dropFirst(count)
      // As a sync brings them, or as a page does.
      let changes =
        random.next(below: 3) == 0
        ? timeline.insertPage(batch, gap: nil, end: "t", ownUserID: me, &ids).changes
        : timeline.append(batch, ownUserID: me, &ids)
      for change in changes { apply(change, to: &mirror) }
      for item in timeline.items {
        guard let event = item.eventID else { continue }
        #expect(known[event, default: item.id] == item.id)
        known[event] = item.id
      }
    }
    #expect(mirror.map { Snapshot.text($0) } == timeline.items.map { Snapshot.text($0) })
    return timeline
  }

  private static func apply(_ change: TimelineChange, to items: inout [TimelineItem]) {
    switch change {
    case .inserted(let index, let new): items.insert(contentsOf: new, at: index)
    case .updated(let index, let item): items[index] = item
    case .removed(let range): items.removeSubrange(range)
    case .reset(let new): items = new
    }
  }

  // Proves J21
  @Test(arguments: 0..<1_000) func `any order of events, edits, reactions, votes and redactions gives the same items`(seed: Int)
  {
    var random = RandomSource(seed: UInt64(seed) &* 15_485_863 &+ 11)
    var some = Self.events
    for event in Self.relations + Self.redactions where random.next(below: 4) > 0 { some.append(event) }
    let read = Wire.read(some)
    var shuffled = read
    for i in shuffled.indices.dropFirst().reversed() { shuffled.swapAt(i, Int(random.next(below: Int64(i + 1)))) }
    // Some come twice.
    shuffled += shuffled.filter { _ in random.next(below: 3) == 0 }
    var straight = Self.timeline()
    var ids = ItemIDs()
    _ = straight.append(read, ownUserID: Self.me, &ids)
    let result = Self.applied(shuffled, batches: 6, &random)
    #expect(Self.snapshot(result) == Self.snapshot(straight))
  }

  // MARK: Echoes

  // Proves T7, W8
  @Test(arguments: 0..<300) func `an own message has one row of one identity, whatever comes first`(seed: Int) {
    var random = RandomSource(seed: UInt64(seed) &* 7_919 &+ 5)
    var host = Host.inRoom()
    host.command(.sending(.send(.test, .text("mine"))))
    let transaction = host.transaction
    let id = host.items().last?.id
    let event = Wire.message("mine", "$mine", by: "@me:test", transaction: transaction)
    let edit = TimelineTests.edit("mine, edited", of: "$mine", "$e", by: "@me:test", time: 1_800_000_000_000)
    let reaction = TimelineTests.reaction("👍", to: "$mine", "$r", by: "@bob:test")
    // The answer to the request, the event and what is said of it, each in its time.
    var steps: [(inout Host) -> Void] = [
      { if $0.request("/send/") != nil { $0.answer("/send/", #"{"event_id":"$mine"}"#) } },
      { $0.sync(Wire.join([event])) }, { $0.sync(Wire.join([edit])) }, { $0.sync(Wire.join([reaction])) }
    ]
    for i in steps.indices.dropFirst().reversed() { steps.swapAt(i, Int(random.next(below: Int64(i + 1)))) }
    for step in steps {
      step(&host)
      #expect(host.items().filter { $0.sender == Self.me }.map { $0.id } == [id].compactMap { $0 })
    }
    #expect(host.texts() == ["one", "mine, edited"])
    #expect(host.items().last?.reactions.count == 1)
  }
}
