import Encryption
import JSON
import MatrixModel
import Olm

let encryptionChecks = [
  Check("Encryption: others read what a device publishes") {
    var random = SecretSource.system
    let bob = UserID(trusted: "@bob:two.example"), phone = DeviceID(trusted: "PHONE")
    var own = OwnKeys(user: bob, device: phone, account: Account(random: &random))
    guard let keys = published(&own, &random)?["device_keys"] else { return false }
    var tracker = DeviceTracker()
    tracker.track([bob])
    guard let query = tracker.nextQuery(at: 0), let answer = holding(bob, phone, "device_keys", keys) else { return false }
    return tracker.answered(query, answer, at: 0).count == 1
      && tracker.device(phone, of: bob)?.identity == own.account.identity.key
  },
  Check("Encryption: a device that changed its keys is refused") {
    let bob = UserID(trusted: "@bob:two.example"), phone = DeviceID(trusted: "PHONE")
    var tracker = DeviceTracker()
    tracker.track([bob])
    for round in 0..<2 {
      var random = SecretSource.system
      var own = OwnKeys(user: bob, device: phone, account: Account(random: &random))
      tracker.changed([bob])
      guard let keys = published(&own, &random)?["device_keys"], let query = tracker.nextQuery(at: 0),
        let answer = holding(bob, phone, "device_keys", keys)
      else { return false }
      let news = tracker.answered(query, answer, at: 0)
      if round == 1, news != [.refused(bob, phone, .changedKeys)] { return false }
    }
    return true
  },
  Check("Encryption: a device that its user's new identity signed gets keys, an unsigned one does not") {
    var random = SecretSource.system
    let ann = UserID(trusted: "@ann:one.example"), bob = UserID(trusted: "@bob:two.example"), phone = DeviceID(trusted: "PHONE")
    let reader = OwnKeys(user: ann, device: phone, account: Account(random: &random))
    var own = OwnKeys(user: bob, device: phone, account: Account(random: &random))
    var identity = OwnIdentity(user: bob, device: phone)
    identity.beginSetup(random: &random)
    guard let body = identity.setupBody().flatMap({ try? JSON.parse($0) }),
      let unsigned = published(&own, &random)?["device_keys"]
    else { return false }
    identity.setupAccepted(for: own)
    guard let upload = identity.signatures.flatMap({ try? JSON.parse($0.body) }), let signed = upload[bob.text]?[phone.text],
      let master = body["master_key"], let selfSigning = body["self_signing_key"]
    else { return false }
    for (device, count) in [(signed, 1), (unsigned, 0)] {
      var tracker = DeviceTracker()
      var identities = Identities(own: OwnIdentity(user: ann, device: phone))
      tracker.track([bob])
      guard let query = tracker.nextQuery(at: 0), let answer = answer(bob, phone, device, master, selfSigning) else {
        return false
      }
      guard identities.answered(query, answer, at: 0) == [.appeared(bob)] else { return false }
      _ = tracker.answered(query, answer, knowing: identities, at: 0)
      let trust = Trust(of: reader.deviceKeys, identities, tracker, SharingPolicy(readers: .signed))
      guard let recipients = try? trust.recipients([bob]) else { return false }
      if recipients.readers.count != count || recipients.withheld.count != 1 - count { return false }
    }
    return true
  },
  Check("Encryption: a secret is stored, and its key recognized") {
    var random = SecretSource.system
    let secret = random.secret(32), value = random.secret(32)
    let made = StorageKeyDescription(of: secret, random: &random)
    guard let content = try? JSON.parse(made.content), let read = try? StorageKeyDescription(content, id: made.id),
      let key = try? read.key(secret), let stored = try? key.encrypt(value, as: .backupKey, random: &random),
      let json = try? JSON.parse(stored), let opened = try? key.decrypt(json, as: .backupKey)
    else { return false }
    return opened.isEqual(to: value) && (try? read.key(value)) == nil && (try? key.decrypt(json, as: .masterKey)) == nil
  },
  Check("Encryption: a room key is uploaded to the backup and read from it") {
    var random = SecretSource.system
    guard let room = RoomID("!tea:one.example"), let pair = Curve25519KeyPair(random.secret(32)) else { return false }
    let own = OwnKeys(
      user: UserID(trusted: "@bob:two.example"), device: DeviceID(trusted: "PHONE"), account: Account(random: &random))
    guard let key = try? OutboundRoom(room, sharesHistory: true, random: &random, at: 0).ownKey(of: own) else { return false }
    var backup = KeyBackup(version: "1", pair: pair)
    backup.add(key.name, at: 0)
    let upload = backup.upload(backup.nextNames(at: 10_000), keys: { _ in [key] }, isVerified: { _ in true }, random: &random)
    guard let upload, let body = try? JSON.parse(upload.body) else { return false }
    var download = BackupDownload(body, of: .all, with: pair)
    let keys = download.next()
    return keys.count == 1 && keys[0].name == key.name && keys[0].origin == .claimed(identity: own.account.identity.key)
  }
]

private func answer(_ user: UserID, _ device: DeviceID, _ keys: JSON, _ master: JSON, _ selfSigning: JSON) -> JSON? {
  guard let devices = holding(user, device, "device_keys", keys) else { return nil }
  let parts: [(StaticString, JSON)] = [("master_keys", master), ("self_signing_keys", selfSigning)]
  return try? devices.replacing([]) { writer in
    for (name, key) in parts {
      writer.key(name)
      writer.object { writer in
        writer.key(user)
        writer.write(key)
      }
    }
  }
}

private func published(_ own: inout OwnKeys, _ random: inout SecretSource) -> JSON? {
  own.nextUpload(random: &random, at: 0).flatMap { try? JSON.parse($0) }
}

private func holding(_ user: UserID, _ device: DeviceID, _ name: StaticString, _ value: JSON) -> JSON? {
  try? JSON.object { writer in
    writer.key(name)
    writer.object { writer in
      writer.key(user)
      writer.object { writer in
        writer.key(device)
        writer.write(value)
      }
    }
  }
}
