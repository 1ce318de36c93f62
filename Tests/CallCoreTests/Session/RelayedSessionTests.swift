import JSON
import Testing

@testable import CallCore

/// Peer connections straight between two clients.
struct RelayedSessionTests {
  // Proves M24
  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func whatEachPublishesArrivesAtTheOther(seed: UInt64) {
    let simulation = Simulation(seed: seed)
    let server = TestServer(simulation, mode: "relayed")
    server.refusedRelays = seed % 4 == 0 ? 30 : 0
    let clients = ["ann", "bob", "cid"].prefix(seed % 3 == 0 ? 3 : 2).map { TestClient($0, server, simulation) }
    for client in clients {
      client.connect()
      client.command(.publish(1, .camera, name: "n", audio: true, video: true))
      simulation.run(for: simulation.below(400))
    }
    for _ in 0..<4 {
      simulation.run(for: simulation.below(300))
      clients[Int(simulation.below(2))].drop()
      let one = clients[Int(simulation.below(2))]
      if one.session.publication(2) == nil {
        one.command(.publish(2, .screen, name: "n", audio: false, video: true))
      } else {
        one.command(.unpublish(2))
      }
    }
    simulation.run(for: 60_000)
    for client in clients {
      #expect(client.session.state == .connected && client.host.peers.count == clients.count - 1)
      let expected = clients.filter { $0 !== client }.flatMap { other in
        other.session.publications.flatMap { publication in
          Array(repeating: publication.stream?.string ?? "-", count: publication.kind == .camera ? 2 : 1)
        }
      }
      let attached = client.host.peers.values.flatMap { $0.attached.values }
      #expect(attached.sorted() == expected.sorted())
      for peer in client.host.peers.values { #expect(peer.state == .stable) }
    }
    let peer = clients[0].host.peers.keys.max() ?? 0
    clients[0].put(.media(.candidate(peer, ICECandidate(candidate: "candidate:1", mid: "0", lineIndex: nil))))
    simulation.run(for: 20_000)
    #expect(clients.dropFirst().contains { $0.host.peers.values.contains { $0.candidates == ["candidate:1"] } })
    for client in clients { client.command(.leave) }
    simulation.run(for: 60_000)
    #expect(server.members.isEmpty)
    for client in clients { #expect(client.host.peers.isEmpty && client.host.captured.isEmpty) }
  }

  @Test func whoOnlyPublishesIsSentNothing() {
    let simulation = Simulation(seed: 7)
    let server = TestServer(simulation, mode: "relayed")
    let clients = ["ann", "bob", "cid"].map { TestClient($0, server, simulation) }
    for (client, role) in zip(clients, ["publisheronly", "publisher", "publisher"]) {
      client.connect(token: ByteString("token-\(role)"))
      client.command(.publish(1, .camera, name: "n", audio: true, video: true))
      simulation.run(for: 200)
    }
    simulation.run(for: 10_000)
    #expect(clients[0].host.peers.count == 2 && clients[0].host.peers.values.allSatisfy { $0.arrived.isEmpty })
    for client in clients[1...] {
      #expect(client.host.peers.values.map { $0.sections.count }.sorted() == [0, 2])
      #expect(client.host.peers.values.flatMap { $0.attached.values }.count == 4)
    }
  }

  /// Of one of several peers: the others' connections go on, and what it says from then on is nothing.
  @Test func descriptionsThatCannotBeSetCostTheirSenderAlone() throws {
    let side = OneSide()
    side.hear(OneSide.offer("a"))
    let (good, _) = try #require(side.remoteSet)
    side.hear(OneSide.offer("b"))
    let (bad, round) = try #require(side.remoteSet)
    side.put(.media(.failed(bad, round: round)))
    #expect(side.closed == [bad] && side.session.state == .connected && side.session.links.map(\.peer) == [good])
    side.hear(OneSide.offer("b"))
    #expect(side.remoteSet == nil)
  }

  /// Chromium gathers no candidates on a peer connection whose first offer was taken back.
  @Test(arguments: [true, false])
  func whenFirstOffersCrossThePoliteSideAnswersOnANewPeerConnection(isDescribed: Bool) throws {
    let side = OneSide()
    side.publish()
    let (first, round, _) = try #require(side.describes)
    if isDescribed {
      side.put(.media(.described(first, round: round, sdp: "own", [])))
      side.done()
    }
    // This side is polite to "a", which is the lesser ID.
    side.hear(OneSide.offer("a"))
    #expect(side.closed == [first])
    let (second, remoteRound) = try #require(side.remoteSet)
    #expect(side.opened == [second] && second != first)
    side.put(.media(.described(first, round: round, sdp: "late", [])))
    #expect(side.relayed.isEmpty)
    side.put(.media(.remoteSet(second, round: remoteRound)))
    let (_, answerRound, kind) = try #require(side.describes)
    #expect(kind == .answer)
    side.put(.media(.described(second, round: answerRound, sdp: "answer", [])))
    #expect(side.relayed.count == 1 && side.relayed[0].contains("answer"))
    side.done()
    #expect(try #require(side.describes) == (second, answerRound + 1, .offer))
    #expect(side.sent == 2, "sound and picture are on the new one")
    // An agreement has been reached by now: a later offer that crosses is taken back.
    side.hear(OneSide.offer("a"))
    #expect(side.closed.isEmpty && side.remoteSet?.0 == second)
  }

  @Test func anImpoliteSideKeepsItsFirstOffer() throws {
    let side = OneSide(peer: "z")
    side.publish()
    let (peer, round, _) = try #require(side.describes)
    side.put(.media(.described(peer, round: round, sdp: "own", [])))
    side.hear(OneSide.offer("z"))
    #expect(side.closed.isEmpty && side.remoteSet == nil)
  }

  @Test func whatTheServerDoesNotRelayForNowIsRelayedLaterInOrder() throws {
    let side = OneSide()
    side.publish()
    let (peer, round, _) = try #require(side.describes)
    side.put(.media(.described(peer, round: round, sdp: "first", [])))
    for number in 1...2 {
      side.put(.media(.candidate(peer, ICECandidate(candidate: ByteString("candidate:\(number)"), mid: "0", lineIndex: nil))))
    }
    side.refuse("limit", retryAfter: 2_000)
    // The other side has dropped this one.
    side.done()
    side.refuse("limit", retryAfter: 3_000)
    side.put(.media(.candidate(peer, ICECandidate(candidate: "candidate:3", mid: "0", lineIndex: nil))))
    #expect(side.relayed.isEmpty)
    side.wait(2_999)
    #expect(side.relayed.isEmpty)
    side.wait(1)
    let expected = ["first", "candidate:1", "candidate:2", "candidate:3"]
    #expect(side.relayed.count == 4 && zip(side.relayed, expected).allSatisfy { $0.contains($1) })
    for _ in expected { side.done() }
    side.wait(60_000)
    #expect(side.relayed.isEmpty)
  }

  @Test func noOfferOvertakesAnAnswerThatIsNotRelayedYet() throws {
    let side = OneSide()
    side.hear(OneSide.offer("a"))
    let (peer, remoteRound) = try #require(side.remoteSet)
    side.put(.media(.remoteSet(peer, round: remoteRound)))
    let (_, round, _) = try #require(side.describes)
    side.publish()
    side.put(.media(.described(peer, round: round, sdp: "answer", [])))
    #expect(side.describes == nil)
    side.refuse("limit", retryAfter: 1_000)
    #expect(side.describes == nil)
    side.wait(1_000)
    #expect(side.relayed.count == 1 && side.relayed[0].contains("answer") && side.describes == nil)
    side.done()
    #expect(side.describes?.2 == .offer)
  }

  /// The offer of the other side has taken its place meanwhile.
  @Test func anOfferThatWasTakenBackIsNotRelayedLater() throws {
    let side = OneSide()
    side.publish()
    let (first, round, _) = try #require(side.describes)
    side.put(.media(.described(first, round: round, sdp: "first", [])))
    side.refuse("limit", retryAfter: 1_000)
    side.hear(OneSide.offer("a"))
    let (second, remoteRound) = try #require(side.remoteSet)
    side.wait(5_000)
    #expect(side.relayed.isEmpty)
    side.put(.media(.remoteSet(second, round: remoteRound)))
    let (_, answerRound, _) = try #require(side.describes)
    side.put(.media(.described(second, round: answerRound, sdp: "answer", [])))
    #expect(side.relayed.count == 1 && side.relayed[0].contains("answer"))
  }
}

/// A session with the connections "b" and one more, whose messages and media a test says one by one.
private final class OneSide {
  var session = CallSession(randomSeed: 1)
  /// Of the last input.
  private(set) var effects: [SessionEffect] = []
  /// Relays without an answer.
  private var unanswered: [Int64] = []
  private var now: Int64 = 0
  private var seq = 0

  init(peer: String = "a") {
    put(.command(.connect(CallToken("t"), session: "s"), id: 1))
    put(.socketOpened(session.socket.id))
    let connected =
      #"{"type":"connected","connection":{"id":"m","role":"publisher"},"key":"k","mode":"relayed","#
      + #""connections":[{"id":"\#(peer)"},{"id":"b","role":"publisheronly"}],"streams":[]}"#
    put(.text(session.socket.id, Array(connected.utf8)))
  }

  static func offer(_ from: String) -> String {
    #""relay","from":"\#(from)","data":"{\"description\":{\"type\":\"offer\",\"sdp\":\"x\"}}""#
  }

  func put(_ input: SessionInput) {
    effects = session.handle(input, now: now)
    for case .sendText(_, let text) in effects {
      guard let json = try? JSON.parse(text.bytes), let number = json["id"]?.integer else { continue }
      if json["type"]?.isString("relay") == true { unanswered.append(number) }
    }
  }

  func hear(_ text: String) {
    seq += 1
    put(.text(session.socket.id, Array(#"{"seq":\#(seq),"type":\#(text)}"#.utf8)))
  }

  func publish() {
    put(.command(.publish(1, .camera, name: "n", audio: true, video: true), id: 2))
    put(.media(.captured(1, CapturedMedia(stream: "m-1", hasAudio: true, hasVideo: true))))
    hear(#""done","id":1,"stream":{"id":"s1","connection":"m","has_audio":true,"has_video":true}"#)
  }

  /// Of the first relay without an answer.
  func done() { hear(#""done","id":\#(unanswered.removeFirst())"#) }

  func refuse(_ code: String, retryAfter: Int) {
    hear(#""refused","id":\#(unanswered.removeFirst()),"code":"\#(code)","message":"","retry_after_ms":\#(retryAfter)"#)
  }

  func wait(_ milliseconds: Int64) {
    now += milliseconds
    put(.time)
  }

  /// What was relayed with the last input.
  var relayed: [String] {
    effects.compactMap {
      guard case .sendText(_, let text) = $0, let json = try? JSON.parse(text.bytes) else { return nil }
      return json["type"]?.isString("relay") == true ? json["data"]?.string : nil
    }
  }

  var describes: (PeerID, UInt32, DescriptionKind)? {
    for case .media(.describe(let peer, let round, let kind, _, _)) in effects { return (peer, round, kind) }
    return nil
  }

  var remoteSet: (PeerID, UInt32)? {
    for case .media(.setRemote(let peer, let round, _, _)) in effects { return (peer, round) }
    return nil
  }

  var sent: Int { effects.count { if case .media(.send) = $0 { true } else { false } } }
  var opened: [PeerID] { effects.compactMap { if case .media(.open(let peer, _)) = $0 { peer } else { nil } } }
  var closed: [PeerID] { effects.compactMap { if case .media(.close(let peer)) = $0 { peer } else { nil } } }
}
