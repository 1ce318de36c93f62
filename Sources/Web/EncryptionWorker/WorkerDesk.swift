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
  private var histories = HistoryActions()
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

  /// Uses the time until the page says something.
  mutating func workAhead() { host?.workAhead() }

  private mutating func take(_ request: EncryptionRequest, at now: Int64) -> [EncryptionReport] {
    if case .begin(let user, let device) = request {
      guard host == nil, let user = UserID(user), let device = DeviceID(device) else { return [.step(end())] }
      var host = EncryptionHost(user: user, device: device, random: random, dehydrates: true)
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
    case .prepare(let room, let users, let sharesHistory):
      if let room = RoomID(room) {
        host?.handle(
          .prepare(RoomMembers(room, users: users.compactMap { UserID($0) }, sharesHistory: sharesHistory)), at: now)
      } else {
        nil
      }
    case .command(let number, let action): begin(action, number, at: now)
    case .proceed(let number): proceed(number, at: now)
    case .answered(let request, let body):
      if let json = try? JSON.parse(body) {
        host?.handle(.answered(request, json), at: now)
      } else {
        host?.handle(.failed(request, .unreachable), at: now)
      }
    case .failed(let request, let isFinal): host?.handle(.failed(request, isFinal ? .refused : .unreachable), at: now)
    case .accepted(let room, let user):
      if let room = RoomID(room), let user = UserID(user) {
        host?.handle(.accepted(room, from: user), at: now)
      } else {
        nil
      }
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
    case .verifyDevice(let device):
      let target = DeviceID(device).map { VerificationTarget.ownDevice($0) }
      return host?.handle(.command(number, .verify(target ?? .ownDevices)), at: now)
    case .verifyUser(let user, let room):
      guard let user = UserID(user), let room = RoomID(room) else { return unusable(number) }
      return host?.handle(.command(number, .verify(.user(user, in: room))), at: now)
    case .verification(let id, let action):
      return host?.handle(.command(number, .verification(id, VerificationStep(action))), at: now)
    case .offer(let showsCodes, let scansCodes):
      return host?.handle(.command(number, .offer(showsCodes: showsCodes, scansCodes: scansCodes)), at: now)
    case .inspect(let user):
      guard let user = UserID(user) else { return unusable(number) }
      return host?.handle(.command(number, .inspectUser(user)), at: now)
    case .tell(let event, let devices):
      guard let content = try? JSON.parse(event.content) else { return unusable(number) }
      let addresses = devices.compactMap { device in
        UserID(device.user).flatMap { user in DeviceID(device.device).map { DeviceAddress(user, $0) } }
      }
      return host?.handle(.command(number, .tell(type: event.type, content: content, devices: addresses)), at: now)
    case .exportKeys(let passphrase): return keyFiles.export(number, passphrase: passphrase).map { handle($0, at: now) }
    case .importKeys(let file, let passphrase):
      if let failure = keyFiles.take(number, file, passphrase: passphrase) {
        ended.append(.ended(number, .failed(failure)))
        return EncryptionStep()
      }
      return keyFiles.next(number).map { handle($0, at: now) }
    case .setReaders(let readers):
      guard var policy = host?.policy else { return unusable(number) }
      policy.readers = SharingPolicy.Readers(readers)
      ended.append(.ended(number, .done("")))
      return handle(.share(policy), at: now)
    case .listVerified:
      ended.append(.ended(number, .users(host?.verifiedUsers.map { $0.text } ?? [])))
      return EncryptionStep()
    case .diagnose:
      ended.append(.ended(number, .done(ByteString(host?.diagnosis(at: now) ?? ""))))
      return EncryptionStep()
    case .askForKeys(let room):
      guard let room = RoomID(room) else { return unusable(number) }
      return handle(.command(number, .askForKeys(of: room)), at: now)
    case .makeHistory(let room):
      guard let room = RoomID(room), let input = histories.make(number, of: room) else { return unusable(number) }
      return handle(input, at: now)
    case .giveHistory(let room, let user, let file):
      guard let room = RoomID(room), let user = UserID(user), let file = try? JSON.parse(file) else { return unusable(number) }
      return handle(.command(number, .shareHistory(room, with: user, file: file)), at: now)
    case .takeHistory(let room, let user, let file):
      guard let room = RoomID(room), let user = UserID(user), let input = histories.take(number, file, of: room, from: user)
      else {
        return unusable(number)
      }
      return proceed(number, input, at: now)
    }
  }

  private mutating func proceed(_ number: UInt64, at now: Int64) -> EncryptionStep? {
    (keyFiles.next(number) ?? histories.next(number)).map { proceed(number, $0, at: now) }
  }

  private mutating func proceed(_ number: UInt64, _ input: MachineInput, at now: Int64) -> EncryptionStep {
    if let end = histories.takeEnd(number) { ended.append(end) }
    return handle(input, at: now)
  }

  private mutating func handle(_ input: MachineInput, at now: Int64) -> EncryptionStep {
    host?.handle(input, at: now) ?? EncryptionStep()
  }

  private func unusable(_ number: UInt64) -> EncryptionStep {
    var step = EncryptionStep()
    step.later = [.ended(number, .failed(.unusable))]
    return step
  }

  private mutating func report(_ step: EncryptionStep) -> EncryptionReport {
    var report = EncryptionReport.Step(step)
    report.later += ended
    ended = []
    for transfer in step.keyTransfers {
      let delivery = keyFiles.took(transfer, random: &random) ?? histories.took(transfer, random: &random)
      if let delivery { report.later.append(delivery) }
    }
    for place in report.later.indices {
      if case .ended(let number, .done) = report.later[place], let key = actions.recoveryKeys.removeValue(forKey: number) {
        report.later[place] = .ended(number, .done(ByteString(decoding: key)))
      }
    }
    for offer in step.histories {
      report.later.append(.history(room: offer.room.text, from: offer.giver.text, Array(offer.file.bytes)))
    }
    if let state = host?.state { report.state = EncryptionReport.State(state) }
    if let readers = host?.policy.readers { report.state.readers = EncryptionReport.Readers(readers) }
    report.state.changed = host?.changedIdentities.map { EncryptionReport.ChangedIdentity($0) } ?? []
    report.state.keyChanges = host?.keyChanges.map { EncryptionReport.KeyChange(user: $0.user.text, at: $0.at) } ?? []
    report.verifications = host?.verifications.map { EncryptionReport.Verification($0) } ?? []
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
