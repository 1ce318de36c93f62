import JSON
import MatrixModel
import Olm

/// Secrets that the user's devices give each other after a verification. Spec: Client-Server API, "Sharing".
extension EncryptionMachine {
  // MARK: Asking

  /// Asks the verified devices for what this one does not hold.
  mutating func askForSecrets() {
    secrets.areNeeded = false
    let devices = tracker.devices(of: own.user).filter { trust.isVerifiedOwn($0) }
    let wanted = SecretName.required + (dehydrates ? [.dehydrationKey] : [])
    for name in wanted where !holds(name) {
      // An earlier request may have come too late.
      tell(secrets.requests.close(name))
      tell(secrets.requests.ask(for: name, devices, random: &random))
    }
  }

  /// Whether this device has all private cross-signing keys.
  var holdsIdentity: Bool { CrossSigningUse.allCases.allSatisfy { identities.own.holds($0) } }

  private func holds(_ name: SecretName) -> Bool { secret(name) != nil }

  private func secret(_ name: SecretName) -> Secret? {
    switch name {
    case .masterKey, .selfSigningKey, .userSigningKey: name.use.flatMap { identities.own.secret($0) }
    case .backupKey: backup?.pair?.secret
    case .dehydrationKey: dehydration.key
    }
  }

  private mutating func tell(_ message: SecretRequestMessage?) {
    guard let message else { return }
    let messages = message.devices.compactMap { tracker.device($0, of: own.user) }.map {
      ToDeviceRequest.Message($0, message.content)
    }
    send("m.secret.request", messages, keysOf: nil)
  }

  /// An answer. A key that does not fit is not taken, and the device is not listened to again.
  mutating func takeSecret(_ payload: OlmPayload) {
    guard let (name, value) = secrets.requests.answer(payload, trust) else { return }
    if name == .dehydrationKey {
      tell(secrets.requests.close(name, answeredBy: payload))
      return dehydration.take(value)
    }
    guard let use = name.use else {
      // Which backup there is has to be asked for.
      (secrets.backupKey, secrets.backupAnswer) = (value, payload)
      return
    }
    guard identities.own.take(value, as: use) else { return secrets.requests.refuse(name, from: payload) }
    tell(secrets.requests.close(name, answeredBy: payload))
    if use == .selfSigning, !identities.own.isDeviceSigned { identities.own.signDevice(own) }
  }

  // MARK: The backup

  mutating func nextSecretAsk() -> (ask: Ask, purpose: OpenRequests.Purpose)? {
    guard secrets.backupKey != nil, !secrets.isAsking else { return nil }
    secrets.isAsking = true
    return (Ask(.getRoomKeysVersionCurrent), .openBackup)
  }

  /// - Parameter answer: nil if there is no backup.
  mutating func openBackup(_ answer: JSON?) {
    secrets.isAsking = false
    guard let key = secrets.backupKey else { return }
    let message = secrets.backupAnswer
    (secrets.backupKey, secrets.backupAnswer) = (nil, nil)
    guard let answer, let version = try? BackupVersion(answer),
      let found = try? KeyBackup(version, secret: key, own: identities.own), found.pair != nil
    else {
      if let message { secrets.requests.refuse(.backupKey, from: message) }
      return
    }
    tell(secrets.requests.close(.backupKey, answeredBy: message))
    use(found)
    restores.wantsAll = true
  }

  mutating func openBackupFailed() { secrets.isAsking = false }

  // MARK: Answering

  mutating func takeSecretRequest(_ content: JSON, from sender: UserID, at now: Int64) {
    guard let request = secrets.answers.request(content, from: sender, knowing: tracker, trust, at: now) else { return }
    queueLast(.sendSecret(request))
  }

  /// The session with the device is loaded.
  mutating func sendSecret(_ request: SecretAnswers.Request, at now: Int64) {
    guard let secret = secret(request.name) else { return }
    guard sessions.hasSession(with: request.device) else {
      guard secrets.unsent.count < SharedSecrets.unsentLimit else { return }
      secrets.unsent.append(request)
      return claims.want(request.device, at: now)
    }
    guard let content = try? request.content(secret), let encrypted = encrypted("m.secret.send", content, for: request.device)
    else { return }
    send("m.room.encrypted", [ToDeviceRequest.Message(request.device, encrypted)], keysOf: nil)
    if request.name == .backupKey || backup?.pair == nil { secrets.awaited.remove(request.device.signing) }
  }

  /// There are sessions with these devices now.
  mutating func sendSecrets(to devices: [DeviceKeys]) {
    func isOne(_ request: SecretAnswers.Request) -> Bool { devices.contains { $0.hasSameKeys(as: request.device) } }
    let waiting = secrets.unsent.filter { isOne($0) }
    secrets.unsent.removeAll { isOne($0) }
    for request in waiting where sessions.hasSession(with: request.device) { queueLast(.sendSecret(request)) }
  }
}
