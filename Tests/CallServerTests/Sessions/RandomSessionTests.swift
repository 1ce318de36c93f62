import JSON
import MatrixModel
import MediaRouter
import Testing

@testable import CallServer

@Suite struct RandomSessionTests {
  // Proves Q15
  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `connections that break at any moment lose no signal and get none twice`(seed: UInt64) throws {
    let fixture = SessionFixture(seed: seed)
    var random = RandomSource(seed: seed)
    let clients = try (0..<4).map { _ in try fixture.connect() }
    var seen: [ConnectionID: Int64] = [:]
    var heard: [ConnectionID: [Int]] = [:]
    var isLost: Set<ConnectionID> = []
    // Requests not known to be done: said again after coming back.
    var unsure: [ConnectionID: [(number: Int64, text: String)]] = [:]
    var sent: [Int] = []

    func read(_ client: SessionFixture.Client) {
      // A socket may break with what was on its way.
      let told = fixture.told(client)
      let arrived = Bool.random(using: &random) ? told.count : Int.random(in: 0...told.count, using: &random)
      for message in told.prefix(arrived) {
        if let seq = message["seq"]?.integer {
          #expect(seq == (seen[client.id] ?? 0) + 1, "in order and once")
          seen[client.id] = seq
        }
        if message["type"]?.string == "signal", let data = message["data"]?.string {
          heard[client.id, default: []].append(Int(data)!)
        }
        if message["type"]?.string == "resumed", let handled = message["handled"]?.integer {
          for (number, text) in unsure[client.id] ?? [] where number > handled { fixture.receive(text, on: client.socket) }
          unsure[client.id] = []
        }
      }
      if arrived < told.count {
        fixture.lose(client)
        isLost.insert(client.id)
      }
    }

    for _ in 0..<1_000 {
      fixture.pass(25)
      let client = clients.randomElement(using: &random)!
      switch Int.random(in: 0..<10, using: &random) {
      case 0 where !isLost.contains(client.id):
        fixture.lose(client)
        isLost.insert(client.id)
      case 1...3 where isLost.contains(client.id):
        #expect(fixture.resume(client, after: seen[client.id] ?? 0))
        isLost.remove(client.id)
        read(client)
      case 4 where !isLost.contains(client.id):
        fixture.receive(#"{"type":"ack","seq":\#(seen[client.id] ?? 0)}"#, on: client.socket)
      case 5...7 where !isLost.contains(client.id):
        client.lastRequest += 1
        sent.append(sent.count)
        let text = #"{"type":"signal","id":\#(client.lastRequest),"data":"\#(sent.count - 1)"}"#
        unsure[client.id, default: []].append((client.lastRequest, text))
        // It may not have arrived before the socket broke.
        if Int.random(in: 0..<4, using: &random) > 0 {
          fixture.receive(text, on: client.socket)
        } else {
          fixture.lose(client)
          isLost.insert(client.id)
        }
      default: if !isLost.contains(client.id) { read(client) }
      }
    }
    // Everyone comes back and stays.
    for client in clients where isLost.contains(client.id) {
      #expect(fixture.resume(client, after: seen[client.id] ?? 0))
      isLost.remove(client.id)
    }
    for _ in 0..<3 {
      for client in clients {
        while case let told = fixture.told(client), !told.isEmpty {
          for message in told {
            if let seq = message["seq"]?.integer { seen[client.id] = seq }
            if message["type"]?.string == "signal" { heard[client.id, default: []].append(Int(message["data"]!.string!)!) }
            if let handled = message["handled"]?.integer {
              for (number, text) in unsure[client.id] ?? [] where number > handled { fixture.receive(text, on: client.socket) }
            }
          }
        }
      }
    }
    for client in clients {
      #expect((heard[client.id] ?? []).sorted() == sent, "each signal once")
      #expect(heard[client.id] == heard[clients[0].id], "all in the same order")
    }
    #expect(sent.count > 50)
  }

  // Proves Q16
  @Test(arguments: 1...5 as ClosedRange<UInt64>, [1, 3])
  func `after a thousand comings, crashes and goings nothing is left`(seed: UInt64, workers: Int) throws {
    let fixture = SessionFixture(seed: seed, workers: workers, homeLimit: 2)
    var random = RandomSource(seed: seed &+ 100)
    var router = WorkersModel(workers)
    var clients: [SessionFixture.Client] = []
    for _ in 0..<1_000 {
      clients.removeAll { !fixture.state.has($0.id) }
      for number in 0..<workers { fixture.state.workers.loads[number] = router.routers[number].transports.count }
      try step(fixture, &clients, &random, &router)
      router.take(fixture.takeCommandsOfWorkers())
      #expect(fixture.state.subscriptions.count == router.subscriptionCount)
      #expect(Set(fixture.state.tracks.keys) == router.tracks)
    }
    fixture.pass(CallLimits.resumeMilliseconds)
    for client in clients where fixture.state.has(client.id) { fixture.send(client, "leave") }
    fixture.pass(CallLimits.resumeMilliseconds)
    router.take(fixture.takeCommandsOfWorkers())
    #expect(fixture.state.isEmpty && router.isEmpty)
  }

  private func step(
    _ fixture: SessionFixture, _ clients: inout [SessionFixture.Client], _ random: inout RandomSource,
    _ router: inout WorkersModel
  ) throws {
    fixture.pass(Int64.random(in: 0...2_000, using: &random))
    guard clients.count > 2, let client = clients.randomElement(using: &random) else {
      return clients.append(try fixture.connect(Role.allCases.randomElement(using: &random)!))
    }
    let stream = fixture.state.streams.keys.sorted().randomElement(using: &random)
    switch Int.random(in: 0..<12, using: &random) {
    case 0, 1: clients.append(try fixture.connect(Role.allCases.randomElement(using: &random)!))
    case 2: fixture.send(client, "leave")
    case 3: fixture.lose(client)
    case 4: _ = fixture.resume(client, after: fixture.state.connections[client.id]?.outbox.last ?? 0)
    case 5: fixture.send(client, "publish", #""stream":{}"#)
    case 6: if let stream { fixture.send(client, "unpublish", #""stream":"\#(stream)""#) }
    case 7: fixture.send(client, "disconnect", #""connection":"\#(clients.randomElement(using: &random)!.id)""#)
    case 8:
      if let transport = fixture.state.transports.keys.randomElement(using: &random) {
        router.take(fixture.takeCommandsOfWorkers())
        router.end(transport)
        fixture.handle(.ended(transport, .silence))
      }
    case 9: for track in fixture.state.tracks.keys { fixture.handle(.trackStarted(track)) }
    default: sendOffer(fixture, client, &random)
    }
  }

  private func sendOffer(_ fixture: SessionFixture, _ client: SessionFixture.Client, _ random: inout RandomSource) {
    let streams = fixture.state.streams.keys.sorted()
    var uses: [String] = []
    var sections: [(String, String)] = []
    for mid in 0..<Int.random(in: 1...6, using: &random) {
      sections.append((Bool.random(using: &random) ? "audio" : "video", "sendrecv"))
      guard let stream = streams.randomElement(using: &random) else { continue }
      let isOwn = fixture.state.streams[stream]?.connection == client.id
      uses.append(#""\#(mid)":{"\#(isOwn ? "publish" : "subscribe")":"\#(stream)"}"#)
    }
    let ufrag = Int.random(in: 0..<5, using: &random) == 0 ? "other" : "abcd"
    var writer = JSONWriter()
    writer.write(OfferText(sections, ufrag: ufrag).text)
    fixture.send(
      client, "offer",
      #""sdp":\#(String(decoding: writer.bytes, as: UTF8.self)),"sections":{\#(uses.joined(separator: ","))}"#)
  }
}
