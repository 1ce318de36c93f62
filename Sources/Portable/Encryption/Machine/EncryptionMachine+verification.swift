import JSON
import MatrixModel
import Olm

/// Verifications: what they have to say goes out, and what they have proven is signed.
extension EncryptionMachine {
  private var knowledge: VerificationRun.Knowledge {
    VerificationRun.Knowledge(own: own, identities: identities, tracker: tracker)
  }

  // MARK: Inputs

  mutating func verify(_ target: VerificationTarget, _ number: UInt64, at now: Int64) {
    if case .user(let user, _) = target {
      tracker.track([user])
      tracker.changed([user])
    }
    let record = RecordNames.verifications.string + RecordNames.hexadecimal(random.bytes(16)[...]).string
    do throws(EncryptionFailure) {
      let id = try verifications.begin(
        with: target, knowing: knowledge, record: ByteString(record), random: &random, at: now)
      end(number, .verification(id))
    } catch { end(number, .failed(error)) }
    followVerifications(at: now)
  }

  mutating func verify(_ id: Verification.ID, _ step: VerificationStep, _ number: UInt64, at now: Int64) {
    verifications.expire(at: now)
    do throws(EncryptionFailure) {
      try verifications.perform(step, id, knowing: knowledge, random: &random)
      end(number, .done)
    } catch { end(number, .failed(error)) }
    followVerifications(at: now)
  }

  mutating func take(_ message: VerificationMessage, at now: Int64) {
    let record = names.verification(message.transaction)
    verifications.take(message, knowing: knowledge, record: record, random: &random, at: now)
    followVerifications(at: now)
  }

  /// The server's lists are newer.
  mutating func learnedForVerifications(at now: Int64) {
    verifications.learned(knowing: knowledge, record: { [names] in names.verification($0) }, random: &random, at: now)
    followVerifications(at: now)
  }

  mutating func expireVerifications(at now: Int64) {
    verifications.expire(at: now)
    followVerifications(at: now)
  }

  // MARK: Results

  /// Whether the server has all signatures, and the own devices have what they ask each other for.
  var hasSettled: Bool {
    unsignedKeys.keys.isEmpty && identities.own.signatures == nil && secrets.requests.areSettled && secrets.awaited.isEmpty
      && !sendings.isBusy && !requests.areSending
  }

  private mutating func followVerifications(at now: Int64) {
    let unknown = verifications.takeUnknownUsers()
    tracker.track(unknown)
    tracker.changed(unknown)
    for message in verifications.takeOutgoing() { sendings.append(message, random: &random) }
    for keys in verifications.takeVerified() { take(keys, at: now) }
    sayNext()
  }

  private mutating func take(_ keys: VerifiedKeys, at now: Int64) {
    switch keys {
    case .user: break
    case .ownDevice(let device):
      secrets.answers.noteVerification(of: device, at: now)
      // It asks as soon as it is verified for the first time.
      if device.signer == nil { secrets.awaited.insert(device.signing) }
    case .ownMaster(let master, _):
      guard identities.own.verify(master) else { return }
      stale.formUnion(writing.keys)
      secrets.areNeeded = true
    }
    if keys.user(own.user) == own.user, !holdsIdentity { secrets.areNeeded = true }
    unsignedKeys.append(keys)
    let users = unsignedKeys.users(of: own.user)
    tracker.track(users)
    tracker.changed(users)
  }

  /// Signs what was verified, as the answer has it.
  mutating func signVerified(_ query: DeviceTracker.DeviceQuery, _ answer: JSON) {
    let failures = Set(answer.failedServers)
    let users = query.users.filter { !failures.contains($0.serverName) }
    for keys in unsignedKeys.take(of: users, own: own.user) {
      switch keys {
      case .user(let user, let master):
        if let json = answer["master_keys"]?[user.text] { _ = identities.verify(user, master, json) }
      case .ownDevice(let device):
        let json = answer["device_keys"]?[own.user.text]?[device.device.text]
        if let json { _ = identities.own.sign(json, of: device) }
      case .ownMaster(let master, _):
        guard identities.own.keys?.master == master, let json = answer["master_keys"]?[own.user.text] else { continue }
        _ = identities.own.signMaster(json, by: own)
      }
      stale.formUnion(writing.keys)
    }
  }

  // MARK: Messages

  /// Messages of one verification go out one after the other: the server may deal with requests in any order.
  private mutating func sayNext() {
    for sending in sendings.takeNext() {
      guard let room = sending.room, mayEncrypt(sending, in: room) else {
        sendings.add(sending.plain)
        continue
      }
      let members = writing[room]?.members ?? verificationMembers(sending, room)
      write(in: members)
      writing[room]?.messages.append(
        RoomWriting.Message(destination: .verification(sending), type: sending.eventType, content: sending.message.content))
    }
  }

  private func verificationMembers(_ sending: VerificationSending, _ room: RoomID) -> RoomMembers {
    RoomMembers(room, users: [own.user, sending.user], sharesHistory: outbound[room]?.sharesHistory ?? false)
  }

  /// Encryption must not hinder a verification: the other side has to get the key. Nothing in the messages is secret.
  private func mayEncrypt(_ sending: VerificationSending, in room: RoomID) -> Bool {
    guard rooms[room]?.isSupported ?? false else { return false }
    let members = writing[room]?.members ?? verificationMembers(sending, room)
    guard let recipients = try? trust.recipients(members.users) else { return false }
    return !recipients.withheld.contains { $0.device.user == sending.user && $0.device.readsRooms }
  }

  /// Nothing that is encrypted can be sent to the room.
  mutating func sayPlain(_ sending: VerificationSending) { sendings.add(sending.plain) }

  mutating func said(_ sending: VerificationSending, encrypted content: [UInt8]) {
    sendings.add(sending.encrypted(content))
  }

  mutating func said(_ sending: VerificationSending, _ answer: JSON?, at now: Int64) {
    sendings.end(sending)
    if answer == nil { verifications.refuse(sending.id) } else if sending.isLast { verifications.close(sending.id) }
    if sending.message.kind == .request, let event = answer.flatMap({ EventID($0["event_id"]) }) {
      verifications.sent(sending.id, as: event)
    }
    // The other device answers only if it knows the result.
    if sending.message.kind == .done, sending.user == own.user, secrets.areNeeded { askForSecrets() }
    followVerifications(at: now)
  }
}
