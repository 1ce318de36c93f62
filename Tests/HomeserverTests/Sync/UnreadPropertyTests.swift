import Database
import JSON
import MatrixModel
import Testing

@testable import Homeserver

/// Unread counts, carried on from sync to sync, are those that counting everything from the beginning gives.
@Suite struct UnreadPropertyTests {
  private static let names = (0..<20).map { "u\($0)" }
  /// Histories of one room: each of its users has read, written and come and gone otherwise.
  private static let roundsPerRoom = 15

  @Test func `unread counts equal a recount from scratch over random histories`() async throws {
    let wanted = Trials.count(3_000, long: 100_000)
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
      for name in Self.names where dice.below(5) > 0 {
        let (counted, recounted) = try await counts(of: RoomsFixture.user(name), in: room, fixture)
        #expect(counted == recounted, "seed \(seed), round \(round), \(name)")
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
    case 2..<9: try await move(fixture, actor.userID, room, snapshot, &dice)
    default: try await send(fixture, actor, room, snapshot, &dice)
    }
  }

  private func send(
    _ fixture: SyncFixture, _ actor: Rooms.Actor, _ room: RoomID, _ snapshot: RoomSnapshot, _ dice: inout Dice
  ) async throws {
    let mention = dice.below(4) == 0 ? #","m.mentions":{"user_ids":["@\#(dice.pick(Self.names)):example.org"]}"# : ""
    let root = snapshot.tail.last { $0.threadRoot != nil }?.threadRoot ?? snapshot.tail.first { $0.type == .message }?.eventID
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
    if dice.below(3) == 0 { markers.thread = event.threadRoot?.text ?? "main" }
    do {
      try await fixture.receipts.move(markers, of: user, in: room)
    } catch let error as MatrixError where error.status == 404 || error.status == 400 {
      // Not theirs to see, or of no thread: nothing moved.
    }
  }

  // MARK: Counting

  private func counts(
    of user: UserID, in roomID: RoomID, _ fixture: SyncFixture
  ) async throws -> (counted: UnreadCounts, recounted: UnreadCounts) {
    try await fixture.database.read { transaction in
      let end = fixture.database.committedPosition
      let rows = SyncRows(transaction, completeUpTo: end)
      let account = try AccountSummary.read(of: user, transaction, readAt: end)
      guard let room = try fixture.rooms.cache.snapshot(of: roomID, in: transaction), room.isJoined(user) else {
        return (UnreadCounts(), UnreadCounts())
      }
      let counted = try fixture.unread.counts(of: user, in: room, upTo: end, account, rows)
      let rules = try fixture.pushRules.rules(transaction, of: user)
      let read = try fixture.receipts.readPositions(of: user, in: room.number, rows)
      let events = try RoomLoader(transaction: transaction).events(in: room.number, after: 0, limit: 100_000)
      var recounted = UnreadCounts()
      for event in events where Self.isUnread(event, by: user, events, read) && !account.ignored.contains(event.sender) {
        guard let actions = Self.actions(of: event, room, rules) else { continue }
        recounted.add(actions, in: event.threadRoot?.text ?? "main")
      }
      return (counted, recounted)
    }
  }

  /// By definition, event by event: after the user's last joining, after their receipts, after what they said themselves.
  private static func isUnread(
    _ event: StoredEvent, by user: UserID, _ events: [StoredEvent], _ read: ReadPositions
  ) -> Bool {
    let thread = event.threadRoot?.text ?? "main"
    if read.hasRead(event.position, in: thread) { return false }
    return !events.contains { own in
      guard own.position > event.position, own.sender == user else { return false }
      if own.type == .member, own.stateKey == user.text, !own.isJoining { return false }
      let ownThread = own.threadRoot?.text ?? "main"
      return ownThread == "main" || ownThread == thread
    }
  }

  private static func actions(of event: StoredEvent, _ room: RoomSnapshot, _ rules: PushRuleSet) -> PushActions? {
    PushEvaluator(
      PushEvent(
        type: event.type, stateKey: event.stateKey, sender: event.sender, roomID: room.roomID, eventID: event.eventID,
        content: event.content, memberCount: room.joinedCount, senderPowerLevel: room.powerLevels.level(of: event.sender).value,
        notificationLevels: room[.powerLevels]?.content["notifications"])
    ).actions(of: rules, displayName: room.members[rules.userID]?.event.content["displayname"]?.text)
  }
}
