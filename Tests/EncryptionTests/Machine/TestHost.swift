import JSON
import MatrixModel
import Olm

@testable import Encryption

/// What a client does around a machine: it keeps what the machine writes, and gives and takes messages. A crash loses what it has not written.
final class TestHost {
  let name: ModelServer.Name
  let server: ModelServer
  var machine: EncryptionMachine
  private let seed: String
  private let dehydrates: Bool
  private var starts = 0

  /// Kept over a crash.
  struct Durable {
    var store: [ByteString: [UInt8]] = [:]
    var token = 0
    var eventsRead = 0
    var unencrypted: [UInt64: JSON] = [:]
    var unsent: [(number: UInt64, content: [UInt8])] = []
    var clear: [EventID: ClearEvent] = [:]
    var trust: [ByteString: SenderTrust] = [:]
    var unread: [EventID: (event: EncryptedEvent, reason: Undecryptable)] = [:]
    var lastNumber: UInt64 = 0
    var members: [UserID]
  }

  enum CrashPoint {
    /// What the machine wrote is lost.
    case beforeWriting
    /// What it asked for is lost.
    case afterWriting
  }

  var durable: Durable
  /// The next output ends there.
  var crash: CrashPoint?
  /// So many outputs later than the next.
  var crashDelay = 0
  /// Who was to read each message when it was encrypted.
  private(set) var readers: [UInt64: [UserID]] = [:]
  var requests: [MachineRequest] = []
  private(set) var loads: [ByteString] = []
  private(set) var wakeAt: Int64?
  /// Results that change nothing that is kept.
  var news: [MachineResult] = []
  private var syncs: [(token: Int, members: [UserID])] = []
  private var batches: [UInt64: Int] = [:]
  private var lastBatch: UInt64 = 0, lastCommand: UInt64 = 0
  /// Loads are answered at once unless a test wants to come between.
  var answersLoads = true

  init(
    _ user: UserID, _ device: String, at server: ModelServer, seed: String = "", dehydrates: Bool = false, now: Int64 = 0
  ) {
    name = ModelServer.Name(user: user, device: DeviceID(trusted: ByteString(device)))
    self.server = server
    self.seed = seed
    self.dehydrates = dehydrates
    durable = Durable(members: server.members)
    machine = Self.machine(name, seed: "\(seed) \(user) \(device) 0")
    machine.dehydrates = dehydrates
    server.add(name)
    take(machine.start(at: now), at: now)
  }

  private static func machine(_ name: ModelServer.Name, seed: String) -> EncryptionMachine {
    EncryptionMachine(user: name.user, device: name.device, random: .repeating(seed: Array(seed.utf8)))
  }

  /// A sync that is not the server's next.
  func expectSync() { syncs.append(syncs.last ?? (durable.token, durable.members)) }

  /// Begins again from what is kept.
  func restart(at now: Int64 = 0) {
    starts += 1
    (requests, loads, wakeAt, syncs, batches) = ([], [], nil, [], [:])
    machine = Self.machine(name, seed: "\(seed) \(name) \(starts)")
    machine.dehydrates = dehydrates
    take(machine.start(at: now), at: now)
    if !durable.unread.isEmpty { read(durable.unread.values.map(\.event), at: now) }
    for number in durable.unencrypted.keys.sorted() { encrypt(number, at: now) }
  }

  // MARK: Outputs

  func handle(_ input: MachineInput, at now: Int64) { take(machine.handle(input, at: now), at: now) }

  private func take(_ output: MachineOutput, at now: Int64) {
    if crash != nil, crashDelay > 0 {
      crashDelay -= 1
    } else if let crash {
      self.crash = nil
      return take(output, crashing: crash, at: now)
    }
    take(output, crashing: nil, at: now)
  }

  private func take(_ output: MachineOutput, crashing crash: CrashPoint?, at now: Int64) {
    if crash == .beforeWriting { return restart(at: now) }
    keep(output)
    if crash == .afterWriting { return restart(at: now) }
    requests += output.requests
    loads += output.loads
    wakeAt = output.wakeAt
    while answersLoads, !loads.isEmpty { load(at: now) }
  }

  /// One batch.
  private func keep(_ output: MachineOutput) {
    for change in output.writes {
      switch change {
      case .put(let record): durable.store[record.key] = record.value
      case .delete(let key): durable.store[key] = nil
      }
    }
    for result in output.results {
      switch result {
      case .synced:
        let synced = syncs.removeFirst()
        (durable.token, durable.members) = (synced.token, synced.members)
      case .encrypted(let number, let content):
        durable.unencrypted[number] = nil
        readers[number] = durable.members
        durable.unsent.append((number, content))
      case .decrypted(let batch, let events):
        durable.eventsRead += batches.removeValue(forKey: batch) ?? 0
        events.forEach(keep)
      case .late(let events): events.forEach(keep)
      default: news.append(result)
      }
    }
  }

  private func keep(_ decrypted: DecryptedEvent) {
    switch decrypted.outcome {
    case .success(let clear):
      durable.clear[decrypted.event.id] = clear
      durable.trust[decrypted.event.id.text] = decrypted.trust
      durable.unread[decrypted.event.id] = nil
    case .failure(let reason): durable.unread[decrypted.event.id] = (decrypted.event, reason)
    }
  }

