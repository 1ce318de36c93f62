import Database
import JSON
import MatrixModel
import Testing

@testable import ServerRooms
@testable import ServerSync

/// Unread counts, carried on from sync to sync, are those that counting everything from the beginning gives.
@Suite struct UnreadPropertyTests {
  private static let names = (0..<60).map { "u\($0)" }
  /// Histories of one room: each of its users has read, written and come and gone otherwise.
  private static let roundsPerRoom = 15

  @Test func `unread counts equal a recount from scratch over random histories`() async throws {
    let wanted = Trials.count(600, long: 100_000)
    var histories = 0
    var seed = Trials.seed
    while histories < wanted {
      histories += try await run(seed: seed)
      seed += 1
    }
    #expect(histories >= wanted)
  }

  /// Answers how many histories were compared.
  private func run(seed: Int) async throws -> Int {
    var dice = Dice(seed: seed)
    var fixture = try SyncFixture()
    let room = try await fixture.base.createRoom(by: Self.names[0], #"{"preset":"public_chat"}"#)
    for name in Self.names.dropFirst() { try await fixture.rooms.join(room, by: RoomsFixture.actor(name)) }
    var compared = 0
    for round in 0..<Self.roundsPerRoom {
      for _ in 0..<(5 + dice.below(30)) { try await step(fixture, room, &dice) }
      if dice.below(4) == 0 { fixture = try fixture.reopened() }
      let readers = Self.names.filter { _ in dice.below(5) > 0 }
      for (name, counts) in try await counts(of: readers, in: room, fixture) {
        #expect(counts.counted == counts.recounted, "seed \(seed), round \(round), \(name)")
        compared += 1
      }
    }
    return compared
  }

  // MARK: What happens

  private func step(_ fixture: SyncFixture, _ room: RoomID, _ dice: inout Dice) async throws {
    let name = dice.pick(Self.names)
    let actor = RoomsFixture.actor(name)
    guard let snapshot = fixture.rooms.cache.cachedSnapshot(of: room) else {
      _ = try await fixture.base.bodies(of: room, for: Self.names[0])
      return
    }
    guard snapshot.isJoined(actor.userID) else { return try await fixture.rooms.join(room, by: actor) }
    switch dice.below(20) {
    case 0 where name != Self.names[0]: try await fixture.rooms.leave(room, by: actor)
    case 1:
      let ignored = #"{"ignored_users":{"@\#(dice.pick(Self.names)):example.org":{}}}"#
      try await fixture.accountData.set(.ignoredUserList, json(ignored), of: actor.userID, in: nil)
    case 2:
      let event = dice.pick(snapshot.tail)
      guard event.type == .message, event.redactedBecause == nil else { return }
      _ = try await fixture.rooms.redact(
        event.eventID, in: room, json("{}"), by: RoomsFixture.actor(Self.names[0]),
        transactionID: TransactionID(trusted: event.eventID.text))
    case 3..<9: try await move(fixture, actor.userID, room, snapshot, &dice)
    default: try await send(fixture, actor, room, snapshot, &dice)
    }
  }

  private func send(
    _ fixture: SyncFixture, _ actor: Rooms.Actor, _ room: RoomID, _ snapshot: RoomSnapshot, _ dice: inout Dice
  ) async throws {
    let mention = dice.below(4) == 0 ? #","m.mentions":{"user_ids":["@\#(dice.pick(Self.names)):example.org"]}"# : ""
    let root = snapshot.tail.last { $0.thread != nil }?.thread ?? snapshot.tail.first { $0.type == .message }?.eventID
    let thread =
      dice.below(3) == 0 ? root.map { #","m.relates_to":{"rel_type":"m.thread","event_id":"\#($0)"}"# } ?? "" : ""
    _ = try await fixture.rooms.send(
      dice.below(6) == 0 ? .reaction : .message, json(#"{"msgtype":"m.text","body":"b"\#(mention)\#(thread)}"#), to: room,
      by: actor, transactionID: TransactionID(trusted: ByteString("\(dice.next())")))
  }

  private func move(
    _ fixture: SyncFixture, _ user: UserID, _ room: RoomID, _ snapshot: RoomSnapshot, _ dice: inout Dice
  ) async throws {
    let event = dice.pick(snapshot.tail)
    var markers = Receipts.Markers()
    if dice.below(2) == 0 { markers.read = event.eventID } else { markers.readPrivate = event.eventID }
    if dice.below(3) == 0 { markers.thread = event.thread?.text ?? "main" }
    do {
      try await fixture.receipts.move(markers, of: user, in: room)
    } catch let error as MatrixError where error.status == 404 || error.status == 400 {
      // Not theirs to see, or of no thread: nothing moved.
    }
  }

  // MARK: Counting

  private struct Counts {
    let counted: UnreadCounts
    let recounted: UnreadCounts
  }

  /// An event with what every reader's recount needs of it.
  private struct Candidate {
    let event: StoredEvent
    let thread: ByteString
    let evaluator: PushEvaluator
  }

  private func counts(
    of names: [String], in roomID: RoomID, _ fixture: SyncFixture
  ) async throws -> [(name: String, counts: Counts)] {
    try await fixture.database.read { transaction in
      let end = fixture.database.committedPosition
      let rows = SyncRows(transaction, completeUpTo: end)
      guard let room = try fixture.rooms.cache.snapshot(of: roomID, in: transaction) else { return [] }
      let events = try RoomLoader(transaction: transaction).events(in: room.number, after: 0, limit: 100_000)
        .map { Candidate(event: $0, thread: $0.thread?.text ?? "main", evaluator: Self.evaluator(of: $0, room)) }
      return try names.compactMap { name in
        let user = RoomsFixture.user(name)
        guard room.isJoined(user) else { return nil }
        let account = try AccountSummary.read(of: user, transaction, readAt: end)
        let counted = try fixture.unread.counts(of: user, in: room, upTo: end, account, rows)
        let rules = try fixture.pushRules.rules(transaction, of: user)
        let read = try fixture.receipts.readPositions(of: user, in: room.number, rows)
        let recounted = Self.recount(events, for: user, read, account.ignored, rules, room)
        return (name, Counts(counted: counted, recounted: recounted))
      }
    }
  }

  /// By definition: what came after the user's receipts and after what they said themselves, in the room or in the thread.
  private static func recount(
    _ events: [Candidate], for user: UserID, _ read: ReadPositions, _ ignored: Set<UserID>, _ rules: PushRuleSet,
    _ room: RoomSnapshot
  ) -> UnreadCounts {
    var said: [ByteString: Int64] = [:]
    for candidate in events where candidate.event.sender == user {
      let isProfile = candidate.event.type == .member && candidate.event.stateKey == user.text && !candidate.event.isJoining
      if !isProfile { said[candidate.thread] = candidate.event.position }
    }
    let displayName = room.members[user]?.event.content["displayname"]?.text
    var counts = UnreadCounts()
    for candidate in events where !ignored.contains(candidate.event.sender) && candidate.event.redactedBecause == nil {
      let position = candidate.event.position
      let isSaid = position <= max(said["main"] ?? 0, said[candidate.thread] ?? 0)
      guard !isSaid, !read.hasRead(position, in: candidate.thread),
        let actions = candidate.evaluator.actions(of: rules, displayName: displayName)
      else { continue }
      counts.add(actions, in: candidate.thread)
    }
    return counts
  }

  private static func evaluator(of event: StoredEvent, _ room: RoomSnapshot) -> PushEvaluator {
    PushEvaluator(
      PushEvent(
        type: event.type, stateKey: event.stateKey, sender: event.sender, roomID: room.roomID, eventID: event.eventID,
        content: event.content, memberCount: room.joinedCount, senderPowerLevel: room.powerLevels.level(of: event.sender).value,
        notificationLevels: room[.powerLevels]?.content["notifications"]))
  }
}
