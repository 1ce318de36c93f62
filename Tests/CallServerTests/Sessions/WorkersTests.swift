import JSON
import MediaRouter
import Testing

@testable import CallServer

/// A session over several workers.
@Suite struct WorkersTests {
  private static let both = OfferText([("audio", "recvonly"), ("video", "recvonly")])

  private static func uses(_ stream: StreamID) -> String { #""0":{"subscribe":"\#(stream)"},"1":{"subscribe":"\#(stream)"}"# }

  /// The port that an answer names.
  private static func port(_ answer: JSON) -> UInt16? {
    (answer["sdp"]?.string ?? "").split(whereSeparator: \.isNewline).first { $0.hasPrefix("m=") }?
      .split(separator: " ").dropFirst().first.flatMap { UInt16($0) }
  }

  @Test func `a session fills its home worker, then each transport goes to the one with the fewest of all sessions`() throws {
    let fixture = SessionFixture(workers: 3, homeLimit: 2)
    var router = WorkersModel(3)
    var places: [Int] = []
    // Other sessions have transports, too.
    let others = [4, 1, 3]
    for _ in 0..<8 {
      for number in 0..<3 { fixture.state.workers.loads[number] = others[number] + router.routers[number].transports.count }
      let client = try fixture.connect()
      let answer = try fixture.offer(
        client, OfferText([("audio", "sendonly")], ufrag: "u" + client.id.string.prefix(8)).text, "")
      router.take(fixture.takeCommandsOfWorkers())
      let place = try #require(fixture.state.connections[client.id]?.peer?.worker.number)
      #expect(Self.port(answer) == fixture.state.workers[WorkerID(place)].candidates[0].port)
      places.append(place)
    }
    #expect(places == [0, 0, 1, 1, 1, 2, 1, 2])
  }

  @Test func `a track is handed on to each worker that has a subscriber, once, and ends everywhere`() throws {
    let fixture = SessionFixture(workers: 2, homeLimit: 1)
    fixture.state.workers.loads = [9, 0]
    var router = WorkersModel(2)
    let clients = try (0..<4).map { _ in try fixture.connect() }
    let stream = try fixture.publish(clients[0])
    router.take(fixture.takeCommandsOfWorkers())
    #expect(router.routers[0].tracks.count == 2 && router.routers[1].isEmpty)
    for client in clients.dropFirst() { _ = try fixture.offer(client, Self.both.text, Self.uses(stream)) }
    router.take(fixture.takeCommandsOfWorkers())
    let (home, other) = (router.routers[0], router.routers[1])
    #expect(home.subscriptions.isEmpty && other.subscriptions.count == 6)
    #expect(Set(other.accepted.keys) == Set(home.tracks.keys) && other.tracks.isEmpty)
    // Who speaks is heard at home alone.
    #expect(Set(home.sessions.keys) == Set(home.tracks.keys) && other.sessions.isEmpty)

    #expect(try fixture.refusal(clients[0], "update", #""stream":"\#(stream)","has_audio":false"#) == nil)
    router.take(fixture.takeCommandsOfWorkers())
    #expect(router.routers.map(\.muted.count) == [1, 1])
    let late = try fixture.connect()
    _ = try fixture.offer(late, Self.both.text, Self.uses(stream))
    #expect(try fixture.refusal(clients[0], "unpublish", #""stream":"\#(stream)""#) == nil)
    router.take(fixture.takeCommandsOfWorkers())
    #expect(router.routers.allSatisfy { $0.tracks.isEmpty && $0.accepted.isEmpty && $0.subscriptions.isEmpty })
  }

  @Test func `sound that is published elsewhere is heard at home although nobody there gets it`() throws {
    let fixture = SessionFixture(workers: 2, homeLimit: 1)
    fixture.state.workers.loads = [9, 0]
    var router = WorkersModel(2)
    let clients = try (0..<2).map { _ in try fixture.connect() }
    _ = try fixture.publish(clients[0])
    // What is muted from the beginning is so at both.
    let stream = try fixture.publish(clients[1], #""has_audio":false"#)
    router.take(fixture.takeCommandsOfWorkers())
    let sound = try #require(fixture.state.streams[stream]?.audio)
    let (home, other) = (router.routers[0], router.routers[1])
    #expect(home.accepted == [sound.id: WorkerID(1)] && home.sessions[sound.id] == 7)
    #expect(other.tracks.count == 2 && other.sessions.isEmpty)
    #expect(home.muted == [sound.id] && other.muted == [sound.id])
    fixture.send(clients[1], "leave")
    router.take(fixture.takeCommandsOfWorkers())
    #expect(router.routers[0].accepted.isEmpty && router.routers[1].isEmpty)
  }

  @Test func `a restart of ICE and a recording stay with the worker, a new peer connection is placed anew`() throws {
    let fixture = SessionFixture(workers: 2, homeLimit: 1)
    fixture.state.workers.loads = [9, 0]
    var router = WorkersModel(2)
    let (alice, bob) = (try fixture.connect(), try fixture.connect(.moderator))
    _ = try fixture.publish(alice)
    let stream = try fixture.publish(bob)
    fixture.send(bob, "record", #""action":"start""#)
    fixture.collect()
    router.take(fixture.takeCommandsOfWorkers())
    #expect(router.routers.map(\.recorded.count) == [2, 2])

    let sections = [("audio", "sendonly"), ("video", "sendonly")]
    let uses = #""0":{"publish":"\#(stream)"},"1":{"publish":"\#(stream)"}"#
    var again = OfferText(sections, ufrag: "another")
    let answer = try fixture.offer(bob, again.text, uses)
    #expect(Self.port(answer) == SessionFixture.address(of: WorkerID(1)).port)
    let restarts = fixture.takeCommandsOfWorkers().filter { if case .restart = $0.command { true } else { false } }
    #expect(restarts.map(\.worker) == [WorkerID(1)])

    // The other worker is the busier one by now; the home worker has room for none.
    fixture.state.workers.loads = [0, 9]
    (again.ufrag, again.fingerprint) = ("third", Array(repeating: "EF", count: 32).joined(separator: ":"))
    #expect(Self.port(try fixture.offer(bob, again.text, uses)) == SessionFixture.address(of: WorkerID(0)).port)
    router.take(fixture.takeCommandsOfWorkers())
    #expect(router.routers[1].isEmpty && router.routers[0].recorded.count == 4)
    fixture.state.endAll(CallRefusal(.ended, "The session is over."))
    fixture.collect()
    router.take(fixture.takeCommandsOfWorkers())
    #expect(router.isEmpty)
  }

  @Test func `a session that ends leaves no track anywhere`() throws {
    let fixture = SessionFixture(workers: 3, homeLimit: 1)
    var router = WorkersModel(3)
    for _ in 0..<3 {
      for number in 0..<3 { fixture.state.workers.loads[number] = router.routers[number].transports.count }
      _ = try fixture.publish(try fixture.connect())
      router.take(fixture.takeCommandsOfWorkers())
    }
    #expect(router.routers.map(\.transports.count) == [1, 1, 1] && router.routers[0].accepted.count == 2)
    fixture.state.endAll(CallRefusal(.ended, "The session is over."))
    fixture.collect()
    router.take(fixture.takeCommandsOfWorkers())
    #expect(router.isEmpty)
  }

  @Test func `sessions are at home where the fewest transports are, and each transport counts once`() {
    let parameters = TransportParameters(
      local: ICECredentials(ufrag: Array("u".utf8), password: Array("p".utf8)), fingerprint: SessionFixture.fingerprint)
    var loads = WorkerLoads(workers: 2)
    #expect([loads.takeHome(), loads.takeHome(), loads.takeHome()].map(\.number) == [0, 1, 0])
    loads.note([.open(TransportID(1), parameters), .open(TransportID(2), parameters)], on: WorkerID(0))
    loads.note([.open(TransportID(3), parameters)], on: WorkerID(1))
    #expect(loads.transports == [2, 1] && loads.takeHome() == WorkerID(1))
    // The router tells of its end, and the session closes it not knowing of that.
    loads.note(.ended(TransportID(1), .silence))
    loads.note([.close(TransportID(1)), .close(TransportID(9))], on: WorkerID(0))
    #expect(loads.transports == [1, 1])
    for _ in 0..<2 { loads.leave(home: WorkerID(0)) }
    #expect(loads.takeHome() == WorkerID(0))
  }
}
