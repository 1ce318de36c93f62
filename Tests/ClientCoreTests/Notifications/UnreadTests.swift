import Glibc
import JSON
import MatrixModel
import Testing

@testable import ClientCore

/// More histories, for a night: MARTLET_LONG=1.
private let histories = getenv("MARTLET_LONG") == nil ? 24 : 600

/// Counting in encrypted rooms, and ahead of the server.
@Suite struct UnreadTests {
  static let encrypted = [Wire.event("m.room.encryption", "$enc", #"{"algorithm":"m.megolm.v1.aes-sha2"}"#, stateKey: "")]

  /// Every event of the room so far, and what was read of it: counted over and over from the beginning, as the server does.
  struct Model {
    var events: [(id: String, json: String, thread: String?)] = []
    /// By `private/thread`; the position that it covers.
    var receipts: [String: (thread: String?, event: String)] = [:]

    func counts(_ client: Client) -> UnreadCounts {
      var counts = UnreadCounts()
      var redacted: Set<String> = []
      for event in events {
        let json = VerdictTests.json(event.json)
        if json["type"]?.string == "m.room.redaction", let target = json["content"]?["redacts"]?.string {
          redacted.insert(target)
        }
      }
      func position(_ id: String) -> Int { events.firstIndex { $0.id == id } ?? -1 }
      for (place, event) in events.enumerated() {
        let json = VerdictTests.json(event.json)
        guard let read = Event(json), read.sender?.string != "@me:test", !redacted.contains(event.id) else { continue }
        let isRead = receipts.values.contains { receipt in
          (receipt.thread == nil || receipt.thread == event.thread ?? "main") && position(receipt.event) >= place
        }
        let isAnswered = events[place...].contains { later in
          VerdictTests.json(later.json)["sender"]?.string == "@me:test" && (later.thread == nil || later.thread == event.thread)
        }
        if isRead || isAnswered { continue }
        guard let actions = client.pushActions(for: read, in: .test) else { continue }
        counts.add(actions, in: event.thread.flatMap { EventID($0) })
      }
      return counts
    }
  }

  // Proves B4, J40, W5
  @Test(arguments: 0..<histories) func `the figure is that of a count from scratch`(seed: Int) {
    var random = RandomSource(seed: UInt64(seed) &+ 5)
    func draw(_ bound: Int) -> Int { Int(random.next(below: Int64(bound))) }
    var host = Host.signedIn(seed: UInt64(seed))
    host.comparesMirrors = false
    host.sync(
      Wire.join(state: Wire.members + Self.encrypted, extra: Wire.counts),
      extra: PushRuleSyncTests.accountData(PushRuleSet(defaultsFor: UserID(trusted: "@me:test"))))
    var model = Model()
    for step in 0..<40 {
      var events: [String] = []
      var extra = ""
      var account = ""
      for _ in 0..<draw(4) { events.append(Self.event(&model, &random)) }
      if draw(3) == 0, let target = model.events.isEmpty ? nil : model.events[draw(model.events.count)].id {
        extra += Self.receipt(target, &model, &random)
      }
      if draw(12) == 0 { extra += #","summary":{"m.joined_member_count":\#(2 + draw(2))}"# }
      if draw(12) == 0 {
        account = PushRuleSyncTests.accountData(
          draw(2) == 0 ? PushRuleSyncTests.muted : PushRuleSet(defaultsFor: UserID(trusted: "@me:test")))
      }
      host.sync(Wire.join(events, limited: false, token: nil, extra: extra), extra: account)
      if draw(10) == 0 {
        host = host.restarted(seed: UInt64(step) &+ 100)
        host.comparesMirrors = false
      }
      let expected = model.counts(host.client)
      #expect(host.client.room(.test)?.unreadCounts == expected, "step \(step)")
      host.command(.reading(.explainUnread(.test)), id: 77)
      guard case .unread(let evidence) = host.finished[77] else { return #expect(Bool(false), "not explained") }
      #expect(evidence.counts == expected)
      #expect(evidence.items.count == min(expected.total.notifications, UnreadEvidence.itemsLimit))
      #expect(evidence.items.count { $0.isHighlight } == expected.total.highlights)
      if host.client.room(.test)?.unreadCounts != expected { return }
    }
  }

  // Proves B4
  @Test func `what makes a room unread is named with the rule that says so, up to what was read`() throws {
    var host = Host.signedIn(seed: 3)
    host.sync(
      Wire.join(state: Wire.members + Self.encrypted, extra: Wire.counts),
      extra: PushRuleSyncTests.accountData(PushRuleSet(defaultsFor: UserID(trusted: "@me:test"))))
    func said(_ id: String, _ time: Int, _ more: String = "") -> String {
      Wire.event("m.room.message", id, by: "@alice:test", time: time, #"{"msgtype":"m.text","body":"\#(id)"\#(more)}"#)
    }
    host.sync(
      Wire.join(
        [
          said("$read", 5), said("$plain", 6), said("$named", 7, #","m.mentions":{"user_ids":["@me:test"]}"#),
          said("$thread", 8, #","m.relates_to":{"rel_type":"m.thread","event_id":"$plain"}"#),
          Wire.event(
            "m.reaction", "$thumb", by: "@alice:test", time: 9,
            #"{"m.relates_to":{"rel_type":"m.annotation","event_id":"$read","key":"+"}}"#)
        ], limited: false, token: nil,
        extra: #","ephemeral":{"events":[{"type":"m.receipt","content":{"$read":{"m.read":{"@me:test":{"ts":5}}}}}]}"#))
    host.command(.reading(.explainUnread(.test)), id: 77)
    guard case .unread(let evidence) = host.finished[77] else { throw CancellationError() }
    #expect(evidence.items.map { $0.eventID.string } == ["$thread", "$named", "$plain"])
    #expect(evidence.items.map { $0.ruleID.string } == [".m.rule.message", ".m.rule.is_user_mention", ".m.rule.message"])
    #expect(evidence.items.map { $0.isHighlight } == [false, true, false])
    #expect(evidence.items.map { $0.threadRoot?.string } == ["$plain", nil, nil])
    #expect(evidence.readUpTo?.string == "$read" && evidence.readUntilMilliseconds == 5)
    host.command(.reading(.explainUnread(RoomID(trusted: "!elsewhere:test"))), id: 78)
    guard case .failed(.unknownRoom) = host.finished[78] else { throw CancellationError() }
  }

  // Proves W6
  @Test(arguments: 0..<60) func `slow stores, pauses and kills leave the figure as it is`(seed: Int) {
    var random = RandomSource(seed: UInt64(seed) &+ 9)
    func draw(_ bound: Int) -> Int { Int(random.next(below: Int64(bound))) }
    var host = Host.signedIn(seed: UInt64(seed))
    var model = Model()
    var answers = [Wire.join(state: Wire.members + Self.encrypted, extra: Wire.counts)]
    func serve() {
      guard let target = host.request("/sync?")?.request.target else { return }
      let place = target.firstRange(of: "since=s").flatMap { Int(target[$0.upperBound...].prefix { $0.isNumber }) } ?? 0
      host.batch = place
      if place < answers.count { host.sync(answers[place]) }
    }
    serve()
    for step in 0..<60 {
      host.writesAtOnce = false
      host.loadsAtOnce = false
      host.comparesMirrors = false
      switch draw(8) {
      case 0, 1:
        let events = (0..<draw(4)).map { _ in Self.event(&model, &random) }
        let target = draw(2) == 0 && !model.events.isEmpty ? model.events[draw(model.events.count)].id : nil
        let receipt = target.map { Self.receipt($0, &model, &random) } ?? ""
        answers.append(Wire.join(events, limited: false, token: nil, extra: receipt))
      case 2, 3: serve()
      case 4: host.finishWrites(1)
      case 5: host.finishLoads(1)
      case 6: host.command(host.client.isPaused ? .sync(.resume) : .sync(.pause))
      default: if draw(3) == 0 { host = host.restarted(seed: UInt64(step) &+ 100) }
      }
    }
    if host.client.isPaused { host.command(.sync(.resume)) }
    for _ in 0...answers.count {
      host.finishWrites()
      host.finishLoads()
      serve()
    }
    #expect(host.client.room(.test)?.unreadCounts == model.counts(host.client))
  }

  static func event(_ model: inout Model, _ random: inout RandomSource) -> String {
    let id = "$e\(model.events.count)"
    func draw(_ bound: Int) -> Int { Int(random.next(below: Int64(bound))) }
    let sender = ["@alice:test", "@bob:test", "@alice:test", "@bob:test", "@me:test"][draw(5)]
    let time = 1_700_000_000_000 + model.events.count
    let roots = model.events.filter { $0.thread == nil }.map { $0.id }
    let thread = draw(4) == 0 && !roots.isEmpty ? roots[draw(roots.count)] : nil
    let relation = thread.map { #","m.relates_to":{"rel_type":"m.thread","event_id":"\#($0)"}"# } ?? ""
    let mention = draw(4) == 0 ? #","m.mentions":{"user_ids":["@me:test"]}"# : ""
    let json: String
    var place = thread
    switch draw(8) {
    case 0 where !model.events.isEmpty:
      place = nil
      let target = model.events[draw(model.events.count)].id
      json = Wire.event("m.room.redaction", id, by: sender, time: time, #"{"redacts":"\#(target)"}"#)
    case 1: json = Wire.event("m.room.message", id, by: sender, time: time, #"{"msgtype":"m.notice","body":"x"\#(relation)}"#)
    case 2...4:
      json = Wire.event(
        "m.room.message", id, by: sender, time: time, #"{"msgtype":"m.text","body":"x"\#(relation)\#(mention)}"#)
    default:
      json = Wire.event(
        "m.room.encrypted", id, by: sender, time: time,
        #"{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":"x"\#(relation)}"#)
    }
    model.events.append((id, json, place))
    return json
  }

  static func receipt(_ target: String, _ model: inout Model, _ random: inout RandomSource) -> String {
    let isPrivate = random.next(below: 3) == 0
    var threads: [String?] = [nil, nil, "main"]
    if let own = model.events.first(where: { $0.id == target })?.thread { threads.append(own) }
    let thread = threads[Int(random.next(below: Int64(threads.count)))]
    model.receipts["\(isPrivate)/\(thread ?? "")"] = (thread, target)
    let kind = isPrivate ? "m.read.private" : "m.read"
    let member = thread.map { #","thread_id":"\#($0)""# } ?? ""
    return
      #","ephemeral":{"events":[{"type":"m.receipt","content":{"\#(target)":{"\#(kind)":{"@me:test":{"ts":1\#(member)}}}}}]}"#
  }

  // MARK: Single steps

  static func inRoom() -> Host {
    var host = Host.signedIn()
    host.sync(Wire.join([Wire.message("one", "$1")], state: Wire.members + encrypted, extra: Wire.counts))
    return host
  }

  @Test func `in an encrypted room the own figure holds, not the server's`() {
    var host = Self.inRoom()
    #expect(host.client.room(.test)?.notificationCount == 1)
    host.sync(
      Wire.join(
        [Wire.event("m.room.encrypted", "$2", #"{"ciphertext":"x"}"#), Wire.message("gone", "$3")],
        extra: ReadingTests.unread(0)))
    #expect(host.client.room(.test)?.notificationCount == 3)
    #expect(host.restarted().client.room(.test)?.notificationCount == 3)
    host.sync(Wire.join([Wire.event("m.room.redaction", "$4", #"{"redacts":"$3"}"#)]))
    #expect(host.client.room(.test)?.notificationCount == 2)
    host.sync(Wire.join(extra: ReadingTests.receipt("$2", "@me:test")))
    #expect(host.client.room(.test)?.notificationCount == 0)
  }

  @Test func `what is read ahead of the server is counted by the rules`() {
    var host = Host.inRoom([Wire.message("one", "$1")])
    let notice = Wire.event("m.room.message", "$3", #"{"msgtype":"m.notice","body":"quiet"}"#)
    let mention = Wire.event(
      "m.room.message", "$4", #"{"msgtype":"m.text","body":"Me","m.mentions":{"user_ids":["@me:test"]}}"#)
    host.sync(
      Wire.join([Wire.message("two", "$2"), notice, mention], extra: ReadingTests.unread(3, highlights: 1)))
    host.command(.reading(.viewed(.test, upTo: host.items()[0].id)))
    // The notice calls for none.
    #expect(host.client.room(.test)?.notificationCount == 2)
    #expect(host.client.room(.test)?.highlightCount == 1)
    host.command(.reading(.viewed(.test, upTo: host.items()[3].id)))
    #expect(host.client.room(.test)?.notificationCount == 0)
  }

  @Test func `while a room is read as it is written, the store is read once for each receipt`() {
    var host = Host.inRoom([Wire.message("one", "$1")])
    host.sync(Wire.join([Wire.message("two", "$2")], extra: ReadingTests.unread(1)))
    host.command(.reading(.viewed(.test, upTo: host.items()[1].id)))
    host.loads = []
    func write(_ numbers: ClosedRange<Int>) {
      for number in numbers {
        let notice = Wire.event("m.room.message", "$\(number)", #"{"msgtype":"m.notice","body":"quiet"}"#)
        host.sync(Wire.join([notice], extra: ReadingTests.unread(9)))
      }
    }
    write(3...6)
    host.answer("/read_markers", "{}")
    write(7...9)
    #expect(host.loads.isEmpty)
    #expect(host.client.room(.test)?.notificationCount == 7)
    host.wait(1000)
    #expect(host.loads.count == 1)
    // Notices call for none.
    #expect(host.client.room(.test)?.notificationCount == 0)
  }

  // Proves P2
  @Test func `threads have figures of their own where the server tells them apart`() {
    var host = Host.inRoom()
    #expect(host.request("/sync?")?.request.target.contains("unread_thread_notifications") == true)
    host.sync(
      Wire.join(
        extra: ReadingTests.unread(2, highlights: 1)
          + #","unread_thread_notifications":{"$1":{"notification_count":3,"highlight_count":2}}"#))
    let room = host.client.room(.test)
    #expect(room?.notificationCount == 5 && room?.highlightCount == 3)
    #expect(room?.unreadCounts.threads[EventID(trusted: "$1")]?.notifications == 3)
    #expect(room?.unreadCounts.main.notifications == 2)
    #expect(host.restarted().client.room(.test)?.unreadCounts == room?.unreadCounts)
    host.sync(Wire.join(extra: ReadingTests.unread(0)))
    #expect(host.client.room(.test)?.notificationCount == 0)
  }

  @Test func `own receipts are kept within a bound`() {
    var receipts = OwnReceipts()
    for number in 0...Limits.ownReceipts {
      _ = receipts.set(.init(isPrivate: false, thread: ByteString("$\(number)"), event: EventID(trusted: "$e")))
    }
    #expect(receipts.all.count == Limits.ownReceipts)
    let isNew = receipts.set(.init(isPrivate: false, thread: nil, event: EventID(trusted: "$e")))
    let isNewAgain = receipts.set(.init(isPrivate: false, thread: nil, event: EventID(trusted: "$e")))
    #expect(isNew && !isNewAgain)
    #expect(receipts.all.count == Limits.ownReceipts)
  }
}
