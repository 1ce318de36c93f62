import JSON
import MediaRouter
import Testing

@testable import CallServer

/// What one participant can cost the server and the others.
@Suite struct AbuseTests {
  // Proves M32
  @Test func `all messages have a rate, also those that ask for nothing`() throws {
    let burst = Int(CallLimits.messageRate.burst)
    for text in [#"{"type":"ack","seq":1}"#, #"{"type":"unknown"}"#, #"{"type":"leave","id":0}"#] {
      let fixture = SessionFixture()
      let client = try fixture.connect()
      for _ in 0..<burst { fixture.receive(text, on: client.socket) }
      #expect(!fixture.isClosed(client.socket))
      fixture.receive(text, on: client.socket)
      #expect(fixture.isClosed(client.socket))
      #expect(fixture.told(client).last?["code"]?.string == "limit")
    }
  }

  // Proves M32
  @Test func `what everyone is told has one rate for all`() throws {
    let fixture = SessionFixture()
    // Those who come have taken of it.
    let clients = try (0..<10).map { _ in try fixture.connect() }
    let moderator = try fixture.connect(.moderator)
    let stream = try fixture.publish(clients[0])
    #expect(try fixture.refusal(clients[0], "update", #""stream":"\#(stream)","name":"x""#) == nil)
    while fixture.state.broadcasts.take(at: fixture.now.monotonic) == nil {}
    #expect(try fixture.refusal(clients[0], "update", #""stream":"\#(stream)","name":"y""#) == "limit")
    #expect(try fixture.refusal(clients[1], "publish", #""stream":{}"#) == "limit")
    #expect(throws: CallRefusal.self) { try fixture.connect() }
    #expect(try fixture.refusal(moderator, "record", #""action":"start""#) == "limit")
    #expect(fixture.recordingRequests.isEmpty)
    #expect(try fixture.refusal(clients[1], "prefer", #""stream":"\#(stream)","video":false"#) == nil)
    fixture.pass(1_000 / CallLimits.broadcastRate.perSecond)
    #expect(try fixture.refusal(clients[0], "update", #""stream":"\#(stream)","name":"y""#) == nil)
  }

  @Test func `what is told at once is less than what is kept`() {
    let atOnce = CallLimits.broadcastRate.burst + CallLimits.signalRate.burst
    #expect(Int(atOnce) < CallLimits.unacknowledgedMessages)
  }

