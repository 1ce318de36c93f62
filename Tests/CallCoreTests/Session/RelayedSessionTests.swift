import JSON
import Testing

@testable import CallCore

/// Peer connections straight between two clients.
struct RelayedSessionTests {
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
}
