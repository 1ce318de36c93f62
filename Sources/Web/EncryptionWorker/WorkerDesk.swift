import Encryption
import EncryptionLink
import JSON
import MatrixModel
import Olm

/// The machine of end-to-end encryption in a thread of its own: takes what the page's program says, and answers with what that has to do.
struct WorkerDesk {
  private var host: EncryptionHost?
  private var random: SecretSource
  private var actions = RunningActions()
  private var keyFiles = KeyFileActions()
  /// Ends of actions for the next report.
  private var ended: [EncryptionReport.Delivery] = []

  init(random: SecretSource) { self.random = random }

  /// Messages for the page, in order. What cannot be read is of another version of the page; the encryption is over then.
  mutating func take(_ message: [UInt8]) -> [[UInt8]] {
    do throws(LinkError) {
      let (request, now) = try EncryptionRequest.read(message)
      return take(request, at: now).map { $0.bytes }
    } catch {
      return [.step(end())].map { (report: EncryptionReport) in report.bytes }
    }
  }

  private mutating func take(_ request: EncryptionRequest, at now: Int64) -> [EncryptionReport] {
    if case .begin(let user, let device) = request {
      guard host == nil, let user = UserID(user), let device = DeviceID(device) else { return [.step(end())] }
      var host = EncryptionHost(user: user, device: device, random: random)
      let step = host.start(at: now)
      self.host = host
      return [report(step)]
    }
    guard var step = step(request, at: now) else {
      switch request {
      case .answer(let request, _, _): return [.plainAnswer(request)]
      case .records(let load, _, _): return [.plainRecords(load)]
      default: return []
      }
    }
    // What an action comes to is the beginning of its next part.
    while let next = actions.takeNext(&step) {
      step.add(host?.handle(.command(next.number, next.command), at: now) ?? EncryptionStep())
    }
    return [report(step)]
  }

  /// nil where the machine has nothing to do with it.
  private mutating func step(_ request: EncryptionRequest, at now: Int64) -> EncryptionStep? {
    switch request {
    case .begin: nil
    case .loaded(let records): host?.handle(.loaded(records.map { EncryptionRecord($0) }), at: now)
    case .answer(let request, let target, let body): host?.take(body, to: target.string, for: request, at: now)
    case .records(let load, let room, let records):
      if let room = RoomID(room) {
        host?.take(records.map { EncryptionRecord($0) }, of: room, for: load, at: now)
      } else {
        nil
      }
    case .encryption(let room, let content):
      if let room = RoomID(room), let json = try? JSON.parse(content) {
        host?.handle(.encryption(room, json), at: now)
      } else {
        nil
      }
    case .encrypt(let message, let content): encrypt(message, content, at: now)
    case .command(let number, let action): begin(action, number, at: now)
    case .proceed(let number): keyFiles.next(number).map { handle($0, at: now) }
    case .answered(let request, let body):
      if let json = try? JSON.parse(body) {
        host?.handle(.answered(request, json), at: now)
      } else {
        host?.handle(.failed(request, .unreachable), at: now)
      }
    case .failed(let request, let isFinal): host?.handle(.failed(request, isFinal ? .refused : .unreachable), at: now)
    case .reachable: host?.handle(.reachable, at: now)
    case .woken: host?.handle(.woken, at: now)
    }
  }

  private mutating func encrypt(_ message: UInt64, _ content: UnencryptedContent, at now: Int64) -> EncryptionStep {
    guard host != nil, let room = RoomID(content.room), let type = EventType(content.type) else {
      var step = EncryptionStep()
      step.deliveries = [.blocked(message, .malformed)]
      return step
    }
    let members = RoomMembers(room, users: content.users.compactMap { UserID($0) }, sharesHistory: content.sharesHistory)
    return host?.encrypt(message, type, content.content, for: members, at: now) ?? EncryptionStep()
  }

  private mutating func begin(_ action: EncryptionAction, _ number: UInt64, at now: Int64) -> EncryptionStep? {
    switch action {
    case .setUpIdentity: return host?.handle(.command(number, .setUpIdentity), at: now)
    case .resetIdentity: return host?.handle(.command(number, .resetIdentity), at: now)
    case .setUpRecovery:
      let secret = random.secret(32)
      actions.recoveryKeys[number] = RecoveryKey(secret)?.text
      return host?.handle(.command(number, .setUpRecovery(secret, passphrase: nil)), at: now)
    case .inspectRecovery: return host?.handle(.command(number, .inspectRecovery), at: now)
    case .recover(let text):
      actions.recoveries[number] = text
      return host?.handle(.command(number, .inspectRecovery), at: now)
    case .acceptIdentity(let user):
      var step = EncryptionStep()
      for identity in host?.changedIdentities ?? [] where identity.keys.user.text == user {
        let (user, master) = (identity.keys.user, identity.keys.master)
        let accepting: MachineInput =
          identity.change == .ofVerified ? .withdrawVerification(of: user, master) : .acknowledge(user, master)
        step.add(host?.handle(accepting, at: now) ?? EncryptionStep())
      }
      step.later.append(.ended(number, .done))
      return step
    case .exportKeys(let passphrase): return keyFiles.export(number, passphrase: passphrase).map { handle($0, at: now) }
    case .importKeys(let file, let passphrase):
      if let failure = keyFiles.take(number, file, passphrase: passphrase) {
        ended.append(.ended(number, .failed(failure)))
        return EncryptionStep()
      }
      return keyFiles.next(number).map { handle($0, at: now) }
    }
  }

