import JSON
import MatrixModel
import Olm

/// What the store does not have yet, of what is in memory all the time.
struct Unstored: Sendable {
  var ownKeys = false
  var rooms: Set<RoomID> = []
  /// Rooms whose outbound session has changed, and those of which devices have it that did not before.
  var sessions: Set<RoomID> = [], holders: Set<RoomID> = []
  /// To-device requests that begin, and those that are over.
  var requests: [RecordChange] = []
  var policy = false, storage = false, history = false
}

extension EncryptionMachine {
  // MARK: Beginning

  /// - Parameter records: all that are in memory all the time.
  mutating func restore(_ records: [EncryptionRecord], at now: Int64) {
    do throws(RecordRefusal) {
      if let account = records.first(where: { $0.key == RecordNames.account }) {
        guard try restoreAccount(account.value) else { return stop(.ofAnotherDevice) }
        var stored: [UserIdentity] = []
        for record in records { try restore(record, &stored) }
        for record in records where record.key.utf8.starts(with: RecordNames.waiting.utf8) {
          guard (try readable(record, JSON.record)) != nil else { continue }
          try? backup?.restore(waiting: record.value)
        }
        identities = Identities(own: identities.own, others: stored)
        try restoreVerifications(records, at: now)
        // The devices of an older store were learned without identities: their signatures are not known.
        if !records.contains(where: { $0.key == RecordNames.ownIdentity }) { tracker.lostTrack() }
        for record in records where record.key.utf8.starts(with: RecordNames.holders.utf8) { try restoreHolders(record) }
      } else {
        // Without its account nothing else of a store is of use.
        guard records.isEmpty else { return stop(.unreadableStore) }
        own.createdAt = now
        unstored.ownKeys = true
      }
    } catch {
      return stop(error == .unknownVersion ? .newerStore : .unreadableStore)
    }
    outbound = outbound.filter { $1.hasHolders }
    tracker.track([own.user])
  }

  private mutating func restoreAccount(_ bytes: [UInt8]) throws(RecordRefusal) -> Bool {
    let json = try JSON.record(bytes)
    let restored = try OwnKeys(record: json)
    guard restored.user == own.user, restored.device == own.device else { return false }
    names = RecordNames(secret: Secret(try json.bytes("names")))
    own = restored
    return true
  }

  private mutating func restore(_ record: EncryptionRecord, _ stored: inout [UserIdentity]) throws(RecordRefusal) {
    let key = record.key.utf8
    if key.starts(with: RecordNames.users.utf8) {
      // Who is not tracked is asked for when somebody writes to them.
      guard let (user, devices) = try readable(record, UserDevices.read) else { return }
      tracker.restore(devices, of: user)
    } else if key.starts(with: RecordNames.rooms.utf8) {
      // Nothing may be forgotten here: an encrypted room would be taken for another.
      let (room, encryption) = try RoomEncryption.read(record.value)
      rooms[room] = encryption
    } else if key.starts(with: RecordNames.outbound.utf8) {
      let read = try readable(record) { (bytes) throws(RecordRefusal) in try OutboundRoom(record: bytes) }
      if let read { outbound[read.room] = read }
    } else if key.starts(with: RecordNames.sending.utf8) {
      let read = try readable(record) { (bytes) throws(RecordRefusal) in try ToDeviceRequest(record: bytes) }
      if let read { requests.append(read) } else { unstored.requests.append(.delete(record.key)) }
    } else if key.starts(with: RecordNames.identities.utf8) {
      let read = try readable(record) { (bytes) throws(RecordRefusal) in try UserIdentity(record: bytes) }
      if let read { stored.append(read) }
    } else if record.key == RecordNames.ownIdentity {
      let read = try readable(record) { (bytes) throws(RecordRefusal) in try OwnIdentity(record: bytes) }
      if let read, read.user == own.user, read.device == own.device { identities.own = read }
    } else if record.key == RecordNames.policy {
      let read = try readable(record) { (bytes) throws(RecordRefusal) in try SharingPolicy(record: bytes) }
      if let read { policy = read }
    } else if record.key == RecordNames.secretStorage {
      let read = try readable(record) { (bytes) throws(RecordRefusal) in try SecretStorage(record: bytes) }
      if let read { storage = read }
    } else if record.key == RecordNames.history {
      let read = try readable(record) { (bytes) throws(RecordRefusal) in try HistoryOffers(record: bytes) }
      if let read { history.offers = read }
    } else if record.key == RecordNames.backup {
      backup = try readable(record) { (bytes) throws(RecordRefusal) in try KeyBackup(record: bytes) }
    } else if record.key == RecordNames.dehydration {
      let read = try readable(record) { (bytes) throws(RecordRefusal) in try Dehydration(record: bytes) }
      if let read { dehydration = read }
    }
  }

