import JSON
import MatrixModel
import Testing

@testable import CallCore

/// A room on several homeservers, one for each user. What one user sends arrives everywhere in its order; what several send, in an order that
/// differs from server to server. All devices of a user see the order of their server.
final class TestRoom {
  struct Entry {
    let sender: UserID
    let type: String
    let content: [UInt8]
    let sentAt: Int64
  }

  let id = RoomID("!room:test")!
  let simulation: Simulation
  var delay: ClosedRange<Int64> = 1...20
  private(set) var logs: [UserID: [Entry]] = [:]
  private(set) var phones: [TestPhone] = []
  private var arrivals: [String: Int64] = [:]
  /// Everything that was sent, with its sender.
  private(set) var sent: [Entry] = []

  init(_ simulation: Simulation) { self.simulation = simulation }

  func phone(_ name: String, of user: String) -> TestPhone {
    let user = UserID(user)!
    logs[user] = logs[user] ?? []
    let phone = TestPhone(name, user, self)
    phones.append(phone)
    return phone
  }

  func send(_ user: UserID, _ type: String, _ content: [UInt8]) {
    let entry = Entry(sender: user, type: type, content: content, sentAt: simulation.now)
    sent.append(entry)
    for server in logs.keys.sorted() {
      let way = "\(user) \(server)"
      let at = max(arrivals[way] ?? 0, simulation.now + simulation.between(delay.lowerBound, delay.upperBound))
      arrivals[way] = at
      simulation.at(at) { [unowned self] in
        logs[server]?.append(entry)
        for phone in phones where phone.user == server { phone.sync() }
      }
    }
  }

  func send(_ user: String, _ type: String, _ content: String) { send(UserID(user)!, type, Array(content.utf8)) }

  func contents(of type: String) -> [JSON] {
    sent.filter { $0.type == type }.compactMap { try? JSON.parse($0.content) }
  }

  /// Media flows where both have each other's description.
  func connect(_ phone: TestPhone, _ peer: PeerID) {
    guard let (other, otherPeer) = opposite(of: phone, peer), let back = opposite(of: other, otherPeer),
      back.0 === phone, back.1 == peer
    else { return }
    simulation.after(simulation.between(10, 200)) {
      phone.put(.media(.ice(peer, .connected)))
      other.put(.media(.ice(otherPeer, .connected)))
    }
  }

  func opposite(of phone: TestPhone, _ peer: PeerID) -> (TestPhone, PeerID)? {
    guard let parts = phone.host.peers[peer]?.remoteName?.split(separator: "/"), parts.count == 2,
      let other = phones.first(where: { $0.name == parts[0] }), let number = PeerID(parts[1]),
      other.host.peers[number] != nil
    else { return nil }
    return (other, number)
  }
}

/// One device of a user: it syncs now and then, and its person does as told.
final class TestPhone {
  let name: String
  let user: UserID
  let room: TestRoom
  let host: TestHost
  var calls: MatrixCalls
  /// By their call IDs, how calls ended.
  private(set) var ends: [String: MatrixCallEnd] = [:]
  private(set) var rang: [String] = []
  var regard: [String: MatrixCallEvent.Sender] = [:]
  var onRing: (MatrixCall) -> Void = { _ in }
  var syncs: ClosedRange<Int64> = 1...20
  private var read = 0
  private var wakes = 0
  private var isSyncing = false

  init(_ name: String, _ user: UserID, _ room: TestRoom) {
    self.name = name
    self.user = user
    self.room = room
    host = TestHost(name, room.simulation)
    calls = MatrixCalls(user: user, randomSeed: room.simulation.seed())
    host.emit = { [unowned self] in put(.media($0)) }
    host.onStable = { [unowned self] peer, _ in room.connect(self, peer) }
  }

  /// The one call there is.
  var call: MatrixCall? { calls.calls.first { !$0.isEnded } }

  func put(_ input: MatrixCallInput) {
    let effects = calls.handle(input, now: room.simulation.now)
    for call in calls.calls { if case .ended(let end) = call.state { ends[call.id.string] = end } }
    for effect in effects {
      switch effect {
      case .send(_, let id, let type, let content):
        #expect(id == room.id)
        room.send(user, type.string, content)
      case .media(let effect): host.carryOut(effect)
      case .wake(let at): wake(at)
      case .change(let handle): changed(handle)
      case .replaced: break
      }
    }
  }

  private func changed(_ handle: CallHandle) {
    guard let call = calls.call(handle), call.state == .ringing, call.rings, !rang.contains(call.id.string) else { return }
    rang.append(call.id.string)
    onRing(call)
  }

  private func wake(_ at: Int64?) {
    wakes += 1
    let number = wakes
    guard let at else { return }
    room.simulation.at(at) { [unowned self] in if wakes == number { put(.time) } }
  }

  /// Some time after news, with all that came meanwhile.
  func sync() {
    guard !isSyncing else { return }
    isSyncing = true
    room.simulation.after(room.simulation.between(syncs.lowerBound, syncs.upperBound)) { [unowned self] in
      isSyncing = false
      let log = room.logs[user] ?? []
      let fresh = log[read...]
      read = log.count
      for entry in fresh { hear(entry) }
      put(.synced)
    }
  }

  private func hear(_ entry: TestRoom.Entry) {
    put(
      .event(
        MatrixCallEvent(
          room: room.id, sender: entry.sender, type: EventType(entry.type)!, content: entry.content,
          ageMilliseconds: room.simulation.now - entry.sentAt, regard: regard[entry.sender.string] ?? .known)))
  }

  func place(_ invitee: String? = nil, audio: Bool = true, video: Bool = true) {
    put(.command(.place(room.id, invitee: invitee.flatMap { UserID($0) }, audio: audio, video: video)))
  }

  func answer(video: Bool = true) {
    if let call { put(.command(.answer(call.handle, audio: true, video: video))) }
  }

  /// Does it to the call there is.
  func order(_ command: (CallHandle) -> MatrixCallCommand) {
    if let call { put(.command(command(call.handle))) }
  }
}
