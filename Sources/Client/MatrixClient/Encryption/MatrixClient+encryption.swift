import ClientCore
import Encryption
import JSON
import MatrixModel
import Olm

/// End-to-end encryption. The machine stands between the core and everything else: what the core is given is clear text, and what it sends to encrypted
/// rooms goes through the machine first. Documentation/Decisions/0023-encryption.md
extension MatrixClient {
  // MARK: Beginning and end

  /// The machine begins with a session and goes with its end.
  func followSession() {
    guard core.sessionState == .signedIn || core.sessionState == .softLoggedOut, let session = core.session else {
      return endEncryption()
    }
    if let host = encryptionHost, host.user == session.userID, host.device == session.deviceID { return }
    guard core.sessionState == .signedIn, core.encrypts else { return }
    encryptionHost = EncryptionHost(
      user: session.userID, device: session.deviceID, random: .system, dehydrates: keepsDehydratedDevice)
    step { $0.start(at: MatrixClient.now()) }
    workOnIndex()
  }

  private func endEncryption() {
    guard encryptionHost != nil else { return }
    encryptionHost = nil
    wakeTimer?.task.cancel()
    wakeTimer = nil
    machineRequests = [:]
    held = EncryptionStep()
    stopWaitingForDevice()
    stopWaitingForSettling()
    endEncryptionCommands()
    endKeyTransfers()
  }

  /// Waits until the server has the keys of this device: others can write to it from then on. It does not wait for long, nor for a server that
  /// has no encryption.
  func deviceIsPublished() async {
    guard let host = encryptionHost, !host.isPublished, host.broken == nil else { return }
    let timeout = Task {
      try? await Task.sleep(for: .seconds(10))
      if !Task.isCancelled { stopWaitingForDevice() }
    }
    await withCheckedContinuation { deviceWaiters.append($0) }
    timeout.cancel()
  }

  func stopWaitingForDevice() {
    let waiters = deviceWaiters
    deviceWaiters = []
    for waiter in waiters { waiter.resume() }
  }

  /// The store did not take what the machine has to keep. To go on would be to use keys twice after a restart.
  func loseEncryption() {
    guard var host = encryptionHost else { return }
    let rest = host.abandon()
    endEncryption()
    stopEncrypting()
    for delivery in rest.deliveries { take(delivery) }
  }

  // MARK: Steps

  /// Takes a step of the machine, and does all that follows from it.
  func step(_ body: (inout EncryptionHost) -> EncryptionStep) {
    guard var host = encryptionHost else { return }
    let step = body(&host)
    encryptionHost = host
    carryOut(step)
  }

  private func carryOut(_ step: EncryptionStep) {
    held.changes += step.changes
    held.later += step.later
    held.keyTransfers += step.keyTransfers
    held.requests += step.requests
    held.histories += step.histories
    for delivery in step.deliveries { take(delivery) }
    flush()
    if !step.loads.isEmpty { queueLoad(of: step.loads) }
    setWakeTimer()
    if encryptionHost?.isOver ?? false { loseEncryption() }
    if encryptionHost.map({ $0.isPublished || $0.broken != nil }) ?? true { stopWaitingForDevice() }
    publishEncryptionStatus()
    publishVerifications()
  }

  private func take(_ delivery: EncryptionDelivery) {
    switch delivery {
    case .ended(let command, let outcome): endEncryptionCommand(command, outcome)
    case .news(let news): publish(news)
    case .records(let id, let records) where storedLoads[id] != nil:
      endStoredLoad(id, records.map { StoreRecord(key: $0.key, value: $0.value) })
    default: if let input = Input(delivery) { handle(input) }
    }
    if case .late(let room, _) = delivery { indexLate(room) }
  }

  /// What waited until the machine's records are durable.
  func release(_ step: EncryptionStep, isStored: Bool) {
    guard isStored else { return loseEncryption() }
    for delivery in step.later { take(delivery) }
    for transfer in step.keyTransfers { end(transfer) }
    for offer in step.histories { Task { await take(offer) } }
    for request in step.requests { ask(request) }
  }

  func loadedForMachine(_ records: [StoreRecord]) {
    step { $0.handle(.loaded(records.map { EncryptionRecord($0) }), at: MatrixClient.now()) }
  }

  // MARK: What the core reads and writes