  /// nil for a record that is damaged; of a newer version nothing is left out.
  private func readable<Value>(
    _ record: EncryptionRecord, _ read: ([UInt8]) throws(RecordRefusal) -> Value
  ) throws(RecordRefusal) -> Value? {
    do throws(RecordRefusal) { return try read(record.value) } catch {
      guard error == .unreadable else { throw error }
      return nil
    }
  }

  private mutating func restoreHolders(_ record: EncryptionRecord) throws(RecordRefusal) {
    guard let json = try readable(record, JSON.record), let room = RoomID(json["room"]) else { return }
    guard (try? outbound[room]?.takeHolders(json)) != nil else { return outbound[room] = nil }
  }

  /// What was under way ends; what was proven is signed, and what was asked for is waited for.
  private mutating func restoreVerifications(_ records: [EncryptionRecord], at now: Int64) throws(RecordRefusal) {
    for record in records {
      if record.key == RecordNames.secretRequests {
        let read = try readable(record) { (bytes) throws(RecordRefusal) in try SharedSecrets(record: bytes) }
        if let read { secrets = read }
      } else if record.key == RecordNames.unsignedKeys {
        let read = try readable(record) { (bytes) throws(RecordRefusal) in try UnsignedKeys(record: bytes) }
        if let read { unsignedKeys = read }
      } else if record.key.utf8.starts(with: RecordNames.verifications.utf8) {
        do throws(RecordRefusal) { try verifications.restore(record, own, random: &random, at: now) } catch {
          guard error == .unreadable else { throw error }
          unstored.requests.append(.delete(record.key))
        }
      }
    }
    let users = unsignedKeys.users(of: own.user)
    tracker.track(users)
    tracker.changed(users)
    expireVerifications(at: now)
  }

  // MARK: Writing

  /// All that has changed. It is in the store from now on, as far as the machine is concerned.
  mutating func takeWrites(evicting: Bool) -> [RecordChange] {
    var writes = unstored.requests
    func put(_ key: ByteString, _ value: [UInt8]) { writes.append(.put(EncryptionRecord(key: key, value: value))) }
    if unstored.ownKeys { put(RecordNames.account, accountRecord) }
    for user in tracker.unstored {
      if let record = tracker.record(of: user) {
        put(names.user(user), record)
      } else {
        writes.append(.delete(names.user(user)))
      }
    }
    for room in unstored.rooms { if let encryption = rooms[room] { put(names.room(room), encryption.record(of: room)) } }
    for room in unstored.sessions { if let session = outbound[room] { put(names.outbound(room), session.record) } }
    for room in unstored.holders { if let session = outbound[room] { put(names.holders(of: room), session.holdersRecord) } }
    for identity in sessions.entries.changed {
      if let entry = sessions.entries.value(of: identity) { put(names.sessions(with: identity), entry.record(of: identity)) }
    }
    for name in roomKeys.entries.changed {
      if let entry = roomKeys.entries.value(of: name) { put(names.session(name), entry.record) }
    }
    for page in roomKeys.changedPages {
      if let entry = roomKeys.entries.value(of: page.name) { put(names.page(page), entry.record(ofPage: page.number)) }
    }
    writes += identities.writes(names)
    writes += verifications.takeWrites()
    if unsignedKeys.isUnstored { put(RecordNames.unsignedKeys, unsignedKeys.record) }
    if secrets.isUnstored { put(RecordNames.secretRequests, secrets.record) }
    if unstored.policy { put(RecordNames.policy, policy.record) }
    if unstored.storage { put(RecordNames.secretStorage, storage.record) }
    if dehydration.isUnstored { put(RecordNames.dehydration, dehydration.record) }
    if unstored.history { put(RecordNames.history, history.offers.record) }
    writes += backup?.writes(names) ?? []
    unstored = Unstored()
    tracker.markStored()
    identities.markStored()
    unsignedKeys.markStored()
    secrets.markStored()
    dehydration.markStored()
    sessions.entries.markStored(evicting: evicting)
    roomKeys.markStored(evicting: evicting)
    return writes
  }

  private var accountRecord: [UInt8] {
    JSONWriter.record { writer in
      own.write(to: &writer)
      writer.member("names", base64: names.secret.exposed())
    }
  }
}
