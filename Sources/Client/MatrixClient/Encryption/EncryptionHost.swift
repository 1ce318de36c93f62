import ClientCore
import Encryption
import JSON
import MatrixModel
import Olm

/// The encryption machine of one device, and what waits for it. It does no I/O: the client carries out what each step says.
struct EncryptionHost: Sendable {
  /// What an input has led to.
  struct Step: Sendable {
    /// For the core, at once. If it writes a batch, the machine's records go into the same one.
    var inputs: [Input] = []
    var writes: [StoreOperation] = []
    /// Once the writes are durable.
    var later = Later()
    /// Records that the machine wants to read.
    var loads: [ByteString] = []
  }

  struct Later: Sendable {
    var inputs: [Input] = []
    var requests: [MachineRequest] = []

    var isEmpty: Bool { inputs.isEmpty && requests.isEmpty }
  }

  /// Something of the core that is to be read in clear text.
  private struct Waiting: Sendable {
    let destination: Destination
    let answers: [EncryptedAnswer]
    /// Of its events; 0 without any.
    let batch: UInt64
    var isSynced: Bool
    var decrypted: [DecryptedEvent]?

    var isDone: Bool { isSynced && decrypted != nil }
  }

  enum Destination: Sendable {
    case response(RequestID)
    /// The records of a load; each of them that has something encrypted has an answer.
    case records(LoadID, [StoreRecord], places: [Int])
  }

  let userID: UserID
  let deviceID: DeviceID
  private var machine: EncryptionMachine
  private var waiting: [Waiting] = []
  private var lastBatch: UInt64 = 0
  /// In milliseconds since 1970; nil where nothing has to be looked at again.
  private(set) var wakeAt: Int64?
  /// Why it cannot go on.
  private(set) var broken: Broken?

  init(_ session: ClientCore.Session) {
    userID = session.userID
    deviceID = session.deviceID
    machine = EncryptionMachine(user: session.userID, device: session.deviceID, random: .system)
  }

  // MARK: Inputs

  mutating func start(at now: Int64) -> Step { take(machine.start(at: now)) }

  mutating func handle(_ input: MachineInput, at now: Int64) -> Step { take(machine.handle(input, at: now)) }

  mutating func encrypt(_ message: UnencryptedMessage, _ id: SendID, at now: Int64) -> Step {
    guard let content = try? JSON.parse(message.content) else {
      return Step(inputs: [.notEncrypted(id, .invalidContent)])
    }
    let members = RoomMembers(message.room, users: message.users, sharesHistory: message.sharesHistory)
    return handle(.encrypt(id, members, message.type, content), at: now)
  }

  /// nil where the answer has nothing to do with encryption.
  ///
  /// - Parameter target: path and query of the request.
  mutating func take(_ body: [UInt8], to target: String, for request: RequestID, at now: Int64) -> Step? {
    guard body.first == UInt8(ascii: "{"), let json = try? JSON.parse(body) else { return nil }
    let answer = EncryptedAnswer(json, to: target)
    guard !answer.isPlain else { return nil }
    return wait(for: [answer], .response(request), at: now)
  }

  /// Stored events whose keys were not there when they came.
  mutating func take(_ records: [StoreRecord], for load: LoadID, of room: RoomID, at now: Int64) -> Step? {
    var (answers, places): ([EncryptedAnswer], [Int]) = ([], [])
    for (place, record) in records.enumerated() {
      guard record.value.contains(Array("m.room.encrypted".utf8)), let json = try? JSON.parse(record.value) else { continue }
      let answer = EncryptedAnswer(record: json, of: room)
      guard !answer.events.isEmpty else { continue }
      answers.append(answer)
      places.append(place)
    }
    guard !answers.isEmpty else { return nil }
    return wait(for: answers, .records(load, records, places: places), at: now)
  }

  private mutating func wait(for answers: [EncryptedAnswer], _ destination: Destination, at now: Int64) -> Step {
    let events = answers.flatMap(\.events)
    lastBatch += 1
    waiting.append(
      Waiting(
        destination: destination, answers: answers, batch: lastBatch, isSynced: answers.allSatisfy { $0.keys == nil },
        decrypted: events.isEmpty ? [] : nil))
    var step = Step()
    for answer in answers {
      for (room, content) in answer.encryption { step.add(handle(.encryption(room, content), at: now)) }
      for (room, users) in answer.departures { step.add(handle(.departed(room, users), at: now)) }
      if let keys = answer.keys { step.add(handle(.sync(keys), at: now)) }
    }
    if !events.isEmpty { step.add(handle(.decrypt(lastBatch, events), at: now)) }
    step.inputs += finished()
    return step
  }

  // MARK: Outputs

  private mutating func take(_ output: MachineOutput) -> Step {
    var step = Step()
    wakeAt = output.wakeAt
    step.loads = output.loads
    step.writes = output.writes.map { change in
      switch change {
      case .put(let record): .put(key: record.key, value: record.value)
      case .delete(let key): .delete(key: key)
      }
    }
    for result in output.results { take(result, &step) }
    step.inputs += finished()
    step.later.requests = output.requests
    return step
  }

  private mutating func take(_ result: MachineResult, _ step: inout Step) {
    switch result {
    case .synced:
      if let place = waiting.firstIndex(where: { !$0.isSynced }) { waiting[place].isSynced = true }
    case .decrypted(let batch, let events):
      if let place = waiting.firstIndex(where: { $0.batch == batch }) { waiting[place].decrypted = events }
    case .late(let events):
      var rooms: [RoomID: [JSON]] = [:]
      for event in events { if let json = event.json { rooms[event.event.room, default: []].append(json) } }
      for room in rooms.keys.sorted() { step.later.inputs.append(.decrypted(room, rooms[room] ?? [])) }
    case .encrypted(let id, let content): step.inputs.append(.encrypted(id, content))
    case .blocked(let id, let reason):
      step.inputs.append(.notEncrypted(id, reason == .malformed ? .invalidContent : .encryptedRoom))
    case .broken(let reason): broken = reason
    case .prepared, .devices, .received, .refused: break
    }
  }

  /// In the order in which they came: a later sync does not overtake.
  private mutating func finished() -> [Input] {
    var inputs: [Input] = []
    while let first = waiting.first, first.isDone {
      waiting.removeFirst()
      let events = first.decrypted ?? []
      switch first.destination {
      case .response(let request):
        inputs.append(.response(request, .answer(status: 200, body: first.answers[0].rewritten(events))))
      case .records(let load, let records, let places):
        var records = records
        for (answer, place) in zip(first.answers, places) { records[place].value = answer.rewritten(events) }
        inputs.append(.loaded(load, records))
      }
    }
    return inputs
  }
}

extension EncryptionHost.Step {
  mutating func add(_ other: Self) {
    inputs += other.inputs
    writes += other.writes
    later.inputs += other.later.inputs
    later.requests += other.later.requests
    loads += other.loads
  }
}
