import Glibc
import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// A homeserver in a few lines: one room, idempotent sends, syncs from any position.
struct TinyServer {
  struct Entry {
    let id: String
    let sender: String
    let body: String
    let transaction: String?
    /// Reactions have no row.
    var isReaction = false
  }

  private(set) var timeline: [Entry] = []
  private var eventOfTransaction: [String: String] = [:]

  @discardableResult
  mutating func append(_ body: String, by sender: String, transaction: String?) -> String {
    if let transaction, let known = eventOfTransaction[transaction] { return known }
    let id = "$e\(timeline.count)"
    timeline.append(Entry(id: id, sender: sender, body: body, transaction: transaction))
    if let transaction { eventOfTransaction[transaction] = id }
    return id
  }

  /// A reaction to the event before.
  mutating func react() {
    let id = "$e\(timeline.count)"
    timeline.append(Entry(id: id, sender: "@bob:test", body: "", transaction: nil, isReaction: true))
  }

  var rows: [Entry] { timeline.filter { !$0.isReaction } }

  private func json(_ i: Int) -> String {
    if timeline[i].isReaction {
      return TimelineTests.reaction("+", to: "$e\(i - 1)", timeline[i].id, by: timeline[i].sender)
    }
    return Wire.message(
      timeline[i].body, timeline[i].id, by: timeline[i].sender, time: 1_700_000_000_000 + i,
      transaction: timeline[i].transaction)
  }

  /// Answer to a sync from `since` (nil: the first), with at most `limit` events.
  func sync(since: Int?, limit: Int) -> String {
    let from = max(since ?? 0, timeline.count - limit)
    let isLimited = from > (since ?? 0)
    let events = (from..<timeline.count).map(json)
    guard since == nil || !events.isEmpty else { return #"{"next_batch":"\#(timeline.count)"}"# }
    let room = Wire.join(
      events, state: since == nil ? Wire.members : [], limited: isLimited, token: from == 0 ? nil : "p\(from)",
      extra: Wire.counts)
    return #"{"next_batch":"\#(timeline.count)","rooms":{"# + room + "}}"
  }

  func page(from position: Int, limit: Int) -> String {
    let start = max(0, position - limit)
    let events = (start..<position).reversed().map(json).joined(separator: ",")
    return #"{"start":"x","chunk":[\#(events)]"# + (start == 0 ? "}" : #","end":"p\#(start)"}"#)
  }
}

/// A client, a server and a network that loses, delays and reorders; the process may die at any moment.
struct World {
  var host: Host
  var server = TinyServer()
  var random: RandomSource
  var written = 0
  var kills = 0
  /// Item ID of each message written in this process.
  var identity: [String: ItemID] = [:]

  init(seed: UInt64) {
    random = RandomSource(seed: seed)
    host = Host.signedIn(seed: seed)
    host.comparesMirrors = true
    serve("/sync?")
    host.command(.timeline(.openRoom(.test)))
    host.writesAtOnce = false
    host.loadsAtOnce = false
  }

