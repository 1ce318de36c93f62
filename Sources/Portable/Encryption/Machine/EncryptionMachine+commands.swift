import JSON
import MatrixModel
import Olm

/// What the user wants of identity, recovery and backup.
extension EncryptionMachine {
  mutating func begin(_ command: EncryptionCommand, _ number: UInt64, at now: Int64) {
    switch command {
    case .setUpIdentity, .resetIdentity:
      setup.begin(number, isReset: { if case .resetIdentity = command { true } else { false } }())
      // Another device may have made an identity, or signed with it.
      tracker.changed([own.user])
    case .setUpRecovery(let secret, let passphrase): setUpRecovery(secret, passphrase, number)
    case .inspectRecovery: runs.append(CommandRun(number: number, kind: .inspect(RecoveryInspection())))
    case .recover(let description, let secret): recover(description, secret, number)
    case .restoreBackup:
      guard backup?.pair != nil else { return end(number, .failed(.noBackup)) }
      restores.wantsAll = true
      end(number, .done)
    case .deleteBackup:
      guard let version = backup?.version else { return end(number, .failed(.noBackup)) }
      runs.append(CommandRun(number: number, kind: .deleteBackup(version)))
    case .shareHistory: break
    case .tell(let type, let content, let devices): beginMessage(type, content, to: devices, number, at: now)
    case .askForKeys(let room):
      guard !otherVerifiedDevices.isEmpty else { return end(number, .failed(.unverified)) }
      keyRequests.hurry(in: room, at: now)
      end(number, .done)
    case .verify(let target): verify(target, number, at: now)
    case .verification(let id, let step): verify(id, step, number, at: now)
    case .offer(let showsCodes, let scansCodes):
      verifications.offer(showsCodes: showsCodes, scansCodes: scansCodes)
      end(number, .done)
    case .inspectUser(let user):
      tracker.track([user])
      inspections.append((number, user))
    }
  }

  /// What views show.
  package var encryptionState: EncryptionState {
    var state = EncryptionState()
    state.hasIdentity = identities.own.identity != nil
    state.isVerified = identities.own.isVerified && identities.own.isDeviceSigned
    if let backup {
      let waiting = backup.needsScan ? max(1, backup.waitingCount) : backup.waitingCount
      state.backup = backup.stop.map { .stopped($0) } ?? .on(waiting: waiting)
    }
    if let download = restores.download {
      state.restore = EncryptionState.Progress(done: download.count - download.remaining, count: download.count)
    } else if restores.wantsAll || requests.areRestoringAll {
      state.restore = EncryptionState.Progress(done: 0, count: 0)
    }
    state.dehydration = dehydrationState
    state.dehydrationFailure = dehydration.failure
    return state
  }

  mutating func end(_ number: UInt64, _ outcome: EncryptionOutcome) { output.results.append(.ended(number, outcome)) }

  // MARK: Steps

  private mutating func setUpRecovery(_ secret: Secret, _ passphrase: PassphraseKey?, _ number: UInt64) {
    guard identities.own.isVerified, CrossSigningUse.allCases.allSatisfy({ identities.own.holds($0) }) else {
      return end(number, .failed(.unverified))
    }
    let description = StorageKeyDescription(of: secret, passphrase: passphrase, random: &random)
    var setup = RecoverySetup(secret: secret, description: description)
    if backup?.pair == nil || backup?.stop != nil {
      setup.pair = Curve25519KeyPair(from: &random)
    } else if !fill(&setup) {
      return end(number, .failed(.unusable))
    }
    runs.append(CommandRun(number: number, kind: .setUp(setup)))
  }

  /// With the secrets, encrypted.
  private mutating func fill(_ setup: inout RecoverySetup) -> Bool {
    guard let key = try? setup.description.key(setup.secret) else { return false }
    setup.content = [(StorageKeyDescription.type(of: key.id), setup.description.content)]
    for name in SecretName.required {
      let secret = name.use.map { identities.own.secret($0) } ?? backup?.pair?.secret
      guard let secret, let content = try? key.encrypt(secret, as: name, random: &random) else { return false }
      setup.content.append((name.text, content))
    }
    setup.dehydrationKey = dehydrationKey()
    if let secret = setup.dehydrationKey {
      guard let content = try? key.encrypt(secret, as: .dehydrationKey, random: &random) else { return false }
      setup.content.append((SecretName.dehydrationKey.text, content))
    }
    setup.content.append((StorageKeyDescription.defaultKeyType, setup.description.defaultKeyContent))
    return true
  }

  private mutating func recover(_ description: StorageKeyDescription, _ secret: Secret, _ number: UInt64) {
    do throws(SecretStorageError) {
      let key = try storage.open(description, with: secret)
      unstored.storage = true
      runs.append(CommandRun(number: number, kind: .recover(Recovery(key: key))))
      tracker.changed([own.user])
    } catch { end(number, .failed(error == .wrongKey ? .wrongKey : .unusable)) }
  }

