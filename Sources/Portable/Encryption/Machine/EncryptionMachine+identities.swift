import JSON
import MatrixModel
import Olm

/// Whose devices are whose, and what the user decides about that.
extension EncryptionMachine {
  var trust: Trust { Trust(of: own.deviceKeys, identities, tracker, policy) }

  // MARK: The server's lists

  mutating func learn(_ query: DeviceTracker.DeviceQuery, _ answer: JSON, at now: Int64) {
    let hadIdentity = identities.own.identity != nil
    let news = identities.answered(query, answer, at: now)
    output.results += news.map { .identities($0) }
    output.results += tracker.answered(query, answer, knowing: identities, at: now).map { .devices($0) }
    signVerified(query, answer)
    repairUnreached(by: query.users, at: now)
    settleTrust(of: query.users)
    reviewWaiting()
    // Another device was first with the account's first identity.
    if !hadIdentity, identities.own.identity != nil, identities.own.isSettingUp { identities.own.cancelSetup() }
    // Only then the signatures of others by the new key are seen.
    if news.contains(.ownSignerChanged) { tracker.lostTrack() }
  }

  // MARK: What views ask

  /// How far a user's keys are proven, as far as is known.
  func trust(in user: UserID) -> UserTrust {
    let identity = identities.identity(of: user), isVerified = identities.isVerified(user)
    return UserTrust(
      hasIdentity: identity != nil, isVerified: isVerified, hasChanged: identity?.change != nil,
      devices: tracker.devices(of: user).map { device in
        let isSigned = identity?.hasSigned(device) ?? false
        return UserTrust.Device(
          device: device.device, name: device.name, isSigned: isSigned, isVerified: isVerified && isSigned)
      }, refused: tracker.refused(of: user))
  }

  /// Devices that their users have not signed, though these sign devices.
  var unsignedDevices: Int {
    tracker.allDevices.count { identities.identity(of: $0.user)?.hasSigned($0) == false }
  }

  /// A server that does not answer ends them as well: what is known so far is better than nothing.
  mutating func endInspections(at now: Int64) {
    for (number, user) in inspections where !tracker.isAnyAwaited(among: [user], at: now) {
      end(number, .trust(trust(in: user)))
      inspections.removeAll { $0.number == number }
    }
  }

  // MARK: The own identity

  /// Makes keys that were wished for, once the own list is known.
  mutating func makeIdentity() {
    guard isStarted, tracker.outdated(among: [own.user]).isEmpty else { return }
    if setup.takeWish(hasIdentity: identities.own.identity != nil) { identities.own.beginSetup(random: &random) }
    endSetup(.done)
  }

  /// What the server still has to get of the own identity: its keys, then signatures.
  func nextIdentityAsk() -> (ask: Ask, purpose: OpenRequests.Purpose)? {
    guard own.isDevicePublished else { return nil }
    if let body = identities.own.setupBody() { return (Ask(.uploadCrossSigningKeys, body: body), .identity) }
    if let upload = identities.own.signatures {
      return (Ask(.uploadCrossSigningSignatures, body: upload.body), .signatures(upload))
    }
    return nil
  }

  mutating func identityAccepted() {
    // Whoever had the keys before may have that of the backup, too.
    if identities.own.identity != nil {
      _ = forgetBackup()
      dehydration.forget()
    }
    identities.own.setupAccepted(for: own)
  }

  /// Also if the server did not accept one: it would refuse it again.
  mutating func signaturesUploaded(_ upload: SignatureUpload) {
    identities.own.uploaded(upload)
    tracker.changed([own.user])
  }

  mutating func identityRefused() {
    identities.own.cancelSetup()
    endSetup(.failed(.refused))
  }

  private mutating func endSetup(_ outcome: EncryptionOutcome) {
    guard !identities.own.isSettingUp, identities.own.signatures == nil else { return }
    for number in setup.takeWaiting() { end(number, outcome) }
  }

  // MARK: The user's decisions

  mutating func set(_ policy: SharingPolicy) {
    guard policy != self.policy else { return }
    self.policy = policy
    unstored.policy = true
    reviewWaiting()
    stale.formUnion(writing.keys)
  }

  mutating func acknowledge(_ user: UserID, _ master: Ed25519Key) {
    if identities.acknowledge(user, master) { stale.formUnion(writing.keys) }
  }

  mutating func withdrawVerification(of user: UserID, _ master: Ed25519Key) {
    if identities.withdrawVerification(of: user, master) { stale.formUnion(writing.keys) }
  }
}
