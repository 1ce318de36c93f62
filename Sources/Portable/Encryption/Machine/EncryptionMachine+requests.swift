import JSON
import MatrixModel
import Olm

/// What the machine asks the server for.
extension EncryptionMachine {
  static let messagesOfRequest = 250

  mutating func nextRequests(at now: Int64) -> [MachineRequest] {
    guard isStarted, !requests.isPaused(at: now) else { return [] }
    var made: [MachineRequest] = []
    // A machine that has lost its keys must not put others in their place.
    let mayUpload = own.isDevicePublished || tracker.outdated(among: [own.user]).isEmpty
    if mayUpload, let body = own.nextUpload(random: &random, at: now) {
      unstored.ownKeys = true
      made.append(MachineRequest(id: requests.add(.upload), endpoint: .uploadKeys, parameters: [], body: body))
    }
    while requests.mayQuery, let query = tracker.nextQuery(at: now) {
      made.append(MachineRequest(id: requests.add(.query(query)), endpoint: .queryKeys, parameters: [], body: query.body))
    }
    while !claims.isEmpty {
      let devices = claims.next(at: now)
      let body = Self.claimBody(devices)
      made.append(MachineRequest(id: requests.add(.claim(devices)), endpoint: .claimKeys, parameters: [], body: body))
    }
    for request in requests.takeUnsent() {
      made.append(
        MachineRequest(
          id: requests.add(.send(request)), endpoint: .sendToDevice, parameters: [request.type, request.transaction],
          body: request.body))
    }
    for next in sendings.takeReady() {
      made.append(
        MachineRequest(
          id: requests.add(.say(next)), endpoint: next.endpoint, parameters: next.parameters, body: next.body))
    }
    if !requests.areOfIdentity, let (ask, purpose) = nextIdentityAsk() { made.append(request(ask, for: purpose)) }
    for run in runs {
      guard let ask = nextAsk(of: run) else { continue }
      runs.removeAll { $0.number == run.number }
      made.append(request(ask, for: .run(run)))
    }
    if let (ask, purpose) = nextSecretAsk() { made.append(request(ask, for: purpose)) }
    if let (ask, purpose) = nextDehydrationAsk(at: now) { made.append(request(ask, for: purpose)) }
    for (ask, purpose) in nextBackupAsks() { made.append(request(ask, for: purpose)) }
    return made
  }

  private mutating func request(_ ask: Ask, for purpose: OpenRequests.Purpose) -> MachineRequest {
    MachineRequest(
      id: requests.add(purpose), endpoint: ask.endpoint, parameters: ask.parameters, version: ask.version, body: ask.body)
  }

  /// When something has to be looked at again without an input.
  func nextWake(at now: Int64) -> Int64? {
    var times = [
      backup?.nextUploadTime(), requests.isPaused(at: now) ? requests.pausedUntil : tracker.nextRetry(),
      claims.nextDeadline(at: now), keyRequests.nextTime, verifications.deadline, nextDehydration
    ]
    for share in history.shares { times.append(share.since + RoomWriting.patienceMilliseconds) }
    for message in messages.outgoing { times.append(message.since + RoomWriting.patienceMilliseconds) }
    for room in writing.values where !room.isIdle {
      times.append(room.waitsSince.map { $0 + RoomWriting.patienceMilliseconds })
    }
    return times.compactMap { $0 }.filter { $0 > now }.min()
  }

  private static func claimBody(_ devices: [DeviceKeys]) -> [UInt8] {
    JSONWriter.object { writer in
      let entries = devices.map { (user: $0.user, device: $0.device, value: Algorithm.signedOneTimeKey) }
      writer.member("one_time_keys", byDevice: entries) { $1.write($0) }
    }
  }

  /// - Parameter room: where these are keys of one.
  mutating func send(_ type: ByteString, _ messages: [ToDeviceRequest.Message], keysOf room: RoomID?) {
    var start = 0
    while start < messages.count {
      let end = min(start + Self.messagesOfRequest, messages.count)
      let transaction = RecordNames.hexadecimal(random.bytes(16)[...])
      let request = ToDeviceRequest(type, messages[start..<end], keysOf: room, transaction: transaction)
      requests.append(request)
      unstored.requests.append(.put(request.record))
      start = end
    }
  }

  // MARK: Answers