  /// What a run asks for next; nil if it waits for the own list.
  func nextAsk(of run: CommandRun) -> Ask? {
    switch run.kind {
    case .setUp(let setup):
      if let pair = setup.pair {
        return Ask(.postRoomKeysVersion, body: BackupVersion.creation(pair.key, identities.own, own))
      }
      guard let next = setup.content.first else { return nil }
      return Ask(.setAccountData, [own.user.text, next.type], body: next.content)
    case .inspect(let inspection):
      guard let id = inspection.id else { return .accountData(StorageKeyDescription.defaultKeyType, of: own.user) }
      guard inspection.key != nil else { return .accountData(StorageKeyDescription.type(of: id), of: own.user) }
      return inspection.names.first.map { .accountData($0.text, of: own.user) }
    case .recover(let recovery):
      guard recovery.knowsOwnKeys || tracker.outdated(among: [own.user]).isEmpty else { return nil }
      if let name = recovery.names.first { return .accountData(name.text, of: own.user) }
      if let new = recovery.newKey {
        return Ask(.setAccountData, [own.user.text, SecretName.dehydrationKey.text], body: new.content)
      }
      return Ask(.getRoomKeysVersionCurrent)
    case .deleteBackup(let version): return Ask(.deleteRoomKeysVersion, [version])
    }
  }

  /// - Parameter answer: nil if the server said no, as it does where there is nothing.
  mutating func answered(_ run: CommandRun, _ answer: JSON?, at now: Int64) {
    var run = run
    let outcome: EncryptionOutcome?
    switch run.kind {
    case .setUp(var setup):
      outcome = take(answer, &setup)
      run.kind = .setUp(setup)
    case .inspect(var inspection):
      outcome = take(answer, &inspection)
      run.kind = .inspect(inspection)
    case .recover(var recovery):
      outcome = take(answer, &recovery, at: now)
      run.kind = .recover(recovery)
    case .deleteBackup: outcome = answer == nil ? .failed(.refused) : forgetBackup()
    }
    if let outcome { end(run.number, outcome) } else { runs.append(run) }
  }

  private mutating func take(_ answer: JSON?, _ setup: inout RecoverySetup) -> EncryptionOutcome? {
    guard let answer else { return .failed(.refused) }
    if let pair = setup.pair {
      guard let version = answer.text("version"), (1...EncryptionLimits.backupVersionBytes).contains(version.count) else {
        return .failed(.unusable)
      }
      use(KeyBackup(version: version, pair: pair))
      setup.pair = nil
      return fill(&setup) ? nil : .failed(.unusable)
    }
    setup.content.removeFirst()
    guard setup.content.isEmpty else { return nil }
    _ = try? storage.open(setup.description, with: setup.secret)
    unstored.storage = true
    if let key = setup.dehydrationKey { dehydration.use(key) }
    return .done
  }

  private func take(_ answer: JSON?, _ inspection: inout RecoveryInspection) -> EncryptionOutcome? {
    guard let id = inspection.id else {
      // Deleted account data is an empty object.
      guard let id = answer?.text("key") else { return recovery(nil, SecretName.required) }
      inspection.id = id
      return nil
    }
    guard let key = inspection.key else {
      guard let answer, let key = try? StorageKeyDescription(answer, id: id) else { return recovery(nil, SecretName.required) }
      inspection.key = key
      return nil
    }
    let name = inspection.names.removeFirst()
    if answer?["encrypted"]?[id] == nil { inspection.missing.append(name) }
    return inspection.names.isEmpty ? recovery(key, inspection.missing) : nil
  }

  private func recovery(_ key: StorageKeyDescription?, _ missing: [SecretName]) -> EncryptionOutcome {
    .recovery(RecoveryDescription(key: key, missing: missing, isFamiliar: key.map { storage.isFamiliar($0) } ?? true))
  }

  private mutating func take(_ answer: JSON?, _ recovery: inout Recovery, at now: Int64) -> EncryptionOutcome? {
    recovery.knowsOwnKeys = true
    if let name = recovery.names.first {
      recovery.names.removeFirst()
      do throws(SecretStorageError) {
        if let answer { recovery.secrets[name] = try recovery.key.decrypt(answer, as: name) }
      } catch {
        // A key whose description has no check is known to be wrong only now.
        if error == .wrongKey, name != .dehydrationKey { return .failed(.wrongKey) }
      }
      guard recovery.names.isEmpty else { return nil }
      guard verify(recovery.secrets) else { return .failed(.incomplete) }
      recovery.newKey = takeDehydrationKey(of: recovery)
      return recovery.newKey == nil && recovery.secrets[.backupKey] == nil ? .done : nil
    }
    if let new = recovery.newKey {
      recovery.newKey = nil
      if answer != nil { dehydration.use(new.secret) }
      return recovery.secrets[.backupKey] == nil ? .done : nil
    }
    if let answer, let version = try? BackupVersion(answer),
      let found = try? KeyBackup(version, secret: recovery.secrets[.backupKey], own: identities.own)
    {
      use(found)
      restores.wantsAll = backup?.pair != nil
    }
    return .done
  }

  /// - Returns: what secret storage lacks: another device has set up recovery without a dehydrated device.
  private mutating func takeDehydrationKey(of recovery: Recovery) -> (secret: Secret, content: [UInt8])? {
    if let key = recovery.secrets[.dehydrationKey] {
      dehydration.take(key)
      return nil
    }
    guard let secret = dehydrationKey(),
      let content = try? recovery.key.encrypt(secret, as: .dehydrationKey, random: &random)
    else { return nil }
    return (secret, content)
  }

  /// Whether the private keys prove the identity.
  private mutating func verify(_ secrets: [SecretName: Secret]) -> Bool {
    guard let master = secrets[.masterKey], identities.own.take(master, as: .master) else { return false }
    for name in [SecretName.selfSigningKey, .userSigningKey] {
      if let secret = secrets[name], let use = name.use { _ = identities.own.take(secret, as: use) }
    }
    identities.own.signDevice(own)
    stale.formUnion(writing.keys)
    return true
  }
}