  mutating func serve(_ part: String) {
    guard let waiting = host.request(part) else { return }
    let target = waiting.request.target
    if part == "/sync?" {
      host.answer(part, server.sync(since: number(after: "since=", in: target), limit: 3))
    } else if part == "/messages" {
      host.answer(part, server.page(from: number(after: "from=p", in: target) ?? server.timeline.count, limit: 2))
    } else {
      host.answer(part, #"{"event_id":"\#(take(waiting))"}"#)
    }
  }

  /// The server takes the message; its answer is another matter.
  private mutating func take(_ waiting: Host.Waiting) -> String {
    let body = (try? JSON.parse(waiting.request.body ?? []))?["body"]?.string ?? ""
    let transaction = waiting.request.target.split(separator: "/").last.map(String.init) ?? ""
    return server.append(body, by: "@me:test", transaction: transaction)
  }

  private func number(after name: String, in target: String) -> Int? {
    guard let range = target.firstRange(of: name) else { return nil }
    return Int(target[range.upperBound...].prefix { $0.isNumber })
  }

  mutating func step() {
    switch random.next(below: 20) {
    case 0, 1:
      guard written < 40 else { return }
      host.command(.sending(.send(.test, .text(ByteString("m\(written)")))))
      identity["m\(written)"] = host.client.outbox.entries.last?.itemID
      written += 1
    case 2, 3: serve("/send/")
    case 4, 5: serve("/sync?")
    case 6:
      if let waiting = host.request("/send/") {
        _ = take(waiting)
        host.respond("/send/", .networkError)
      }
    case 7: if host.request("/send/") != nil { host.respond("/send/", .networkError) }
    case 8: if host.request("/sync?") != nil { host.respond("/sync?", .networkError) }
    case 9: host.wait(40_000)
    case 10: host.finishWrites(Int(random.next(below: 3)))
    case 11: server.append("other", by: "@alice:test", transaction: nil)
    case 12:
      if let gap = host.items().first(where: { if case .gap = $0.content { true } else { false } }) {
        host.command(.timeline(.fillGap(.test, gap.id)))
        if random.next(below: 2) == 0 { serve("/messages") }
      }
    case 13: server.react()
    case 14: host.command(.timeline(.paginateBack(.test)))
    case 15: serve("/messages")
    case 16: host.finishLoads(Int(random.next(below: 3)))
    case 17: leaveAndComeBack()
    case 18: host.finishLoads()
    default: host.finishWrites()
    }
    checkIdentity()
    checkOrder()
  }

  /// So many rooms are opened meanwhile that the timeline leaves the memory.
  private mutating func leaveAndComeBack() {
    host.command(.timeline(.closeRoom(.test)))
    for n in 0..<Limits.keptTimelines {
      let other = RoomID(trusted: ByteString("!other\(n):test"))
      host.command(.timeline(.openRoom(other)))
      host.command(.timeline(.closeRoom(other)))
    }
    if random.next(below: 2) == 0 { step() }
    // What has come meanwhile is a new item.
    identity = [:]
    host.command(.timeline(.openRoom(.test)))
  }

  mutating func kill() {
    kills += 1
    // Some of the writes under way may have become durable, in their order.
    host.finishWrites(Int(random.next(below: 3)))
    // What the client shows as written is what it has stored: a message not yet durable was never promised.
    let durable = Set(host.store.filter { $0.key.hasPrefix("a/outbox/") }.map { $0.key })
    for entry in host.client.outbox.entries where !durable.contains(StoreKey.outbox(entry.id)) && !entry.isDelivered {
      if case .storing = entry.phase { lost.insert(entry.body) }
    }
    host = host.restarted(seed: random.next())
    host.writesAtOnce = false
    host.loadsAtOnce = false
    host.command(.timeline(.openRoom(.test)))
    identity = [:]
  }

  var lost: Set<String> = []

  /// Counted from the records.
  var storedEvents: Int {
    host.store.filter { $0.key.hasPrefix("t/") }.reduce(0) { sum, record in
      sum + (Segment(StoreRecord(key: record.key, value: record.value))?.events.count ?? 0)
    }
  }

  private mutating func checkIdentity() {
    for item in host.items() {
      guard case .message(let message) = item.content, let known = identity[message.body.string] else { continue }
      if known != item.id { Issue.record("\(message.body) was \(known) and is \(item.id)") }
    }
  }

  /// At any moment: no row twice, and none missing where no gap says so.
  private func checkOrder() {
    let rows = Dictionary(uniqueKeysWithValues: server.rows.enumerated().map { ($1.id, $0) })
    var last: Int?
    var seen: Set<String> = []
    for item in host.items().prefix(host.client.room(.test)?.timeline.remoteCount ?? 0) {
      guard let event = item.eventID, let row = rows[event.string] else {
        last = nil
        continue
      }
      if !seen.insert(event.string).inserted { Issue.record("\(event) stands twice") }
      if let last, row != last + 1 { Issue.record("row \(row) follows row \(last): \(host.texts())") }
      last = row
    }
  }

  /// Lets everything settle on a good network.
  mutating func settle() {
    host.writesAtOnce = true
    host.loadsAtOnce = true
    host.finishWrites()
    host.finishLoads()
    for _ in 0..<400 {
      let before = host.texts().count
      if host.request("/send/") != nil { serve("/send/") }
      if host.request("/messages") != nil { serve("/messages") }
      serve("/sync?")
      if let gap = host.items().first(where: { if case .gap = $0.content { true } else { false } }) {
        host.command(.timeline(.fillGap(.test, gap.id)))
      } else if host.client.room(.test)?.timeline.backState == .idle {
        host.command(.timeline(.paginateBack(.test)))
      }
      host.wait(31_000)
      checkOrder()
      if before == host.texts().count, host.client.outbox.entries.isEmpty, host.request("/messages") == nil,
        host.client.room(.test)?.timeline.backState == .atStart, !host.texts().contains(where: { $0.hasPrefix("[gap") })
      {
        break
      }
    }
  }
}

/// More of them, for a night: MARTLET_LONG=1.
private let worlds = getenv("MARTLET_LONG") == nil ? 50 : 20_000

@Suite struct RestartTests {
  @Test(arguments: 0..<worlds) func `no kill and no interleaving loses or doubles a message`(seed: Int) {
    var world = World(seed: UInt64(seed) &* 7919 &+ 1)
    for _ in 0..<10 {
      for _ in 0..<(5 + Int(world.random.next(below: 20))) { world.step() }
      world.kill()
    }
    world.settle()
    // On the server every message stands once, those not lost before they were stored all do, in the order written.
    let mine = world.server.timeline.filter { $0.sender == "@me:test" }.map { $0.body }
    #expect(Set(mine).count == mine.count)
    let expected = (0..<world.written).map { "m\($0)" }.filter { !world.lost.contains($0) || mine.contains($0) }
    #expect(mine == expected)
    // The timeline shows what the server has, each event once, in its order.
    #expect(world.host.texts() == world.server.rows.map { $0.body })
    // All of it is in the store: without a server it is there again, page by page.
    var offline = world.host.restarted()
    offline.command(.timeline(.openRoom(.test)))
    for _ in 0..<100 { offline.command(.timeline(.paginateBack(.test))) }
    #expect(offline.texts() == world.server.rows.map { $0.body })
    #expect(offline.request("/messages") == nil)
    #expect(offline.client.room(.test)?.timeline.backState == .atStart)
    let stored = offline.client.room(.test)?.state.history.events
    #expect(stored == offline.client.storedEvents.count)
    #expect(stored == world.storedEvents)
    #expect(Set(world.host.items().map { $0.id }).count == world.host.items().count)
    #expect(world.host.store.keys.allSatisfy { !$0.hasPrefix("a/outbox/") })
    #expect(world.kills == 10)
  }
}
