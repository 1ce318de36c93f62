import JSON
import MatrixModel
import Olm

/// End-to-end encryption of one device: its keys, the devices of others, and who can read which room. Documentation/Decisions/0023-encryption.md
///
/// It does no I/O: the host hands in what happened and carries out what comes back. What an input changes leaves the machine as one batch, before
/// anything is sent or shown that depends on it. So a crash at any moment neither uses an index twice nor loses a key.
package struct EncryptionMachine: Sendable {
  /// What is to be done, in order. The first waits for records it needs, and the others wait for it.
  enum Work: Sendable {
    case start
    case input(MachineInput)
    /// What came in a sync, decrypted.
    case take([Arrival])
    /// Looks again whether the room's messages can go.
    case advance(RoomID)
    case backUp([RoomKeys.Name])
    /// Looks for sessions of the store that the backup does not have.
    case scan(UInt8, of: KeyBackup.Version)
    case restore
    /// Keys of the backup.
    case keep([RoomKey])
    /// Reads again what waits for these sessions.
    case review([RoomKeys.Name])
    /// What a page of the dehydrated device's messages brought.
    case rehydrated([Arrival])
    /// Hands keys on to the user's other devices.
    case answerKeys
    case giveHistory(HistoryShare)
    case giveMessage(DeviceMessages.Outgoing)
    case sendSecret(SecretAnswers.Request)
  }

  var random: SecretSource
  var own: OwnKeys
  var names: RecordNames
  var tracker = DeviceTracker()
  var identities: Identities
  package internal(set) var policy = SharingPolicy()
  var setup = IdentitySetup()
  var runs: [CommandRun] = []
  var storage = SecretStorage()
  var backup: KeyBackup?
  var unsentUpload: BackupUpload?
  var wantsBackupCheck = false
  var isScanning = false
  /// The part of the store's sessions that was looked through last.
  private var isScanned: UInt8?
  var restores = BackupRestores()
  var verifications = Verifications()
  var sendings = VerificationSendings()
  var unsignedKeys = UnsignedKeys()
  var secrets: SharedSecrets
  var inspections: [(number: UInt64, user: UserID)] = []
  var sessions = DeviceSessions()
  var roomKeys = RoomKeys()
  var rooms: [RoomID: RoomEncryption] = [:]
  var outbound: [RoomID: OutboundRoom] = [:]
  /// Rooms in which somebody writes.
  var writing: [RoomID: RoomWriting] = [:]
  var waiting = WaitingEvents()
  var unsettled = UnsettledTrust()
  var figures = EncryptionFigures()
  var quota = KeyQuota()
  /// Users whose devices could not begin a session with this one. In memory only.
  var unreached: Set<UserID> = []
  /// Their devices with which a session begins once the list of the user's devices is there.
  var unrepaired: [UserID: Curve25519Key] = [:]
  var keyRequests = KeyRequests()
  var keyAnswers = KeyAnswers()
  var history = HistoryState()
  var messages = DeviceMessages()
  var lostKeys = LostKeys()
  /// Whether this client makes a dehydrated device for the user, and reads what came to it.
  package var dehydrates = false
  var dehydration = Dehydration()
  var claims = Claims()
  var requests = OpenRequests()
  /// Read for an export, and only until then.
  var exportedSlice: [RoomKey]?

  var output = MachineOutput()
  var unstored = Unstored()
  private var queue: [Work] = [.start]
  /// The records that the first of the queue waits for.
  private(set) var awaited: [RecordNeed] = []
  /// Whether the first of the queue ends what another began. Nothing leaves the machine in between.
  private var isAmidst = false
  /// Rooms to look at again.
  var stale: Set<RoomID> = []
  private(set) var isStopped = false

  /// - Parameter random: of the system, but in tests.
  package init(user: UserID, device: DeviceID, random: SecretSource) {
    self.random = random
    names = RecordNames(secret: self.random.secret(RecordNames.secretByteCount))
    own = OwnKeys(user: user, device: device, account: Account(random: &self.random))
    identities = Identities(own: OwnIdentity(user: user, device: device))
    secrets = SharedSecrets(of: device)
  }

  // MARK: Inputs

  /// The first output, which asks for the store's records.
  ///
  /// - Parameter now: milliseconds since 1970, as of all inputs.
  package mutating func start(at now: Int64) -> MachineOutput {
    run(at: now)
    return finish(at: now)
  }

  package mutating func handle(_ input: MachineInput, at now: Int64) -> MachineOutput {
    switch input {
    case .loaded(let records): take(records, at: now)
    case .woken:
      stale.formUnion(writing.keys)
      expireVerifications(at: now)
    default: queue.append(.input(input))
    }
    run(at: now)
    return finish(at: now)
  }

  private mutating func run(at now: Int64) {
    while !isStopped, awaited.isEmpty {
      guard let next = queue.first else {
        makeIdentity()
        endInspections(at: now)
        askForKeys(at: now)
        wantHistory(at: now)
        tellMessages(at: now)
        guard
          let work = stale.popFirst().map({ .advance($0) }) ?? historyWork(at: now) ?? messageWork(at: now)
            ?? backupWork(at: now)
        else { return }
        queue.append(work)
        continue
      }
      awaited = needs(of: next, at: now)
      if !awaited.isEmpty {
        output.loads = awaited.flatMap { $0.prefixes(names) }
        return
      }
      queue.removeFirst()
      isAmidst = false
      perform(next, at: now)
    }
  }

  private mutating func finish(at now: Int64) -> MachineOutput {
    var finished = MachineOutput()
    if isStopped {
      // Nothing of what it did before is written.
      finished.results = output.results.filter { if case .broken = $0 { true } else { false } }
      output = MachineOutput()
      return finished
    }
    if isAmidst {
      // What has happened so far comes with the rest.
      swap(&finished.loads, &output.loads)
      return finished
    }
    swap(&finished, &output)
    finished.requests = nextRequests(at: now)
    finished.writes = takeWrites(evicting: queue.isEmpty)
    finished.wakeAt = nextWake(at: now)
    return finished
  }

  // MARK: Work

  private mutating func perform(_ work: Work, at now: Int64) {
    switch work {
    case .start: break
    case .take(let arrivals): take(arrivals, at: now)
    case .advance(let room): advance(room, at: now)
    case .backUp(let names): backUp(names)
    case .scan(let part, let version): endScan(of: part, version)
    case .restore: restore()
    case .keep(let keys): keepRestored(keys, at: now)
    case .sendSecret(let request): sendSecret(request, at: now)
    case .review(let names): readLate(names, at: now)
    case .rehydrated(let arrivals): takeRehydrated(arrivals, at: now)
    case .answerKeys: answerKeys(at: now)
    case .giveHistory(let share): give(share, at: now)
    case .giveMessage(let message): give(message, at: now)
    case .input(.command(let number, .shareHistory(let room, let user, let file))):
      beginSharing(room, with: user, file, number, at: now)
    case .input(.command(let number, let command)): begin(command, number, at: now)
    case .input(.sync(let synced)): take(synced, at: now)
    case .input(.encryption(let room, let content)): note(content, of: room)
    case .input(.departed(let room, let users)): end(room, without: users)
    case .input(.decrypt(let number, let events)): decrypt(events, number, at: now)
    case .input(.verification(let messages)): for message in messages { take(message, at: now) }
    case .input(.track(let users)): tracker.track(users)
    case .input(.prepare(let members)): prepare(members)
    case .input(.encrypt(let number, let members, let type, let content)): encrypt(type, content, number, for: members)
    case .input(.answered(let id, let answer)): answered(id, answer, at: now)
    case .input(.failed(let id, let failure)): failed(id, failure, at: now)
    case .input(.exportKeys(let number, let room, _)): exportKeys(number, of: room)
    case .input(.importKeys(let number, let keys)): importKeys(keys, number, at: now)
    case .input(.accepted(let room, let inviter)): accepted(room, from: inviter, at: now)
    case .input(.historyTaken(let room, let giver)): historyTaken(room, from: giver)
    case .input(.reachable): requests.noteAnswer()
    case .input(.share(let policy)): set(policy)
    case .input(.acknowledge(let user, let master)): acknowledge(user, master)
    case .input(.withdrawVerification(let user, let master)): withdrawVerification(of: user, master)
    case .input(.loaded), .input(.woken): break
    }
  }

  /// Work that belongs to what is performed now.
  mutating func follow(with work: Work) {
    queueFirst(work)
    isAmidst = true
  }

  /// Before everything else that waits.
  mutating func queueFirst(_ work: Work) { queue.insert(work, at: 0) }

  mutating func queueLast(_ work: Work) { queue.append(work) }

  mutating func stop(_ reason: Broken) {
    isStopped = true
    output.results.append(.broken(reason))
  }

  // MARK: Records that are needed

  private func needs(of work: Work, at now: Int64) -> [RecordNeed] {
    var needs: [RecordNeed]
    switch work {
    case .start: return isStarted ? [] : [.all]
    case .take(let arrivals), .rehydrated(let arrivals): needs = arrivals.flatMap { $0.names.map { .keys($0) } }
    case .advance(let room): needs = missing(in: room, at: now).map { .sessions($0.identity) }
    case .input(.sync(let synced)): needs = synced.toDevice.compactMap { Self.olmSender($0).map { .sessions($0) } }
    case .input(.decrypt(_, let events)): needs = events.map { .keys($0.name) }
    case .input(.exportKeys(_, _, let slice)): needs = [.slice(slice)]
    case .input(.importKeys(_, let keys)): needs = keys.map { .keys($0.name) }
    case .input(.answered(let id, _)):
      needs = requests.claimed(by: id).map { .sessions($0.identity) }
      if let name = requests.restored(by: id) { needs.append(.keys(name)) }
    case .backUp(let names), .review(let names): needs = names.map { .keys($0) }
    case .keep(let keys): needs = keys.map { .keys($0.name) }
    case .sendSecret(let request): needs = [.sessions(request.device.identity)]
    case .giveHistory(let share): needs = signedDevices(of: share.user).map { .sessions($0.identity) }
    case .giveMessage(let message): needs = readers(of: message).map { .sessions($0.identity) }
    case .answerKeys:
      needs = keyAnswers.waiting.flatMap { [.keys($0.name), .sessions($0.device.identity)] }
    // Once they are looked through, the work goes on.
    case .scan(let part, let version): return version != backup?.version || isScanned == part ? [] : [.part(part)]
    case .restore: return []
    case .input: return []
    }
    needs = needs.filter { !isLoaded($0) }
    return Array(Set(needs))
  }

  private func isLoaded(_ need: RecordNeed) -> Bool {
    switch need {
    case .all: isStarted
    case .sessions(let identity): sessions.entries.isLoaded(identity)
    case .keys(let name): roomKeys.entries.isLoaded(name)
    case .part: false
    case .slice: exportedSlice != nil
    }
  }

  var isStarted: Bool { tracker.isTracked(own.user) }

  private mutating func take(_ records: [EncryptionRecord], at now: Int64) {
    let needs = awaited
    awaited = []
    guard !needs.contains(.all) else { return restore(records, at: now) }
    if case .part(let part)? = needs.first {
      isScanned = part
      return scan(records)
    }
    if case .slice? = needs.first { return takeSlice(records) }
    var found: [ByteString: [EncryptionRecord]] = [:]
    for record in records { found[RecordNames.prefix(of: record.key), default: []].append(record) }
    for need in needs {
      let own = need.prefixes(names).flatMap { found[$0] ?? [] }
      do throws(RecordRefusal) { try load(own, for: need) } catch {
        if error == .unknownVersion { stop(.newerStore) }
      }
    }
  }

  /// What cannot be read is as if it was not there: sessions are begun anew, and keys may come again.
  private mutating func load(_ records: [EncryptionRecord], for need: RecordNeed) throws(RecordRefusal) {
    switch need {
    case .all, .part, .slice: break
    case .sessions(let identity):
      defer { sessions.entries.load(nil, identity) }
      guard let record = records.first else { return }
      let (owner, entry) = try DeviceSessions.Entry.read(record.value)
      guard owner == identity else { throw .unreadable }
      sessions.entries.load(entry, identity)
    case .keys(let name):
      defer { roomKeys.entries.load(nil, name) }
      guard !records.isEmpty else { return }
      roomKeys.entries.load(try RoomKeys.Entry(records), name)
    }
  }
}
