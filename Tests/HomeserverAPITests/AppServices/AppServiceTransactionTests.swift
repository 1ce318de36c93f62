import JSON
import MatrixModel
import Telemetry
import Testing

@testable import Homeserver
@testable import ServerPush
@testable import ServerRooms

@Suite struct AppServiceTransactionTests {
  @Test func `a service hears of the rooms that its users are in, from the join to the leave`() async throws {
    try await AppServiceFixture.run { service in
      let room = try await service.room()
      try await service.say("too early", in: room)
      #expect(try await service.register("_tea_pot").status == 200)
      #expect(try await service.call(.post, "rooms/\(room)/join", as: "_tea_pot", "{}").status == 200)
      try await service.say("hello", in: room)
      #expect(try await service.call(.post, "rooms/\(room)/leave", as: "_tea_pot", "{}").status == 200)
      try await service.say("too late", in: room)
      let transactions = try await service.sent()
      #expect(transactions.count == 1)
      let transaction = try #require(transactions.first)
      #expect(transaction.method == "PUT" && transaction.path == "/_matrix/app/v1/transactions/1")
      #expect(transaction.authorization == "Bearer " + AppServiceFixture.serverToken)
      #expect(transaction.bodies == ["hello"])
      #expect(transaction.types == ["m.room.member", "m.room.message", "m.room.member"])
      let event = try #require(transaction.json["events"]?.elements.first { _ in true })
      #expect(event["state_key"]?.string == "@_tea_pot:example.org" && event["room_id"]?.string != nil)
      #expect(event["event_id"]?.string != nil && event["origin_server_ts"]?.integer != nil)
      #expect(try await service.sent().isEmpty)
    }
  }