  @Test func `a refused request takes nothing from the session's shared limit`() throws {
    let fixture = SessionFixture()
    let (stranger, moderator) = (try fixture.connect(.subscriber), try fixture.connect(.moderator))
    while fixture.state.broadcasts.take(at: fixture.now.monotonic) == nil {}
    fixture.pass(1_000 / CallLimits.broadcastRate.perSecond)
    for (request, members) in [
      ("publish", #""stream":{}"#), ("mute", #""all":true"#), ("record", #""action":"start""#),
      ("unpublish", #""stream":"00000000-0000-4000-8000-000000000000""#)
    ] { #expect(try fixture.refusal(stranger, request, members) != "limit", "\(request)") }
    #expect(try fixture.refusal(moderator, "mute", #""all":true"#) == nil)
  }

  @Test func `what others say ends nobody: signals and names have a rate of bytes, less at once than is kept`() throws {
    let rates = [CallLimits.toldBytesRate, CallLimits.relayedBytesRate]
    #expect(rates.reduce(0) { $0 + Int($1.burst) } < CallLimits.unacknowledgedBytes)
    let fixture = SessionFixture()
    let clients = try (0..<20).map { _ in try fixture.connect() }
    let victim = try fixture.connect(.subscriber)
    let data = String(repeating: "\\u0001", count: CallLimits.signalDataBytes / 6)
    var codes: [String?] = []
    for index in 0..<Int(CallLimits.signalRate.burst) {
      codes.append(try fixture.refusal(clients[index % 20], "signal", #""data":"\#(data)""#))
    }
    #expect(codes.first == .some(nil) && codes.last == "limit")
    let name = String(repeating: "n", count: CallLimits.streamNameCharacters)
    #expect(try fixture.refusal(clients[0], "publish", #""stream":{"name":"\#(name)"}"#) == "limit")
    #expect(!fixture.isClosed(victim.socket))
  }

  @Test func `what one hands on to others of a relayed session has a rate of bytes`() throws {
    let fixture = SessionFixture(isRouted: false)
    let (alice, bob) = (try fixture.connect(), try fixture.connect())
    let data = String(repeating: "d", count: 60_000)
    let codes = try (0..<10).map { _ in try fixture.refusal(alice, "relay", #""to":"\#(bob.id)","data":"\#(data)""#) }
    #expect(codes.first == .some(nil) && codes.last == "limit" && !fixture.isClosed(bob.socket))
  }

  @Test(arguments: [10, 60_000])
  func `nobody is ended by what others hand on: half of what is kept is for it`(_ bytes: Int) throws {
    let fixture = SessionFixture(isRouted: false)
    let senders = try (0..<8).map { _ in try fixture.connect() }
    let victim = try fixture.connect()
    let relay = #""to":"\#(victim.id)","data":"\#(String(repeating: "d", count: bytes))""#
    var answer: JSON?
    for index in 0..<CallLimits.unacknowledgedMessages where answer?["type"]?.string != "refused" {
      fixture.now.monotonic += 20
      // Each within its own rates.
      let sender = senders[index % 8]
      answer = try fixture.ask(sender, "relay", relay)
      fixture.receive(#"{"type":"ack","seq":\#(fixture.state.connections[sender.id]!.outbox.last)}"#, on: sender.socket)
    }
    #expect(answer?["code"]?.string == "limit" && answer?["retry_after_ms"]?.integer == CallLimits.fullOutboxMilliseconds)
    // There is room for all that everyone may be told at once.
    let left = CallLimits.unacknowledgedMessages - (fixture.state.connections[victim.id]?.outbox.messages(after: 0)?.count ?? 0)
    #expect(left > Int(CallLimits.broadcastRate.burst + CallLimits.signalRate.burst) && !fixture.isClosed(victim.socket))
    fixture.receive(#"{"type":"ack","seq":\#(fixture.state.connections[victim.id]!.outbox.last)}"#, on: victim.socket)
    fixture.now.monotonic += 5_000
    #expect(try fixture.refusal(senders[0], "relay", relay) == nil)
  }

  @Test func `offers have a rate`() throws {
    let fixture = SessionFixture()
    let client = try fixture.connect()
    let offer = #""sdp":"v=0","sections":{}"#
    let codes = try (0...CallLimits.offerRate.burst).map { _ in try fixture.refusal(client, "offer", offer) }
    #expect(codes.dropLast().allSatisfy { $0 == "invalid" } && codes.last == "limit")
    fixture.pass(1_000 / CallLimits.offerRate.perSecond)
    #expect(try fixture.refusal(client, "offer", offer) == "invalid")
  }

  @Test func `offers of all who have one token have a rate of bytes, which is asked before they are read`() async throws {
    let rate = CallLimits.Rate(perSecond: 100_000, burst: 1_000_000)
    let reader = try MessageReader(rate)
    // An invalid offer: a message that exceeds its rate is not parsed.
    let text = #"{"type":"offer","id":1,"sdp":"\#(String(repeating: "x", count: 100_000))","sections":{}}"#
    let most = Int(rate.burst) / text.utf8.count
    // On a connection of its own each time.
    func refusal(_ holder: ByteString, at now: Int64) async throws -> CallRefusal? {
      let read = try await reader.read(text, of: MessageReader.Speaker(holder, now: now), now: now)
      guard case .success(.request(1, .success(.offer(let offer, _)))) = read else {
        guard case .success(.request(1, .failure(let refusal))) = read else { return nil }
        return refusal
      }
      do throws(CallRefusal) { _ = try offer.get() } catch { return error }
      return nil
    }
    for _ in 0..<most { #expect(try await refusal("a", at: 0)?.code == .invalid) }
    let refused = try #require(try await refusal("a", at: 0))
    #expect(refused.code == .limit && refused.retryAfterMilliseconds != nil)
    #expect(try await refusal("b", at: 0)?.code == .invalid)
    #expect(try await refusal("a", at: refused.retryAfterMilliseconds!)?.code == .invalid)
    await reader.shutdown()
  }

  @Test func `offers of one connection have a rate of bytes too, and leave the others with its token theirs`() async throws {
    let reader = try MessageReader()
    let (greedy, other) = (MessageReader.Speaker("a", now: 0), MessageReader.Speaker("a", now: 0))
    let text = #"{"type":"offer","id":1,"sdp":"\#(String(repeating: "x", count: 500_000))","sections":{}}"#
    func isRefused(_ speaker: MessageReader.Speaker) async throws -> Bool {
      guard case .success(.request(1, .failure(let refusal))) = try await reader.read(text, of: speaker, now: 0) else {
        return false
      }
      return refusal.code == .limit
    }
    let most = Int(CallLimits.offerBytesOfConnectionRate.burst) / text.utf8.count
    for _ in 0..<most { #expect(try await !isRefused(greedy)) }
    for _ in 0..<150 { #expect(try await isRefused(greedy)) }
    #expect(try await !isRefused(other))
    await reader.shutdown()
  }

  /// Nobody is known yet, so nothing dear is done.
  @Test func `the first message is no offer, and not long`() throws {
    let offer = #"{"type":"offer","id":1,"sdp":"v=0","sections":{}}"#
    guard case .request(1, .failure(let refusal)) = try ClientMessage(first: offer) else {
      Issue.record("the offer was read")
      return
    }
    #expect(refusal.code == .invalid)
    let long = #"{"type":"offer","id":1,"sdp":"\#(String(repeating: "x", count: CallLimits.messageBytes))"}"#
    #expect(throws: CallRefusal.self) { try ClientMessage(first: long) }
  }

  @Test(arguments: [("rooms", CallLimits.connectionsOfMember), ("4", CallLimits.connectionsOfToken)])
  func `a holder has so many connections`(_ project: String, _ limit: Int) throws {
    let fixture = SessionFixture()
    let owner = project == "rooms" ? ProjectID.rooms : ProjectID(trusted: ByteString(project))
    var token = ConnectionToken(session: .random(of: owner, now: 0), role: .publisher, data: "")
    #expect(token.connectionsLimit == limit)
    func connect(_ holder: String) throws {
      token.holder = ByteString(holder)
      // The rate of comings is another matter.
      fixture.now.monotonic += 1_000
      _ = try fixture.state.connect(token, on: fixture.newSocket(), now: fixture.now)
    }
    for _ in 0..<limit { try connect("alice") }
    #expect(throws: CallRefusal(.limit, "There are too many connections with this token.")) { try connect("alice") }
    try connect("bob")
  }

  @Test(arguments: [("rooms", CallLimits.streamsOfMember), ("4", CallLimits.streamsOfToken)])
  func `a holder has so many streams, and the others theirs`(_ project: String, _ limit: Int) throws {
    let fixture = SessionFixture()
    let owner = project == "rooms" ? ProjectID.rooms : ProjectID(trusted: ByteString(project))
    var token = ConnectionToken(session: .random(of: owner, now: 0), role: .publisher, data: "")
    func publish(_ holder: ByteString, _ count: Int) throws -> [String?] {
      token.holder = holder
      let client = try fixture.connect(token: token)
      return try (0..<count).map { _ in try fixture.refusal(client, "publish", #""stream":{}"#) }
    }
    for _ in 0..<limit / 4 { #expect(try publish("alice", 4).allSatisfy { $0 == nil }) }
    #expect(try publish("alice", 1) == ["limit"])
    #expect(try publish("bob", 1) == [nil])
  }

  @Test func `to come back has a rate, and more so where much is said again`() throws {
    let fixture = SessionFixture()
    let (client, other) = (try fixture.connect(), try fixture.connect())
    func resumptions() -> Int {
      var count = 0
      while count < 1_000, fixture.resume(client, after: 0) { count += 1 }
      return count
    }
    let most = Int(CallLimits.resumedBytesRate.burst) / CallLimits.resumedBytesLeast
    let usual = resumptions()
    #expect((100...most).contains(usual) && fixture.state.has(client.id))
    fixture.now.monotonic += 60_000
    for _ in 0..<40 { try fixture.ask(other, "signal", #""data":"\#(String(repeating: "d", count: 8_000))""#) }
    #expect((5...20).contains(resumptions()))
    fixture.now.monotonic += 2_000
    #expect(fixture.resume(client, after: 0))
  }

  @Test func `nobody acknowledges what has not gone out`() throws {
    let fixture = SessionFixture()
    let (client, other) = (try fixture.connect(), try fixture.connect())
    for _ in 0..<3 { try fixture.ask(other, "signal", #""data":"x""#) }
    fixture.state.receive(.success(.acknowledgement(4)), on: client.socket, now: fixture.now, written: 2)
    fixture.lose(client)
    // The two that went out are forgotten, those that did not are kept.
    #expect(fixture.state.connections[client.id]?.outbox.messages(after: 1) == nil)
    #expect(fixture.state.connections[client.id]?.outbox.messages(after: 2)?.count == 2)
  }

  @Test func `a transport that the router refuses is told`() throws {
    let fixture = SessionFixture()
    let client = try fixture.connect()
    _ = try fixture.publish(client)
    let transport = try #require(fixture.state.connections[client.id]?.peer?.transport)
    fixture.handle(.refused(transport))
    #expect(fixture.isClosed(client.socket))
    #expect(fixture.told(client).last?["code"]?.string == "limit")
    #expect(fixture.state.transports.isEmpty)
  }

  @Test func `a role that changes is told to everyone and counts from then on`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(.moderator), try fixture.connect())
    #expect(try fixture.refusal(bob, "mute", #""all":true"#) == "forbidden")
    for client in [alice, bob] { _ = fixture.told(client) }
    fixture.state.setRole(.moderator, of: bob.id)
    fixture.state.setRole(.publisher, of: alice.id)
    fixture.state.setRole(.publisher, of: alice.id)
    fixture.collect()
    for client in [alice, bob] {
      let told = fixture.told(client)
      #expect(told.map { $0["type"]?.string } == ["connection_changed", "connection_changed"])
      #expect(told.map { $0["role"]?.string } == ["moderator", "publisher"])
    }
    #expect(try fixture.refusal(bob, "mute", #""all":true"#) == nil)
    #expect(try fixture.refusal(alice, "mute", #""all":true"#) == "forbidden")
  }
}

/// What is on its way to a socket.
@Suite struct SocketLineTests {
  private struct Gone: Error {}

  @Test func `a line holds so many bytes, and a greeting whatever its length`() async {
    let line = SocketLine()
    let message = [UInt8](repeating: 65, count: 1 << 10)
    for _ in 0..<CallLimits.socketQueueBytes / message.count { line.send(message) }
    #expect(line.waitingBytes == CallLimits.socketQueueBytes)
    line.send([65])
    var count = 0
    // It has ended: what was queued goes out, and nothing after it.
    await line.write { _ in count += 1 }
    #expect(count == CallLimits.socketQueueBytes / message.count && line.waitingBytes == 0)

    let other = SocketLine()
    other.send([UInt8](repeating: 65, count: 4 * CallLimits.socketQueueBytes))
    other.close()
    var bytes = 0
    await other.write { bytes += $0.count }
    #expect(bytes == 4 * CallLimits.socketQueueBytes)
  }

  @Test func `only what the socket has taken counts as written`() async {
    let line = SocketLine()
    for text in [#"{"type":"connected"}"#, #"{"seq":7,"type":"a"}"#, #"{"seq":8,"type":"b"}"#] { line.send(Array(text.utf8)) }
    var taken = 0
    await line.write { _ in
      #expect(line.written == (taken == 2 ? 7 : 0))
      taken += 1
      if taken == 3 { throw Gone() }
    }
    #expect(line.written == 7)
  }
}