  private mutating func handle(_ input: MachineInput, at now: Int64) -> EncryptionStep {
    host?.handle(input, at: now) ?? EncryptionStep()
  }

  private mutating func report(_ step: EncryptionStep) -> EncryptionReport {
    var report = EncryptionReport.Step(step)
    report.later += ended
    ended = []
    for transfer in step.keyTransfers {
      if let delivery = keyFiles.took(transfer, random: &random) { report.later.append(delivery) }
    }
    for place in report.later.indices {
      if case .ended(let number, .done) = report.later[place], let key = actions.recoveryKeys.removeValue(forKey: number) {
        report.later[place] = .ended(number, .done(ByteString(decoding: key)))
      }
    }
    if let state = host?.state { report.state = EncryptionReport.State(state) }
    report.wakeAt = host?.wakeAt
    report.broken = host?.broken.map { EncryptionReport.Broken($0) }
    report.isOver = host?.isOver ?? true
    return .step(report)
  }

  private mutating func end() -> EncryptionReport.Step {
    let rest = host?.abandon() ?? EncryptionStep()
    host = nil
    var report = EncryptionReport.Step(rest)
    report.isOver = true
    return report
  }
}

// MARK: One's words in the other's

extension EncryptionRecord {
  fileprivate init(_ record: LinkRecord) { self.init(key: record.key, value: record.value) }
}

extension LinkRecord {
  fileprivate init(_ record: EncryptionRecord) { self.init(key: record.key, value: record.value) }
}

extension EncryptionReport.Step {
  fileprivate init(_ step: EncryptionStep) {
    self.init()
    deliveries = step.deliveries.map { EncryptionReport.Delivery($0) }
    changes = step.changes.map { EncryptionReport.Change($0) }
    later = step.later.map { EncryptionReport.Delivery($0) }
    requests = step.requests.map { EncryptionReport.Request($0) }
    loads = step.loads
  }
}

extension EncryptionReport.Delivery {
  fileprivate init(_ delivery: EncryptionDelivery) {
    switch delivery {
    case .answer(let request, let body): self = .answer(request, body)
    case .records(let load, let records): self = .records(load, records.map { LinkRecord($0) })
    case .encrypted(let message, let content): self = .encrypted(message, content)
    case .blocked(let message, let reason):
      self = .blocked(message, EncryptionReport.Block(reason), about: reason.user?.text ?? "")
    case .late(let room, let events): self = .late(room: room.text, events.map { Array($0.bytes) })
    case .ended(let number, let outcome): self = .ended(number, EncryptionReport.Outcome(outcome))
    }
  }
}

extension EncryptionReport.Change {
  fileprivate init(_ change: RecordChange) {
    switch change {
    case .put(let record): self = .put(LinkRecord(record))
    case .delete(let key): self = .delete(key)
    }
  }
}

extension EncryptionReport.Request {
  fileprivate init(_ request: MachineRequest) {
    self.init(
      id: request.id, method: request.endpoint.method.rawValue,
      target: ByteString(request.target), body: request.body)
  }
}

extension EncryptionReport.Outcome {
  fileprivate init(_ outcome: EncryptionOutcome) {
    switch outcome {
    case .done: self = .done("")
    case .recovery(let found):
      let isWhole = found.missing.isEmpty
      self = .recovery(found.key == nil ? .disabled : !found.isFamiliar ? .changed : isWhole ? .enabled : .incomplete)
    case .failed(let reason):
      switch reason {
      case .refused: self = .failed(.refused)
      case .unreachable: self = .failed(.unreachable)
      case .unusable: self = .failed(.unusable)
      case .unverified: self = .failed(.unverified)
      case .wrongKey: self = .failed(.wrongKey)
      case .incomplete: self = .failed(.incomplete)
      case .noBackup: self = .failed(.noBackup)
      }
    }
  }
}

extension EncryptionReport.State {
  fileprivate init(_ state: EncryptionState) {
    self.init()
    hasIdentity = state.hasIdentity
    isVerified = state.isVerified
    switch state.backup {
    case .off: backup = .off
    case .on: backup = .on
    case .stopped(.replaced): backup = .replaced
    case .stopped(.deleted): backup = .deleted
    }
    restored = UInt32(clamping: state.restore?.done ?? 0)
    restoring = UInt32(clamping: state.restore?.count ?? 0)
  }
}

extension EncryptionReport.Block {
  fileprivate init(_ reason: Blocked) {
    switch reason {
    case .notEncrypted: self = .notEncrypted
    case .unknownAlgorithm: self = .unknownAlgorithm
    case .malformed: self = .malformed
    case .broken: self = .broken
    case .undecided: self = .undecided
    }
  }
}

extension Blocked {
  /// Whom the person has to decide about.
  fileprivate var user: UserID? {
    guard case .undecided(let block) = self else { return nil }
    return switch block {
    case .verifiedIdentitiesChanged(let users), .identitiesChanged(let users): users.first
    case .ownDeviceUnverified(let user): user
    }
  }
}

extension EncryptionReport.Broken {
  fileprivate init(_ reason: Broken) {
    switch reason {
    case .ofAnotherDevice: self = .ofAnotherDevice
    case .unreadableStore: self = .unreadableStore
    case .newerStore: self = .newerStore
    case .lostKeys: self = .lostKeys
    case .refusedKeys: self = .refusedKeys
    case .changedOwnKeys: self = .changedOwnKeys
    }
  }
}
