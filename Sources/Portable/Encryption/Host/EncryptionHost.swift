import JSON
import MatrixModel
import Olm

/// A machine, and what of a client waits for it: answers of the server and stored events that are to be read in clear text, in the order in which they
/// came. A client has one, in its own thread or in another; it does what each step says.
package struct EncryptionHost: Sendable {
  /// Something that is to be read in clear text.
  private struct Waiting: Sendable {
    let destination: Destination
    let answers: [EncryptedAnswer]
    /// Of its events.
    let batch: UInt64
    var isSynced: Bool
    var decrypted: [DecryptedEvent]?

    var isDone: Bool { isSynced && decrypted != nil }
  }

  private enum Destination: Sendable {
    case answer(UInt32)
    /// The records of a load, and the places of those that have something encrypted.
    case records(UInt32, [EncryptionRecord], places: [Int])
  }

  package let user: UserID
  package let device: DeviceID
  private var machine: EncryptionMachine
  private var waiting: [Waiting] = []
  private var lastBatch: UInt64 = 0
  private var messages: Set<UInt64> = []
  private var told = ToldTrust()
  /// When to say `MachineInput.woken`, in milliseconds since 1970; nil for not at all.
  package private(set) var wakeAt: Int64?
  /// Whether the server has the device's keys, so that others can write to it.
  package var isPublished: Bool { machine.own.isDevicePublished }
  package var state: EncryptionState { machine.encryptionState }
  package var figures: EncryptionFigures { machine.figures }
  /// The events that cannot be read now, by reason: how many, and since when the first of them, in milliseconds since 1970.
  package var unreadEvents: [Undecryptable: (count: Int, since: Int64)] { machine.unreadEvents }
  package var policy: SharingPolicy { machine.policy }
  /// Users with other master keys than those that are pinned.
  package var changedIdentities: [UserIdentity] { machine.identities.changed }
  /// When the master keys of other users changed last, in milliseconds since 1970, whether that was accepted or not; the oldest first.
  package var keyChanges: [(user: UserID, at: Int64)] { machine.identities.changes }
  /// Of all whose lists are known: devices that their users have not signed though they sign devices, and those whose keys were refused.
  package var doubtfulDevices: (unsigned: Int, refused: Int) { (machine.unsignedDevices, machine.tracker.refusedCount) }
  package func isVerified(_ user: UserID) -> Bool { machine.identities.isVerified(user) }
  /// Other users who are verified, in the order of their IDs.
  package var verifiedUsers: [UserID] { machine.identities.verified }
  /// Whether everything is done that follows from verifications.
  package var isSettled: Bool { machine.hasSettled }
  /// Those under way, and those that have ended until the user has seen it; the oldest first.
  package var verifications: [Verification] { machine.verifications.views }
  /// What people have to be told.
  package private(set) var broken: Broken?
  /// Whether it is of no more use. What waited for it was delivered as it was.
  package var isOver: Bool { machine.isStopped }

  /// - Parameters:
  ///   - random: of the system, but in tests.
  ///   - dehydrates: see `EncryptionMachine.dehydrates`.
  package init(user: UserID, device: DeviceID, random: SecretSource, dehydrates: Bool = false) {
    self.user = user
    self.device = device
    machine = EncryptionMachine(user: user, device: device, random: random)
    machine.dehydrates = dehydrates
  }

  // MARK: Inputs

  /// - Parameter now: milliseconds since 1970, as of all inputs.
  package mutating func start(at now: Int64) -> EncryptionStep { take(machine.start(at: now)) }

  package mutating func handle(_ input: MachineInput, at now: Int64) -> EncryptionStep { take(machine.handle(input, at: now)) }

  /// Uses the time until the records come that the last step has asked for.
  package mutating func workAhead() { machine.workAhead() }

  /// - Parameters:
  ///   - message: of the client, which is told the end under this number.
  ///   - content: a JSON object.
  package mutating func encrypt(
    _ message: UInt64, _ type: EventType, _ content: [UInt8], for members: RoomMembers, at now: Int64
  ) -> EncryptionStep {
    guard let json = try? JSON.parse(content), json.isObject else {
      var step = EncryptionStep()
      step.deliveries = [.blocked(message, .malformed)]
      return step
    }
    messages.insert(message)
    return handle(.encrypt(message, members, type, json), at: now)
  }

  /// The body of an answer with status 200; nil where it has nothing to do with encryption.
  ///
  /// - Parameter target: path and query of the request.
  package mutating func take(_ body: [UInt8], to target: String, for request: UInt32, at now: Int64) -> EncryptionStep? {
    guard let json = Self.parse(body), json.isObject else { return nil }
    var answer = EncryptedAnswer(json, to: target)
    answer.markClearText(in: answer.clearRooms.filter { machine.rooms[$0] != nil })
    return answer.isPlain ? nil : wait(for: [answer], .answer(request), at: now)
  }

  private static func parse(_ bytes: [UInt8]) -> JSON? {
    try? JSON.parse(bytes, limits: JSONLimits(depth: EncryptionLimits.depthOfAnswer))
  }

  /// Records of a room's timeline; nil where nothing is to be changed: no event is still encrypted, and of none is known more.
  package mutating func take(_ records: [EncryptionRecord], of room: RoomID, for load: UInt32, at now: Int64) -> EncryptionStep?
  {
    var (answers, places): ([EncryptedAnswer], [Int]) = ([], [])
    for (place, record) in records.enumerated() {
      guard let json = Self.parse(record.value) else { continue }
      var answer = EncryptedAnswer(record: json, of: room)
      for event in answer.unproven {
        if let trust = machine.trust(in: event.sender, event.identity, since: event.trust) { answer.set(trust, of: event) }
      }
      guard !answer.isSettled else { continue }
      answers.append(answer)
      places.append(place)
    }
    return answers.isEmpty ? nil : wait(for: answers, .records(load, records, places: places), at: now)
  }

  private mutating func wait(for answers: [EncryptedAnswer], _ destination: Destination, at now: Int64) -> EncryptionStep {
    let events = answers.flatMap { $0.events }
    lastBatch += 1
    waiting.append(
      Waiting(
        destination: destination, answers: answers, batch: lastBatch, isSynced: answers.allSatisfy { $0.keys == nil },
        decrypted: events.isEmpty ? [] : nil))
    let batch = lastBatch
    var step = EncryptionStep()
    for answer in answers {
      for (room, content) in answer.encryption { step.add(handle(.encryption(room, content), at: now)) }
      for (room, users) in answer.departures { step.add(handle(.departed(room, users), at: now)) }
      if let keys = answer.keys { step.add(handle(.sync(keys), at: now)) }
      if !answer.verifications.isEmpty { step.add(handle(.verification(answer.verifications), at: now)) }
    }
    if !events.isEmpty { step.add(handle(.decrypt(batch, events), at: now)) }
    step.deliveries += isOver ? abandoned() : finished()
    return step
  }

  // MARK: Outputs

  private mutating func take(_ output: MachineOutput) -> EncryptionStep {
    var step = EncryptionStep()
    wakeAt = output.wakeAt
    step.loads = output.loads
    step.changes = output.writes
    for result in output.results { take(result, &step) }
    step.deliveries += isOver ? abandoned() : finished()
    step.requests = output.requests
    return step
  }

  private mutating func take(_ result: MachineResult, _ step: inout EncryptionStep) {
    switch result {
    case .synced:
      if let place = waiting.firstIndex(where: { !$0.isSynced }) { waiting[place].isSynced = true }
    case .decrypted(let batch, let events):
      if let place = waiting.firstIndex(where: { $0.batch == batch }) { waiting[place].decrypted = events }
    case .late(let events):
      var rooms: [RoomID: [JSON]] = [:]
      for event in events { if let json = event.json { rooms[event.event.room, default: []].append(json) } }
      for room in rooms.keys.ordered() { step.later.append(.late(room, rooms[room] ?? [])) }
    case .encrypted(let message, let content):
      messages.remove(message)
      step.deliveries.append(.encrypted(message, content))
    case .blocked(let message, let reason):
      messages.remove(message)
      step.deliveries.append(.blocked(message, reason))
    case .exportedKeys(let number, let keys): step.keyTransfers.append(.exported(number, keys))
    case .importedKeys(let number, let new): step.keyTransfers.append(.imported(number, new: new))
    case .broken(let reason): broken = reason
    case .history(let room, let giver, let file): step.histories.append(HistoryOffer(room: room, giver: giver, file: file))
    case .received(let message): step.later.append(.received(message))
    case .devices(let news): tell(machine.trustNews(news), &step)
    case .identities(let news): tell(machine.trustNews(news), &step)
    case .prepared, .refused: break
    case .ended(let number, let outcome): step.later.append(.ended(number, outcome))
    }
  }

  private mutating func tell(_ news: TrustNews?, _ step: inout EncryptionStep) {
    if let news, told.tell(news) { step.later.append(.news(news)) }
  }

  /// What waits, as it is: the client goes on without the machine.
  package mutating func abandon() -> EncryptionStep {
    var step = EncryptionStep()
    step.deliveries = abandoned()
    return step
  }

  private mutating func abandoned() -> [EncryptionDelivery] {
    for place in waiting.indices {
      waiting[place].isSynced = true
      waiting[place].decrypted = waiting[place].decrypted ?? []
    }
    let blocked = messages.ordered().map { EncryptionDelivery.blocked($0, .broken) }
    messages = []
    return finished() + blocked
  }

  /// A later sync does not overtake.
  private mutating func finished() -> [EncryptionDelivery] {
    var deliveries: [EncryptionDelivery] = []
    while let first = waiting.first, first.isDone {
      waiting.removeFirst()
      let events = first.decrypted ?? []
      switch first.destination {
      case .answer(let request): deliveries.append(.answer(request, first.answers[0].rewritten(events)))
      case .records(let load, var records, let places):
        for (answer, place) in zip(first.answers, places) {
          records[place] = EncryptionRecord(key: records[place].key, value: answer.rewritten(events))
        }
        deliveries.append(.records(load, records))
      }
    }
    return deliveries
  }
}
