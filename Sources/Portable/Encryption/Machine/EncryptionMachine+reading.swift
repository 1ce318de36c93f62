import JSON
import MatrixModel
import Olm

/// What comes: keys, and events that they read.
extension EncryptionMachine {
  // MARK: A sync

  mutating func take(_ synced: SyncedKeys, at now: Int64) {
    let wasFallbackUsed = own.isFallbackUsed
    own.told(counts: synced.keyCounts, unusedFallbacks: synced.unusedFallbacks)
    if own.isFallbackUsed != wasFallbackUsed { unstored.ownKeys = true }
    tracker.changed(synced.changed)
    tracker.forget(synced.left.filter { $0 != own.user })
    if synced.hasGap { tracker.lostTrack() }
    if !synced.changed.isEmpty || !synced.left.isEmpty || synced.hasGap { stale.formUnion(writing.keys) }
    let arrivals = synced.toDevice.compactMap { $0.bytes.count <= EncryptionLimits.toDeviceBytes ? arrival($0, at: now) : nil }
    follow(with: .take(arrivals))
  }

  /// The key of the session that an event of `to_device` was encrypted in; nil if it is not encrypted.
  static func olmSender(_ event: JSON) -> Curve25519Key? {
    event.text("type") == "m.room.encrypted" ? event["content"]?.curve25519Key("sender_key") : nil
  }

  private mutating func arrival(_ event: JSON, at now: Int64) -> Arrival? {
    guard let sender = UserID(event["sender"]), let content = event["content"], content.isObject else { return nil }
    switch event.text("type") {
    case "m.room.encrypted":
      do throws(OlmRefusal) {
        let payload = try sessions.decrypt(content, from: sender, to: &own, knowing: tracker)
        unstored.ownKeys = true
        unreached.remove(sender)
        if payload.type == "m.dummy" { return payload.device.map { .begun($0, lost: keysLost(by: $0, at: now)) } }
        return mayBring(payload, at: now) ? Arrival(payload) : nil
      } catch {
        output.results.append(.refused(sender, error))
        if case .undecryptable = error, let identity = content.curve25519Key("sender_key") {
          repairOnceKnown(identity, of: sender, at: now)
        }
        return nil
      }
    case "m.room_key.withheld":
      if content.text("code") == WithheldCode.noOlm.text { noteUnreached(content, by: sender, at: now) }
      return Arrival(withheld: content, from: sender).flatMap { mayLeaveRecord(sender, at: now) ? $0 : nil }
    case "m.room_key_request":
      take(keyRequest: content, from: sender)
      return nil
    case "m.secret.request": return sender == own.user ? .secretRequest(content, from: sender) : nil
    default:
      // Others verify this user in rooms.
      guard sender == own.user else { return nil }
      return VerificationMessage(event.text("type"), content, from: sender).map { .verification($0) }
    }
  }

  private mutating func mayBring(_ payload: OlmPayload, at now: Int64) -> Bool {
    payload.type != "m.room_key" || mayLeaveRecord(payload.sender, at: now)
  }

  /// Keys of rooms, and what says that there are none, are records.
  private mutating func mayLeaveRecord(_ sender: UserID, at now: Int64) -> Bool {
    let isKnown = tracker.isTracked(sender)
    return quota.take(
      from: sender, limit: isKnown ? EncryptionLimits.roomKeysOfUser : EncryptionLimits.roomKeysOfStranger, at: now)
  }

  /// A device could not begin a session with this one, which begins one then.
  private mutating func noteUnreached(_ content: JSON, by sender: UserID, at now: Int64) {
    guard unreached.count < EncryptionLimits.unreachedUsers else { return }
    let isNew = unreached.insert(sender).inserted
    // What has come before now has a reason.
    let names = isNew ? waiting.sessions(of: sender) : []
    if !names.isEmpty { queueLast(.review(names)) }
    if let identity = content.curve25519Key("sender_key") { repairOnceKnown(identity, of: sender, at: now) }
  }

  /// The list of the sender's devices may be on its way, or was not needed yet.
  private mutating func repairOnceKnown(_ identity: Curve25519Key, of sender: UserID, at now: Int64) {
    guard tracker.isAwaited(sender) else { return repair(identity, of: sender, at: now) }
    // A server can make up as many senders as it likes.
    guard tracker.isTracked(sender) || lostKeys.mayAsk(about: sender) else { return }
    tracker.track([sender])
    unrepaired[sender] = identity
  }

  /// The devices of these users are known.
  mutating func repairUnreached(by users: [UserID], at now: Int64) {
    for user in users where !tracker.isAwaited(user) {
      if let identity = unrepaired.removeValue(forKey: user) { repair(identity, of: user, at: now) }
    }
  }

  /// Begins a new session with a device whose messages cannot be opened.
  private mutating func repair(_ identity: Curve25519Key, of user: UserID, at now: Int64) {
    guard let device = tracker.devices(of: user).first(where: { $0.identity == identity }), sessions.mayRepair(device, at: now)
    else { return }
    figures.repairedSessions += 1
    claims.repair(device)
  }