  mutating func answered(_ id: MachineRequest.ID, _ answer: JSON, at now: Int64) {
    requests.noteAnswer()
    switch requests.remove(id) {
    case nil: break
    case .upload:
      own.uploaded(answer)
      unstored.ownKeys = true
    case .query(let query):
      learn(query, answer, at: now)
      learnedForVerifications(at: now)
      checkOwnDevice()
      stale.formUnion(writing.keys)
    case .claim(let devices): beginSessions(devices, answer["one_time_keys"], at: now)
    case .send(let request): end(request)
    case .identity: identityAccepted()
    case .signatures(let upload): signaturesUploaded(upload)
    case .run(let run): answered(run, answer, at: now)
    case .backUp(let upload): uploaded(upload, answer, at: now)
    case .checkBackup: checked(answer)
    case .restoreAll: restoredAll(answer)
    case .restore(let name): restored(name, answer, at: now)
    case .say(let request): said(request.sending, answer, at: now)
    case .openBackup: openBackup(answer)
    case .dehydration(let step): answered(step, answer, at: now)
    }
  }

  mutating func failed(_ id: MachineRequest.ID, _ failure: RequestFailure, at now: Int64) {
    let purpose = requests.remove(id)
    if failure == .unreachable { requests.noteFailure(at: now) }
    switch purpose {
    case nil: break
    case .upload:
      if failure == .unreachable { return own.uploadFailed() }
      if !own.uploadRefused() { output.results.append(.broken(.refusedKeys)) }
      unstored.ownKeys = true
    case .query(let query):
      // A server that refuses this will not take another at once.
      requests.noteFailure(at: now)
      tracker.failed(query)
      stale.formUnion(writing.keys)
    case .claim(let devices):
      for device in devices { if failure == .unreachable { claims.failed(device) } else { claims.hadNoKey(device, at: now) } }
      stale.formUnion(writing.keys)
    case .send(let request):
      // Its devices do not get what it had. Nothing waits for it for ever.
      if failure == .unreachable { requests.append(request) } else { end(request) }
    // They are asked for again as long as they are there.
    case .identity: if failure == .refused { identityRefused() }
    case .signatures(let upload): if failure == .refused { signaturesUploaded(upload) }
    case .run(let run):
      if failure == .unreachable { end(run.number, .failed(.unreachable)) } else { answered(run, nil, at: now) }
    case .backUp(let upload): uploadFailed(upload, failure)
    case .checkBackup: if failure == .unreachable { wantsBackupCheck = true } else { checked(nil) }
    case .restoreAll: if failure == .unreachable { restores.wantsAll = true }
    case .restore(let name): if failure == .unreachable { restores.failed(name) }
    case .say(let request): if failure == .unreachable { sendings.add(request) } else { said(request.sending, nil, at: now) }
    case .openBackup: if failure == .unreachable { openBackupFailed() } else { openBackup(nil) }
    case .dehydration(let step):
      if failure == .unreachable { dehydration.isAsking = false } else { answered(step, nil, at: now) }
    }
  }

  private mutating func end(_ request: ToDeviceRequest) {
    unstored.requests.append(.delete(RecordNames.sending(request.transaction)))
    if let room = request.room { stale.insert(room) }
  }

  private mutating func checkOwnDevice() {
    guard let listed = tracker.device(own.device, of: own.user), !listed.hasSameKeys(as: own.deviceKeys) else { return }
    if own.isDevicePublished { output.results.append(.broken(.changedOwnKeys)) } else { stop(.lostKeys) }
  }

  private mutating func beginSessions(_ devices: [DeviceKeys], _ answer: JSON?, at now: Int64) {
    var greetings: [ToDeviceRequest.Message] = []
    for device in devices {
      guard let key = answer.flatMap({ device.claimedKey(in: $0) }),
        (try? sessions.begin(with: device, oneTime: key, from: own, random: &random)) != nil
      else {
        claims.hadNoKey(device, at: now)
        continue
      }
      guard claims.answered(device), let nothing = try? JSON.object({ _ in }),
        let content = encrypted("m.dummy", nothing, for: device)
      else { continue }
      greetings.append(ToDeviceRequest.Message(device, content))
    }
    send("m.room.encrypted", greetings, keysOf: nil)
    sendSecrets(to: devices)
    if !keyAnswers.waiting.isEmpty { queueLast(.answerKeys) }
    stale.formUnion(writing.keys)
  }
}
