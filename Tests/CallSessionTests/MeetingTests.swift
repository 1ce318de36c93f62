import MatrixModel
import Testing

/// Client and server of sessions, as they are, on lines that break with what is on its way.
@Suite struct MeetingTests {
  private final class Line {
    let client: Int
    let clientSocket: UInt32
    let serverSocket: UInt64
    var up: [[UInt8]] = []
    var down: [[UInt8]] = []
    /// The server says nothing more.
    var isEnding = false

    init(_ client: Int, _ clientSocket: UInt32, _ serverSocket: UInt64) {
      (self.client, self.clientSocket, self.serverSocket) = (client, clientSocket, serverSocket)
    }
  }

  private final class World {
    let server: ServerSide
    let clients: [ClientSide]
    var lines: [Line] = []
    var cuts = 0
    private var opening: [(client: Int, socket: UInt32)] = []
    private var lastSocket: UInt64 = 0

    init(seed: UInt64, _ roles: [String]) {
      server = ServerSide(seed: seed)
      clients = roles.indices.map { ClientSide(seed: seed &* 100 &+ UInt64($0)) }
      server.say = { [unowned self] socket, bytes in line(socket)?.down.append(bytes) }
      server.close = { [unowned self] socket in line(socket)?.isEnding = true }
      for (i, client) in clients.enumerated() {
        client.open = { [unowned self] socket in opening.append((i, socket)) }
        client.say = { [unowned self] socket, bytes in line(i, socket)?.up.append(bytes) }
        client.close = { [unowned self] socket in if let line = line(i, socket) { end(line, tellsClient: false) } }
        client.connect(roles[i])
      }
    }

    private func line(_ socket: UInt64) -> Line? { lines.first { $0.serverSocket == socket } }
    private func line(_ client: Int, _ socket: UInt32) -> Line? {
      lines.first { $0.client == client && $0.clientSocket == socket }
    }

    func end(_ line: Line, tellsClient: Bool) {
      lines.removeAll { $0 === line }
      server.lose(line.serverSocket)
      if tellsClient { clients[line.client].lose(line.clientSocket) }
    }

    /// What comes next on a line, in one direction.
    func carry(_ line: Line, isUp: Bool) {
      if isUp, !line.up.isEmpty { return server.hear(line.up.removeFirst(), on: line.serverSocket) }
      if !isUp, !line.down.isEmpty { return clients[line.client].hear(line.down.removeFirst(), on: line.clientSocket) }
      if line.isEnding, line.down.isEmpty { end(line, tellsClient: true) }
    }

    func pass(_ milliseconds: Int64) {
      for (client, socket) in opening {
        lastSocket += 1
        lines.append(Line(client, socket, lastSocket))
        clients[client].opened(socket)
      }
      opening = []
      server.pass(milliseconds)
      for client in clients { client.pass(milliseconds) }
    }

    /// Until nothing is under way any more.
    func settle() {
      for _ in 0..<600 {
        pass(100)
        while let line = lines.first(where: { !$0.up.isEmpty || !$0.down.isEmpty || $0.isEnding }) {
          carry(line, isUp: !line.up.isEmpty)
        }
      }
    }
  }

  // Proves Q15
  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `whatever breaks, signals come once and in order, and both sides are of one mind in the end`(seed: UInt64) {
    let world = World(seed: seed, ["moderator", "publisher", "publisher", "subscriber"])
    var random = RandomSource(seed: seed)
    world.settle()
    var sent: [[String]] = world.clients.map { _ in [] }
    for step in 0..<1_500 {
      world.pass(Int64.random(in: 0...40, using: &random))
      let who = Int.random(in: 0..<world.clients.count, using: &random)
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<3:
        if let line = world.lines.randomElement(using: &random) {
          world.cuts += 1
          world.end(line, tellsClient: true)
        }
      case 3..<11:
        sent[who].append("\(who) \(step)")
        world.clients[who].signal("\(who) \(step)")
      case 11..<14 where who != 3: world.clients[who].toggle(UInt32.random(in: 1...3, using: &random))
      case 14: world.server.setRole(["moderator", "publisher"].randomElement(using: &random)!, of: world.clients[1].id)
      default: if let line = world.lines.randomElement(using: &random) { world.carry(line, isUp: Bool.random(using: &random)) }
      }
    }
    world.settle()
    #expect(world.cuts > 10 && sent.allSatisfy { $0.count > 10 })
    for (number, client) in world.clients.enumerated() {
      // What is taken back before it is there.
      #expect(client.isConnected && client.refusals.allSatisfy { $0 == "not_found" })
      #expect(client.signals == world.clients[0].signals)
      #expect(
        client.signals.filter { $0.hasPrefix("\(number) ") } == sent[number],
        "a participant's own signals come in the order of sending")
      #expect(client.roles == world.server.roles && client.roles.count == 4)
      #expect(client.streams == world.server.streams)
      #expect(client.subscriptions == world.server.subscriptions(of: client.id))
    }
    #expect(world.clients[0].signals.count == sent.joined().count)
  }
}