  /// Ends a sync.
  mutating func take(_ arrivals: [Arrival], at now: Int64) {
    var changed: [RoomKeys.Name] = []
    for arrival in arrivals {
      switch arrival {
      case .event(let payload): messages.add(payload, at: now)
      case .verification(let message): if message.sender == own.user { take(message, at: now) }
      case .secretRequest(let content, let sender): takeSecretRequest(content, from: sender, at: now)
      case .secret(let payload): takeSecret(payload)
      case .roomKey(let key): changed += keep([key], fromBackup: false, at: now)
      case .forwarded(let payload, _): changed += keep(forwardedKey(payload).map { [$0] } ?? [], fromBackup: false, at: now)
      case .offer(let payload): take(offer: payload, at: now)
      case .begun(let device, let lost): for name in lost { giveAgain(name, to: device) }
      case .withheld(let user, let name, let code):
        roomKeys.withhold(name, by: user, code)
        changed.append(name)
      }
    }
    readLate(changed, at: now)
    output.results.append(.synced)
  }

  // MARK: Events of rooms

  mutating func decrypt(_ events: [EncryptedEvent], _ number: UInt64, at now: Int64) {
    let decrypted = readInOrder(events, at: now)
    if backup?.pair != nil {
      for event in decrypted where event.mayBeInBackup { restores.want(event.event.name, at: now) }
    }
    wantKeys(of: decrypted, at: now)
    output.results.append(.decrypted(number, decrypted))
    takeVerifications(in: decrypted, at: now)
  }

  /// The oldest first: a ratchet goes one way only, and pages of a room's history come the other way round.
  private mutating func readInOrder(_ events: [EncryptedEvent], at now: Int64) -> [DecryptedEvent] {
    var decrypted = [DecryptedEvent?](repeating: nil, count: events.count)
    let places = events.indices.ordered {
      let (one, other) = (events[$0].timestamp, events[$1].timestamp)
      return one == other ? $0 < $1 : one < other
    }
    for place in places { decrypted[place] = read(events[place], since: now) }
    return decrypted.compactMap { $0 }
  }

  private mutating func takeVerifications(in events: [DecryptedEvent], at now: Int64) {
    for decrypted in events {
      guard let clear = decrypted.clear else { continue }
      let event = decrypted.event
      let message = VerificationMessage(
        clear.type, clear.content, event: event.id, in: event.room, from: event.sender, at: event.timestamp)
      if let message { take(message, at: now) }
    }
  }

  /// - Parameter since: when it was to be read first.
  private mutating func read(_ event: EncryptedEvent, since: Int64) -> DecryptedEvent {
    do throws(Undecryptable) {
      let clear = try roomKeys.decrypt(event)
      let trust = settledTrust(event, clear)
      if let hidden = policy.hides(trust ?? .unknownDevice) { throw hidden }
      let decrypted = DecryptedEvent(event: event, outcome: .success(clear), trust: trust)
      unsettled.add(decrypted)
      return decrypted
    } catch {
      let reason = explained(error, event)
      if reason.lacksKey || reason.dependsOnTrust, waiting.add(event, reason, since: since) { figures.unread += 1 }
      return DecryptedEvent(event: event, outcome: .failure(reason), trust: nil)
    }
  }

  /// Why there is no key, as far as this device can tell.
  private func explained(_ error: Undecryptable, _ event: EncryptedEvent) -> Undecryptable {
    guard error == .missingKey else { return error }
    if event.wasJoined == false { return .beforeJoining }
    if unreached.contains(event.sender), own.createdAt.map({ event.timestamp >= $0 }) ?? true { return .withheld(.noOlm) }
    guard let createdAt = own.createdAt, event.timestamp < createdAt, backup?.pair == nil else { return error }
    return .historyUnavailable(identities.own.identity == nil || isVerified ? .noBackup : .unverifiedDevice)
  }

  private var isVerified: Bool { identities.own.isVerified && identities.own.isDeviceSigned }

  mutating func readLate(_ names: [RoomKeys.Name], at now: Int64) {
    var late: [DecryptedEvent] = []
    for name in names {
      for entry in waiting.take(name) {
        // It counts once.
        let unread = figures.unread
        let decrypted = read(entry.event, since: entry.since)
        figures.unread = unread
        switch decrypted.outcome {
        case .failure(entry.reason): continue
        case .failure: break
        case .success: figures.late.note(now - entry.since)
        }
        late.append(decrypted)
      }
    }
    if !late.isEmpty { output.results.append(.late(late)) }
    takeVerifications(in: late, at: now)
  }

  /// More is known of devices, identities or the backup.
  mutating func reviewWaiting() {
    let names = waiting.trusting
    if !names.isEmpty { queueLast(.review(names)) }
  }
}

extension DecryptedEvent {
  fileprivate var mayBeInBackup: Bool { if case .failure(let reason) = outcome { reason.lacksKey } else { false } }
}

extension SharingPolicy {
  /// Who gives keys to signed devices only reads nothing else, either; nil for what is shown.
  fileprivate func hides(_ trust: SenderTrust) -> Undecryptable? {
    guard readers == .signed || readers == .verified else { return nil }
    switch trust {
    case .unsignedDevice, .unknownDevice: return .unsignedDevice
    case .identityChanged: return .identityChanged
    case .verified, .pinned, .notProven: return nil
    }
  }
}
