import JSON
import Testing

@testable import CallCore

/// Runs of several clients whose sockets break at any moment, each from a seed.
struct RandomSessionTests {
  // Proves Q15
  @Test(arguments: 1...80 as ClosedRange<UInt64>)
  func nothingIsLostOrRepeatedWhereSocketsBreak(seed: UInt64) {
    let run = Run(seed: seed, forgets: false)
    run.go(steps: 120)
    run.settle()
    run.checkStreams()
    for receiver in run.clients {
      for sender in run.clients where sender !== receiver {
        let heard = receiver.signals.filter { $0.kind.string == sender.name }.map { Int($0.data.string) ?? -1 }
        let first = run.firstHeard(receiver, sender)
        #expect(heard == Array(first..<run.sent(sender)), "\(receiver.name) of \(sender.name), seed \(seed)")
      }
    }
    run.leave()
  }

  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func whereConnectionsAreForgottenTheStateIsMadeAnew(seed: UInt64) {
    let run = Run(seed: seed &+ 1_000, forgets: true)
    run.go(steps: 120)
    run.settle()
    run.checkStreams()
    for receiver in run.clients {
      for sender in run.clients where sender !== receiver {
        let heard = receiver.signals.filter { $0.kind.string == sender.name }.map { Int($0.data.string) ?? -1 }
        #expect(heard == Array(Set(heard)).sorted(), "in order and once, seed \(seed)")
      }
    }
    run.leave()
  }

  final class Run {
    let simulation: Simulation
    let server: TestServer
    let clients: [TestClient]
    let forgets: Bool
    private var numbers: [String: Int] = [:]

    init(seed: UInt64, forgets: Bool) {
      let simulation = Simulation(seed: seed)
      let server = TestServer(simulation)
      self.simulation = simulation
      self.server = server
      self.forgets = forgets
      clients = ["ann", "bob", "cid"].map { TestClient($0, server, simulation) }
      for client in clients {
        client.delay = 1...(seed % 2 == 0 ? 30 : 400)
        client.connect()
      }
      simulation.run(for: 10_000)
    }

    func sent(_ client: TestClient) -> Int { numbers[client.name] ?? 0 }

    /// All are there from the start.
    func firstHeard(_ receiver: TestClient, _ sender: TestClient) -> Int { 0 }

    func go(steps: Int) {
      for _ in 0..<steps {
        simulation.run(for: simulation.below(500))
        step(clients[Int(simulation.below(3))])
      }
    }

    private func step(_ client: TestClient) {
      switch simulation.below(10) {
      case 0...3:
        let number = sent(client)
        numbers[client.name] = number + 1
        client.command(.signal(kind: ByteString(client.name), data: ByteString("\(number)"), to: nil))
      case 4...5: client.drop(tellsClient: true)
      case 6...7:
        let source = SourceID(simulation.below(3) + 1)
        if client.session.publication(source) == nil {
          client.command(.publish(source, .camera, name: "n", audio: simulation.chance(70), video: true))
        } else {
          client.command(.unpublish(source))
        }
      case 8: client.command(.update(SourceID(simulation.below(3) + 1), hasAudio: simulation.chance(50), hasVideo: nil))
      default:
        if forgets, simulation.chance(30), let member = client.member { server.forget(member) }
        client.canConnect = simulation.chance(70)
        simulation.after(4_000) { client.canConnect = true }
      }
    }

    func settle() {
      for client in clients { client.canConnect = true }
      // A forgotten client hears of it with the next socket.
      for client in clients { client.drop() }
      simulation.run(for: 90_000)
    }

    func checkStreams() {
      for client in clients {
        #expect(client.session.state == .connected)
        #expect(client.session.wire.requests.isEmpty, "everything was answered")
        let published = client.session.publications.compactMap { $0.stream?.string }.sorted()
        #expect(published.count == client.session.publications.count)
        #expect(published == server.streams.filter { $0.owner == client.session.connection?.id.string }.map(\.id).sorted())
        let others = server.streams.filter { $0.owner != client.session.connection?.id.string }.map(\.id).sorted()
        #expect(client.session.streams.map { $0.id.string }.sorted() == others)
        let sections = client.member?.sections.values.sorted() ?? []
        #expect(Set(sections) == Set(published.map { "publish \($0)" } + others.map { "subscribe \($0)" }))
        #expect(sections.count == client.host.peers.values.reduce(0) { $0 + $1.sections.count })
        let attached = Set(client.host.peers.values.flatMap { $0.attached.values })
        #expect(attached == Set(others))
        #expect(client.host.captured.count == client.session.publications.count)
      }
    }

    func leave() {
      for client in clients {
        if simulation.chance(50) { client.drop() }
        client.command(.leave)
      }
      simulation.run(for: 90_000)
      #expect(server.members.isEmpty && server.streams.isEmpty)
      for client in clients {
        #expect(client.host.peers.isEmpty && client.host.captured.isEmpty && !client.hasSocket)
      }
    }
  }
}