  func encrypt(_ message: UnencryptedMessage, _ id: SendID) {
    let members = RoomMembers(message.room, users: message.users, sharesHistory: message.sharesHistory)
    step { $0.encrypt(id, message.type, message.content, for: members, at: MatrixClient.now()) }
  }

  func prepare(_ readers: MessageReaders) {
    let members = RoomMembers(readers.room, users: readers.users, sharesHistory: readers.sharesHistory)
    step { $0.handle(.prepare(members), at: MatrixClient.now()) }
  }

  /// Returns false where the core takes the answer as it is.
  func decrypts(_ response: Response, to request: HTTPRequest, _ id: RequestID) -> Bool {
    // Another program gets what the server says, and no clear text.
    guard case .answer(200, let body) = response, !core.isPassedOn(id) else { return false }
    guard let step = encryptionHost?.take(body, to: request.target, for: id, at: MatrixClient.now()) else { return false }
    carryOut(step)
    return true
  }

  /// Returns false where the core takes the records as they are.
  func decrypts(_ records: [StoreRecord], _ id: LoadID) -> Bool {
    guard let room = records.first.flatMap({ TimelineRecord.room(of: $0.key) }) else { return false }
    let records = records.map { EncryptionRecord($0) }
    guard let step = encryptionHost?.take(records, of: room, for: id, at: MatrixClient.now()) else { return false }
    carryOut(step)
    return true
  }

  // MARK: Requests and time

  /// - Parameter authentication: the `auth` object that the server wants.
  func ask(_ request: MachineRequest, authentication: [UInt8]? = nil) {
    guard encryptionHost != nil, let id = try? nextID() else { return }
    machineRequests[id] = request
    let body = request.body.isEmpty ? nil : request.body
    var query = QueryRequest(endpoint: request.endpoint, target: request.target, body: body)
    query.authentication = authentication
    handle(.query(query, id: id))
  }

  /// The end of one of the machine's requests.
  func answerMachine(_ id: CommandID, _ result: QueryResult) {
    guard let request = machineRequests.removeValue(forKey: id) else { return }
    if case .failed(.authenticationNeeded(let needed)) = result { return authenticate(request, needed) }
    let input: MachineInput =
      switch result {
      case .answer(let json): .answered(request.id, json)
      case .failed(let error): .failed(request.id, error.isFinal ? .refused : .unreachable)
      }
    step { $0.handle(input, at: MatrixClient.now()) }
  }

  private func setWakeTimer() {
    guard wakeTimer?.at != encryptionHost?.wakeAt else { return }
    wakeTimer?.task.cancel()
    wakeTimer = nil
    guard let at = encryptionHost?.wakeAt else { return }
    let task = Task {
      try? await Task.sleep(for: .milliseconds(max(0, at - MatrixClient.now())))
      guard !Task.isCancelled else { return }
      wakeTimer = nil
      step { $0.handle(.woken, at: max(at, MatrixClient.now())) }
    }
    wakeTimer = (at, task)
  }
}

extension EncryptionRecord {
  fileprivate init(_ record: StoreRecord) { self.init(key: record.key, value: record.value) }
}

extension StoreOperation {
  init(_ change: RecordChange) {
    switch change {
    case .put(let record): self = .put(key: record.key, value: record.value)
    case .delete(let key): self = .delete(key: key)
    }
  }
}

extension Input {
  /// nil for what is not the core's.
  fileprivate init?(_ delivery: EncryptionDelivery) {
    switch delivery {
    case .answer(let request, let body): self = .response(request, .decrypted(body))
    case .records(let load, let records):
      self = .loaded(load, records.map { StoreRecord(key: $0.key, value: $0.value) })
    case .encrypted(let message, let content): self = .encrypted(message, content)
    case .blocked(let message, let reason): self = .notEncrypted(message, ClientError(reason))
    case .late(let room, let events): self = .decrypted(room, events)
    case .received, .ended, .news: return nil
    }
  }
}

extension ClientError {
  fileprivate init(_ reason: Blocked) {
    switch reason {
    case .malformed: self = .invalidContent
    case .undecided(.verifiedIdentitiesChanged(let users)), .undecided(.identitiesChanged(let users)):
      self = users.first.map { .unconfirmedIdentity($0) } ?? .encryptedRoom
    case .undecided(.ownDeviceUnverified(let user)): self = .unconfirmedIdentity(user)
    case .notEncrypted, .unknownAlgorithm, .broken: self = .encryptedRoom
    }
  }
}
