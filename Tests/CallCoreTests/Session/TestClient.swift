import JSON
import Testing

@testable import CallCore

/// A session with a host whose sockets lead to a `TestServer`, slowly and not for long.
final class TestClient {
  let name: String
  let simulation: Simulation
  let server: TestServer
  let host: TestHost
  var session: CallSession
  private(set) var changes: [SessionChange] = []
  private(set) var signals: [CallSignal] = []
  private(set) var texts: [String] = []
  private var socket: Socket?
  private var wakes = 0
  private var commands: CommandID = 100
  /// How long messages are under way.
  var delay: ClosedRange<Int64> = 1...40
  var canConnect = true

  final class Socket {
    let id: SocketID
    /// For the client, and for what it has said.
    var isOpen = true
    var isUp = true
    var member: TestServer.Member?
    /// In each direction a message does not pass the one before.
    var upAt: Int64 = 0
    var downAt: Int64 = 0

    init(_ id: SocketID) { self.id = id }
  }

  init(_ name: String, _ server: TestServer, _ simulation: Simulation, subscribesToAll: Bool = true) {
    self.name = name
    self.simulation = simulation
    self.server = server
    host = TestHost(name, simulation)
    host.isRouted = server.mode == "routed"
    session = CallSession(randomSeed: simulation.seed(), subscribesToAll: subscribesToAll)
    host.emit = { [unowned self] in put(.media($0)) }
  }

  @discardableResult
  func command(_ command: SessionCommand) -> CommandID {
    commands += 1
    put(.command(command, id: commands))
    return commands
  }

  func connect(token: ByteString = "token") { command(.connect(CallToken(token), session: "s")) }

  /// How a command ended: nil while it has not, an empty text where it was done.
  func result(of id: CommandID) -> String? {
    for case .finished(let command, let refusal) in changes where command == id { return refusal?.code.string ?? "" }
    return nil
  }

  var member: TestServer.Member? { server.members.first { $0.id == session.connection?.id.string } }
  var changesOfStreams: Int { changes.count { if case .stream = $0 { true } else { false } } }
  var changesOfMuting: Int { changes.count { if case .muting = $0 { true } else { false } } }
  var hasSocket: Bool { socket?.isOpen ?? false }

  func put(_ input: SessionInput) {
    for effect in session.handle(input, now: simulation.now) {
      switch effect {
      case .openSocket(let id): open(id)
      case .sendText(let id, let text): send(id, text.bytes)
      case .closeSocket(let id): if socket?.id == id { close() }
      case .media(let effect): host.carryOut(effect)
      case .wake(let at): wake(at)
      case .change(let change):
        changes.append(change)
        if case .signal(let signal) = change { signals.append(signal) }
      }
    }
  }

  private func wake(_ at: Int64?) {
    wakes += 1
    let number = wakes
    guard let at else { return }
    simulation.at(at) { [unowned self] in if wakes == number { put(.time) } }
  }

  // MARK: Sockets

  private func open(_ id: SocketID) {
    #expect(socket?.isOpen != true, "one socket at a time")
    simulation.after(simulation.between(5, 60)) { [unowned self] in
      guard canConnect else { return put(.socketClosed(id)) }
      socket = Socket(id)
      put(.socketOpened(id))
    }
  }

  private func send(_ id: SocketID, _ bytes: [UInt8]) {
    texts.append(String(decoding: bytes, as: UTF8.self))
    guard let socket, socket.id == id, socket.isOpen else { return }
    socket.upAt = max(socket.upAt, simulation.now + simulation.between(delay.lowerBound, delay.upperBound))
    simulation.at(socket.upAt) { [self] in
      guard socket.isUp else { return }
      if let member = socket.member { return member.socket === socket ? server.take(bytes, from: member) : () }
      socket.member = server.greet(bytes) { [weak self] text in self?.receive(socket, text) }
      socket.member?.socket = socket
    }
  }

  private func receive(_ socket: Socket, _ text: String) {
    socket.downAt = max(socket.downAt, simulation.now + simulation.between(delay.lowerBound, delay.upperBound))
    simulation.at(socket.downAt) { [unowned self] in
      if socket.isOpen { put(.text(socket.id, Array(text.utf8))) }
    }
  }

  /// The client ends it: what it has said before still arrives.
  private func close() {
    guard let socket, socket.isOpen else { return }
    socket.isOpen = false
    simulation.at(socket.upAt) { [self] in
      socket.isUp = false
      server.lost(socket)
    }
  }

  /// The socket breaks; what is on its way is lost.
  func drop(tellsClient: Bool = true) {
    guard let socket, socket.isOpen else { return }
    socket.isOpen = false
    socket.isUp = false
    server.lost(socket)
    if tellsClient {
      simulation.after(simulation.between(0, 3_000)) { [unowned self] in put(.socketClosed(socket.id)) }
    }
  }
}