  // MARK: Commands

  @discardableResult
  func begin(_ command: EncryptionCommand, at now: Int64) -> UInt64 {
    lastCommand += 1
    handle(.command(lastCommand, command), at: now)
    return lastCommand
  }

  /// nil if the command is under way, or was lost in a crash.
  func outcome(of command: UInt64) -> EncryptionOutcome? {
    for case .ended(command, let outcome) in news { return outcome }
    return nil
  }

  // MARK: Steps

  func load(at now: Int64 = 0) {
    guard !loads.isEmpty else { return }
    let prefixes = loads
    loads = []
    let found = durable.store.filter { entry in prefixes.contains { entry.key.utf8.starts(with: $0.utf8) } }
    handle(.loaded(found.map { EncryptionRecord(key: $0.key, value: $0.value) }), at: now)
  }

  func sync(limit: Int = 1_000, at now: Int64 = 0) {
    let before = syncs.last ?? (durable.token, durable.members)
    let (synced, token) = server.sync(name, since: before.token, limit: limit)
    let departed = before.members.filter { !server.members.contains($0) }
    let start = starts
    if !departed.isEmpty { handle(.departed(ModelServer.room, departed), at: now) }
    // It may have crashed over that.
    guard starts == start else { return }
    syncs.append((token, server.members))
    handle(.sync(synced), at: now)
  }

  /// Sends a request, and hands in the answer.
  func ask(_ place: Int = 0, at now: Int64 = 0) throws {
    guard requests.indices.contains(place) else { return }
    let request = requests.remove(at: place)
    do {
      handle(.answered(request.id, try server.answer(request, of: name)), at: now)
    } catch is ModelAccounts.NotFound {
      handle(.failed(request.id, .refused), at: now)
    }
  }

  /// The request, or its answer, is lost.
  func lose(_ place: Int = 0, arrives: Bool, at now: Int64 = 0) throws {
    guard requests.indices.contains(place) else { return }
    let request = requests.remove(at: place)
    if arrives {
      do { _ = try server.answer(request, of: name) } catch is ModelAccounts.NotFound {}
    }
    handle(.failed(request.id, .unreachable), at: now)
  }

  func read(at now: Int64 = 0) throws {
    let new = server.events.dropFirst(durable.eventsRead + batches.values.reduce(0, +))
    guard !new.isEmpty else { return }
    let start = starts, plain = new.compactMap { VerificationMessage(plain: $0, in: ModelServer.room) }
    if !plain.isEmpty { handle(.verification(plain), at: now) }
    // It may have crashed over that.
    guard starts == start else { return }
    let events = new.compactMap { json in Event(json).flatMap { try? EncryptedEvent($0, in: ModelServer.room) } }
    read(events, counting: new.count, at: now)
  }

  private func read(_ events: [EncryptedEvent], counting count: Int = 0, at now: Int64) {
    lastBatch += 1
    batches[lastBatch] = count
    handle(.decrypt(lastBatch, events), at: now)
  }

  @discardableResult
  func write(_ body: String, at now: Int64 = 0) throws -> UInt64 {
    durable.lastNumber += 1
    durable.unencrypted[durable.lastNumber] = try JSON.object { $0.member("body", body) }
    encrypt(durable.lastNumber, at: now)
    return durable.lastNumber
  }

  private func encrypt(_ number: UInt64, at now: Int64) {
    guard let content = durable.unencrypted[number] else { return }
    handle(.encrypt(number, members, .message, content), at: now)
  }

  /// As the last sync has them that the machine was told of.
  var members: RoomMembers {
    RoomMembers(ModelServer.room, users: syncs.last?.members ?? durable.members, sharesHistory: false)
  }

  func send() throws {
    guard !durable.unsent.isEmpty else { return }
    let (number, content) = durable.unsent[0]
    try server.send(content, by: name, number)
    durable.unsent.removeFirst()
  }

  // MARK: What was read

  var bodies: [String] {
    server.events.indices.compactMap {
      durable.clear[EventID(trusted: ByteString("$\($0)"))]?.content.text("body")?.string
    }
  }

  var isIdle: Bool { requests.isEmpty && loads.isEmpty && durable.unsent.isEmpty && durable.unencrypted.isEmpty }
}

extension ModelServer {
  /// Until nobody has anything to do.
  func settle(_ hosts: [TestHost], at now: inout Int64) throws {
    for _ in 0..<200 {
      for host in hosts {
        host.sync(at: now)
        while !host.requests.isEmpty { try host.ask(at: now) }
        while !host.durable.unsent.isEmpty { try host.send() }
        try host.read(at: now)
      }
      let isQuiet = hosts.allSatisfy { host in
        host.isIdle && host.durable.eventsRead == events.count
          && sync(host.name, since: host.durable.token, limit: 1).token == host.durable.token
      }
      if isQuiet { return }
      now += 1_000
      for host in hosts { host.handle(.woken, at: now) }
    }
    throw Unsettled()
  }

  struct Unsettled: Error {}
}
