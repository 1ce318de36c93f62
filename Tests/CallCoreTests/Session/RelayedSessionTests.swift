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
    simulation.run(for: 1_000)
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
    var session = CallSession(randomSeed: 1)
    func put(_ input: SessionInput) -> [SessionEffect] { session.handle(input, now: 0) }
    _ = put(.command(.connect(CallToken("t"), session: "s"), id: 1))
    let socket = session.socket.id
    _ = put(.socketOpened(socket))
    var seq = 0
    func hear(_ text: String) -> [SessionEffect] {
      seq += 1
      return put(.text(socket, Array(#"{"seq":\#(seq),"type":\#(text)}"#.utf8)))
    }
    _ = put(
      .text(
        socket,
        Array(
          (#"{"type":"connected","connection":{"id":"m","role":"publisher"},"key":"k","mode":"relayed","#
            + #""connections":[{"id":"a"},{"id":"b"}],"streams":[]}"#).utf8)))
    func offer(_ from: String) -> String {
      #""relay","from":"\#(from)","data":"{\"description\":{\"type\":\"offer\",\"sdp\":\"x\"}}""#
    }
    func set(in effects: [SessionEffect]) -> (PeerID, UInt32)? {
      for case .media(.setRemote(let peer, let round, _, _)) in effects { return (peer, round) }
      return nil
    }
    let (good, _) = try #require(set(in: hear(offer("a"))))
    let (bad, round) = try #require(set(in: hear(offer("b"))))
    let effects = put(.media(.failed(bad, round: round)))
    let closed = effects.compactMap { if case .media(.close(let peer)) = $0 { peer } else { nil } }
    #expect(closed == [bad] && session.state == .connected && session.links.map(\.peer) == [good])
    #expect(set(in: hear(offer("b"))) == nil)
  }
}