  @Test func `a service hears of rooms by their alias and by their ID, and of its invited users`() async throws {
    try await AppServiceFixture.run({ registration in
      registration.aliases.append(.init(isExclusive: false, expression: "#public:.*"))
    }) { service in
      let byAlias = try await service.room(#","room_alias_name":"public""#)
      let other = try await service.room()
      try await service.say("heard", in: byAlias)
      try await service.say("not heard", in: other)
      #expect(try await service.register("_tea_cup").status == 200)
      _ = try await service.fixture.call(
        .post, "rooms/\(other)/invite", as: service.ann, #"{"user_id":"@_tea_cup:example.org"}"#)
      try await service.say("not in yet", in: other)
      let transactions = try await service.sent()
      #expect(transactions.flatMap(\.bodies) == ["heard"])
      #expect(transactions.flatMap(\.types).filter { $0 == "m.room.create" }.count == 1)
      let invites = transactions.flatMap { $0.json["events"]?.elements.map { $0 } ?? [] }.filter {
        $0["content"]?["membership"]?.string == "invite"
      }
      #expect(invites.count == 1)
    }
  }

  @Test func `a transaction that is not taken comes again as it was, before anything else`() async throws {
    try await AppServiceFixture.run({ $0.rooms = [.init(isExclusive: false, expression: ".*")] }) { service in
      let room = try await service.room()
      _ = try await service.sent()
      service.peer.answers { _ in (500, "{}") }
      try await service.say("one", in: room)
      let first = try #require(try await service.sent().first)
      try await service.say("two", in: room)
      #expect(try await service.sent().isEmpty)
      service.fixture.advance(milliseconds: 1_000)
      let second = try #require(try await service.sent().first)
      #expect(second.path == first.path && second.json.bytes.elementsEqual(first.json.bytes))
      service.peer.answers { _ in (200, "{}") }
      service.fixture.advance(milliseconds: 2_000)
      let rest = try await service.sent()
      #expect(rest.map(\.bodies) == [["one"], ["two"]])
      #expect(rest.first?.path == first.path && rest.last?.path != first.path)
    }
  }

  @Test func `a restart goes on where the service was, by who was in the rooms then`() async throws {
    try await AppServiceFixture.run { service in
      let room = try await service.room()
      #expect(try await service.register("_tea_pot").status == 200)
      _ = try await service.call(.post, "rooms/\(room)/join", as: "_tea_pot", "{}")
      _ = try await service.sent()
      service.peer.answers { _ in (503, "{}") }
      try await service.say("one", in: room)
      let failed = try #require(try await service.sent().first)
      try await service.say("two", in: room)
      _ = try await service.call(.post, "rooms/\(room)/leave", as: "_tea_pot", "{}")
      try await service.say("three", in: room)
      service.peer.answers { _ in (200, "{}") }
      service.fixture.advance(milliseconds: 1_000)
      await service.fixture.homeserver.shutdown()
      let restarted = try Homeserver(service.fixture.homeserver.configuration, log: Log("test"))
      let delivery = try #require(restarted.appServiceWorkers.deliveries.first)
      while try await delivery.step() == .sent {}
      let sent = service.peer.take()
      #expect(sent.first?.path == failed.path)
      #expect(sent.map(\.bodies) == [["one"], ["two"]])
      await restarted.shutdown()
    }
  }

  @Test func `many events are many transactions of a bounded size`() async throws {
    try await AppServiceFixture.run({ $0.rooms = [.init(isExclusive: false, expression: ".*")] }) { service in
      let room = try await service.room()
      _ = try await service.sent()
      for number in 0..<(AppServiceDelivery.eventsLimit + 1) { try await service.say("\(number)", in: room) }
      let sent = try await service.sent()
      #expect(sent.map(\.bodies.count) == [AppServiceDelivery.eventsLimit, 1])
    }
  }

  @Test func `typing and receipts are told to who wants them`() async throws {
    for wants in [true, false] {
      try await AppServiceFixture.run({ registration in
        registration.rooms = [.init(isExclusive: false, expression: ".*")]
        registration.receivesEphemeral = wants
      }) { service in
        let room = try await service.room()
        let event = PercentEncoding.encode(ByteString(try await service.say("hello", in: room)))
        _ = try await service.sent()
        _ = try await service.fixture.call(
          .put, "rooms/\(room)/typing/%40ann%3Aexample.org", as: service.ann, #"{"typing":true,"timeout":30000}"#)
        _ = try await service.fixture.call(.post, "rooms/\(room)/receipt/m.read/\(event)", as: service.ann, "{}")
        _ = try await service.fixture.call(.post, "rooms/\(room)/receipt/m.read.private/\(event)", as: service.ann, "{}")
        let sent = try await service.sent()
        #expect(sent.isEmpty == !wants)
        let typing = sent.flatMap { $0.ephemeral("m.typing") }
        #expect(
          typing.compactMap { $0["content"]?["user_ids"]?.elements.compactMap(\.string) }
            == (wants ? [["@ann:example.org"]] : []))
        #expect(typing.allSatisfy { $0["room_id"]?.string != nil })
        let receipts = sent.flatMap { $0.ephemeral("m.receipt") }
        #expect(receipts.count == (wants ? 1 : 0))
        for receipt in receipts {
          let kinds = receipt["content"]?.members.first { _ in true }?.value
          #expect(kinds?["m.read"]?["@ann:example.org" as ByteString]?["ts"]?.integer == 1_700_000_000_000)
          // Nobody else's service hears of what was read in private.
          #expect(kinds?["m.read.private"] == nil)
        }
      }
    }
  }

  /// Says how a user is, and has it told.
  private func show(_ presence: String, of user: APIFixture.User, _ service: AppServiceFixture) async throws {
    let path = "presence/\(PercentEncoding.encode(user.userID.text))/status"
    let answer = try await service.fixture.call(
      .put, path, as: user, #"{"presence":"\#(presence)","status_msg":"is \#(presence)"}"#)
    #expect(answer.status == 200)
    service.fixture.homeserver.presence.flush()
  }

  @Test func `the presence of who is in its rooms is told to a service that wants it, of nobody else`() async throws {
    for wants in [true, false] {
      try await AppServiceFixture.run({ $0.receivesEphemeral = wants }) { service in
        let stranger = try await service.fixture.register("stranger")
        let room = try await service.room()
        #expect(try await service.register("_tea_pot").status == 200)
        try await show("online", of: service.ann, service)
        try await show("online", of: stranger, service)
        #expect(try await service.sent().flatMap { $0.ephemeral("m.presence") }.isEmpty)
        // Who was there before comes into view with the service's first user.
        _ = try await service.call(.post, "rooms/\(room)/join", as: "_tea_pot", "{}")
        let first = try await service.sent().flatMap { $0.ephemeral("m.presence") }
        #expect(first.compactMap { $0["sender"]?.string } == (wants ? ["@ann:example.org"] : []))
        try await show("unavailable", of: service.ann, service)
        try await show("unavailable", of: stranger, service)
        let sent = try await service.sent().flatMap { $0.ephemeral("m.presence") }
        #expect(sent.count == (wants ? 1 : 0))
        for event in sent {
          #expect(event["sender"]?.string == "@ann:example.org" && event["room_id"] == nil)
          #expect(event["content"]?["presence"]?.string == "unavailable")
          #expect(event["content"]?["status_msg"]?.string == "is unavailable")
        }
        #expect(try await service.sent().isEmpty)
        // Who comes later.
        _ = try await service.fixture.call(.post, "rooms/\(room)/join", as: stranger, "{}")
        let later = try await service.sent().flatMap { $0.ephemeral("m.presence") }
        #expect(later.compactMap { $0["sender"]?.string } == (wants ? ["@stranger:example.org"] : []))
      }
    }
  }

  @Test func `a service's own users are told of wherever they are`() async throws {
    try await AppServiceFixture.run({ $0.receivesEphemeral = true }) { service in
      #expect(try await service.register("_tea_pot").status == 200)
      let path = "presence/\(PercentEncoding.encode("@_tea_pot:example.org"))/status"
      #expect(try await service.call(.put, path, as: "_tea_pot", #"{"presence":"online"}"#).status == 200)
      service.fixture.homeserver.presence.flush()
      let sent = try await service.sent().flatMap { $0.ephemeral("m.presence") }
      #expect(sent.compactMap { $0["sender"]?.string } == ["@_tea_pot:example.org"])
    }
  }

  @Test func `the presence of a bounded number of users waits`() {
    let ephemeral = AppServiceEphemeral()
    func users(_ count: Int) -> Set<UserID> { Set((0..<count).map { UserID(trusted: ByteString("@u\($0):example.org")) }) }
    ephemeral.notePresence(of: users(AppServiceEphemeral.usersLimit))
    #expect(ephemeral.take().presence.count == AppServiceEphemeral.usersLimit)
    ephemeral.notePresence(of: users(AppServiceEphemeral.usersLimit + 1))
    #expect(ephemeral.take().presence.count == AppServiceEphemeral.usersLimit)
    #expect(ephemeral.isEmpty)
  }

  @Test func `an older service is told at its older path`() async throws {
    try await AppServiceFixture.run({ $0.rooms = [.init(isExclusive: false, expression: ".*")] }) { service in
      service.peer.answers { $0.path.hasPrefix("/_matrix/app/v1/") ? (404, "{}") : (200, "{}") }
      _ = try await service.room()
      let sent = try await service.sent()
      #expect(sent.count == 2 && sent.last?.path == "/transactions/1")
      #expect(sent.last?.query["access_token"] == AppServiceFixture.serverToken)
    }
  }
}
