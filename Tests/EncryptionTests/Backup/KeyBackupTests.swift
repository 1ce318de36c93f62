import JSON
import MatrixModel
import Olm
import Testing

@testable import Encryption

@Suite struct KeyBackupTests {
  private let tablet = TestDevice(of: ann, DeviceID(trusted: "TABLET"), seed: "a tablet")
  private let pair: Curve25519KeyPair = {
    var random = SecretSource.repeating(seed: [9])
    return Curve25519KeyPair(from: &random)
  }()

  private func fresh() -> KeyBackup { KeyBackup(version: "1", pair: pair) }

  private func sessions(_ count: Int) throws -> [TestSession] {
    try (0..<count).map { try TestSession(seed: "session \($0)") }
  }

  private func own() throws -> OwnIdentity {
    var (own, random) = (OwnIdentity(user: ann, device: tablet.own.device), SecretSource.repeating(seed: [1]))
    own.beginSetup(random: &random)
    own.setupAccepted(for: tablet.own)
    return own
  }

  /// What `GET /room_keys/version` answers.
  private func described(
    _ creation: [UInt8], version: String = "1", etag: String = "a", count: Int = 0
  ) throws -> JSON {
    try JSON.parse(creation).replacing(["version", "etag", "count"]) { writer in
      writer.member("version", version)
      writer.member("etag", etag)
      writer.member("count", count)
    }
  }

  private func upload(
    _ backup: inout KeyBackup, _ known: [TestSession], isVerified: (RoomKey) -> Bool = { _ in false }, at now: Int64 = 10_000
  ) throws -> BackupUpload {
    var random = SecretSource.system
    let upload = backup.upload(
      backup.nextNames(at: now), keys: { name in known.filter { $0.name == name }.map { $0.proven() } }, isVerified: isVerified,
      random: &random)
    return try #require(upload)
  }

  private func answer(_ count: Int, etag: String = "b") throws -> JSON { try parsed(#"{"count":\#(count),"etag":"\#(etag)"}"#) }

  // MARK: Trust

  @Test func `a version is trusted by its private key or by the verified master key`() throws {
    let own = try own()
    let version = try BackupVersion(try described(BackupVersion.creation(pair.key, own, tablet.own), etag: "e", count: 5))
    let bySignature = try KeyBackup(version, own: own)
    #expect(bySignature.pair == nil && bySignature.etag == "e" && bySignature.count == 5 && bySignature.key == pair.key)
    let unsigned = try BackupVersion(
      try described(BackupVersion.creation(pair.key, OwnIdentity(user: ann, device: tablet.own.device), tablet.own)))
    let byKey = try KeyBackup(unsigned, secret: pair.secret, own: own)
    #expect(byKey.pair != nil && byKey.needsScan)
  }

  @Test func `a version that only a device, a stranger or an unverified master key signed is not trusted`() throws {
    let own = try own(), stranger = TestUser(ann, seed: "stranger")
    func isTrusted(_ creation: [UInt8], secret: Secret? = nil, own: OwnIdentity) throws -> Bool {
      do throws(BackupRefusal) {
        _ = try KeyBackup(try! BackupVersion(try! described(creation)), secret: secret, own: own)
        return true
      } catch {
        #expect(error == .untrusted)
        return false
      }
    }
    let signed = BackupVersion.creation(pair.key, own, tablet.own)
    #expect(try isTrusted(signed, own: own))
    let byDevice = BackupVersion.creation(pair.key, OwnIdentity(user: ann, device: tablet.own.device), tablet.own)
    #expect(
      try !isTrusted(byDevice, own: own) && !isTrusted(byDevice, secret: Secret([UInt8](repeating: 1, count: 32)), own: own))
    var unverified = OwnIdentity(user: ann, device: tablet.own.device)
    _ = unverified.take(try #require(own.keys))
    #expect(try !isTrusted(signed, own: unverified))
    let json = try JSON.parse(byDevice), auth = try #require(json["auth_data"])
    for pair in [stranger.pairs.master, try #require(own.pair(.selfSigning))] {
      let forged = try json.replacing(["auth_data"]) { $0.member("auth_data", auth.signed(by: ann, pair)!) }
      #expect(try !isTrusted(Array(forged.bytes), own: own))
    }
    // The signature of one public key on another.
    let other = Curve25519KeyPair(Secret([UInt8](repeating: 3, count: 32)))!
    let swapped = try JSON.parse(signed).replacing(["auth_data"]) { writer in
      let data = try! JSON.parse(signed)["auth_data"]!.replacing(["public_key"]) {
        $0.member("public_key", base64: other.key.bytes)
      }
      writer.member("auth_data", data)
    }
    #expect(try !isTrusted(Array(swapped.bytes), own: own))
  }

  @Test func `a description of a version is refused with its reason`() throws {
    let json = try described(BackupVersion.creation(pair.key, try own(), tablet.own))
    func refusal(_ key: StaticString, _ value: String) throws -> BackupRefusal? {
      let changed = try json.replacing([key]) { $0.member(key, raw: Array(value.utf8)) }
      do throws(BackupRefusal) {
        _ = try BackupVersion(changed)
        return nil
      } catch { return error }
    }
    #expect(try refusal("etag", "7") == nil && refusal("count", "-5") == nil)
    #expect(try refusal("algorithm", #""other""#) == .unknownAlgorithm)
    for (key, wrong) in [
      ("version", "7"), ("version", #""""#), ("version", "\"\(String(repeating: "1", count: 256))\""), ("auth_data", "7"),
      ("auth_data", #"{"public_key":"AAAA"}"#)
    ] as [(StaticString, String)] { #expect(try refusal(key, wrong) == .malformed) }
  }

  @Test func `a private key is taken if it fits`() throws {
    var backup = try KeyBackup(
      try BackupVersion(try described(BackupVersion.creation(pair.key, try own(), tablet.own))), own: try own())
    let isOtherTaken = backup.take(Secret([UInt8](repeating: 3, count: 32))), isShortTaken = backup.take(Secret([1]))
    #expect(!isOtherTaken && !isShortTaken && backup.pair == nil)
    let isTaken = backup.take(pair.secret)
    #expect(isTaken && backup.pair?.key == pair.key)
  }

  // MARK: Uploads

  @Test func `what is uploaded is read again from the backup`() throws {
    var backup = fresh()
    let known = [try TestSession(seed: "one"), try TestSession(RoomID(trusted: "!coffee:one.example"), seed: "two")]
    for session in known { backup.add(session.name, at: 0) }
    let upload = try upload(&backup, known, isVerified: { $0.room == known[1].room })
    #expect(upload.version == "1")
    let json = try JSON.parse(upload.body)
    let one = try #require(json["rooms"]?[known[0].room.text]?["sessions"]?[known[0].name.session])
    #expect(one.integer("first_message_index") == 0 && one.integer("forwarded_count") == 0 && one.bool("is_verified") == false)
    #expect(json["rooms"]?[known[1].room.text]?["sessions"]?[known[1].name.session]?.bool("is_verified") == true)
    var download = BackupDownload(json, of: .all, with: pair)
    let keys = download.next()
    #expect(Set(keys.map(\.name)) == Set(known.map(\.name)) && download.unreadable == 0 && download.remaining == 0)
    for key in keys {
      let session = try #require(known.first { $0.name == key.name })
      #expect(
        key.origin == .claimed(identity: session.owner.identity) && session.proven().agrees(with: key) && key.sharesHistory)
    }
  }

  @Test func `an upload begins ten seconds after the last key, or when it is full`() throws {
    var backup = fresh()
    let known = try sessions(101)
    #expect(backup.nextNames(at: 1_000_000).isEmpty && backup.nextUploadTime() == nil)
    backup.add(known[0].name, at: 1_000)
    backup.add(known[1].name, at: 3_000)
    #expect(backup.nextNames(at: 12_999).isEmpty && backup.nextUploadTime() == 13_000)
    #expect(backup.nextNames(at: 13_000) == [known[0].name, known[1].name])
    #expect(backup.nextNames(at: 2_999).count == 2, "the clock was set back")
    for session in known[..<99] { backup.add(session.name, at: 5_000) }
    #expect(backup.nextNames(at: 5_000).isEmpty)
    for session in known[99...] { backup.add(session.name, at: 5_000) }
    #expect(backup.nextNames(at: 5_000) == known[..<100].map(\.name) && backup.waitingCount == 101)
    _ = try upload(&backup, known, at: 5_000)
    #expect(backup.nextNames(at: 1_000_000).isEmpty && backup.nextUploadTime() == nil, "one at a time")
    #expect(backup.waitingCount == 101)
  }

  @Test func `sessions wait until the server has answered, and new keys of them are uploaded again`() throws {
    var backup = fresh()
    let known = try sessions(2)
    for session in known { backup.add(session.name, at: 0) }
    let first = try upload(&backup, known)
    backup.add(known[0].name, at: 10_000)
    let isWhole = backup.uploaded(first, try answer(2))
    #expect(isWhole && backup.etag == "b" && backup.count == 2)
    #expect(backup.nextNames(at: 20_000) == [known[0].name])

    backup.add(known[1].name, at: 10_000)
    let second = try upload(&backup, known, at: 20_000)
    backup.add(known[1].name, at: 20_000)
    backup.uploadFailed(second)
    #expect(Set(backup.nextNames(at: 30_000)) == Set(known.map(\.name)))
    #expect(backup.waitingCount == 2)
  }

  @Test func `a session whose keys are gone is not waited for`() throws {
    var (backup, random) = (fresh(), SecretSource.system)
    backup.add(try TestSession().name, at: 0)
    let upload = backup.upload(backup.nextNames(at: 10_000), keys: { _ in [] }, isVerified: { _ in true }, random: &random)
    #expect(upload == nil && backup.waitingCount == 0 && backup.nextNames(at: 20_000).isEmpty)
  }

  @Test func `of several keys the verified one is kept, then an owner's, then the one that reads most`() throws {
    let session = try TestSession()
    let laptop = TestDevice(of: bob, DeviceID(trusted: "LAPTOP"), seed: "a laptop")
    let other = RoomKey.Owner(user: bob, identity: laptop.own.account.identity.key, signing: laptop.own.account.signing.key)
    let keys = [try session.claimed(), session.proven(), session.proven(by: other)]
    func best(_ keys: [RoomKey], _ verified: RoomKey.Origin? = nil) -> RoomKey.Origin? {
      KeyBackup.best(keys) { $0.origin == verified }?.origin
    }
    for keys in [keys, keys.reversed()] {
      #expect(best(keys, .proven(other)) == .proven(other) && best(keys, .proven(session.owner)) == .proven(session.owner))
      #expect(best(keys).map { if case .proven = $0 { true } else { false } } ?? false)
    }
    let late = try session.claimed(at: 5), early = try session.claimed(at: 2)
    for keys in [[late, early], [early, late]] { #expect(KeyBackup.best(keys) { _ in false }?.session.firstIndex == 2) }
    #expect(KeyBackup.best([]) { _ in true } == nil)
  }

  // MARK: What the server says

  @Test func `another version or key stops the uploads, also after a restart`() throws {
    let own = try own()
    func version(_ key: Curve25519Key, _ version: String = "1") throws -> BackupVersion {
      try BackupVersion(try described(BackupVersion.creation(key, own, tablet.own), version: version))
    }
    let other = Curve25519KeyPair(Secret([UInt8](repeating: 3, count: 32)))!.key
    for (current, stop) in [
      (try version(pair.key), nil), (try version(pair.key, "2"), .replaced), (try version(other), .replaced)
    ] as [(BackupVersion, KeyBackup.Stop?)] {
      var backup = fresh()
      backup.add(try TestSession().name, at: 0)
      _ = backup.check(current)
      for backup in [backup, try restored(backup)] {
        #expect(backup.stop == stop && backup.nextNames(at: 10_000).isEmpty == (stop != nil))
        #expect((backup.nextUploadTime() == nil) == (stop != nil))
      }
    }
    // An upload is refused.
    var backup = fresh(), known = try sessions(1)
    backup.add(known[0].name, at: 0)
    backup.uploadFailed(try upload(&backup, known))
    backup.halt(.deleted)
    #expect(backup.stop == .deleted && backup.nextNames(at: 20_000).isEmpty && backup.waitingCount == 1)
    #expect(try restored(backup).stop == .deleted)
    // The next version has what waited.
    known = try sessions(2)
    var next = KeyBackup(version: "2", pair: pair)
    next.add(known[1].name, at: 0)
    next.inherit(backup)
    #expect(next.nextNames(at: 10_000) == [known[1].name, known[0].name])
  }

  @Test func `a server that has lost keys is noticed`() throws {
    var backup = fresh()
    let known = try sessions(1)
    backup.add(known[0].name, at: 0)
    let first = backup.uploaded(try upload(&backup, known), try answer(10))
    backup.add(known[0].name, at: 0)
    let second = backup.uploaded(try upload(&backup, known), try answer(9))
    #expect(first && !second && backup.count == 9)
    let creation = BackupVersion.creation(pair.key, try own(), tablet.own)
    let isSame = backup.check(try BackupVersion(try described(creation, count: 9)))
    let isFewer = backup.check(try BackupVersion(try described(creation, count: 3)))
    #expect(isSame && !isFewer)
  }

  // MARK: Store

  private let names = RecordNames(secret: Secret([1, 2, 3]))

  /// What a crash leaves, if all that changed was written.
  private func restored(_ backup: KeyBackup) throws -> KeyBackup {
    var (backup, store) = (backup, [ByteString: [UInt8]]())
    return try restored(&backup, &store)
  }

  private func restored(_ backup: inout KeyBackup, _ store: inout [ByteString: [UInt8]]) throws -> KeyBackup {
    for write in backup.writes(names) { store[write.key] = write.value }
    #expect(backup.writes(names).isEmpty)
    var restored = try KeyBackup(record: try #require(store[RecordNames.backup]))
    for (key, value) in store.sorted(by: { $0.key < $1.key }) where key.utf8.starts(with: RecordNames.waiting.utf8) {
      try restored.restore(waiting: value)
    }
    #expect(restored.writes(names).isEmpty)
    return restored
  }

  @Test func `sessions wait also after a restart, until they are marked as backed up`() throws {
    var (backup, store) = (fresh(), [ByteString: [UInt8]]())
    let known = try sessions(3)
    for session in known { backup.add(session.name, at: 0) }
    #expect(try restored(&backup, &store).waitingCount == 3)
    let upload = try upload(&backup, known)
    #expect(Set(try restored(&backup, &store).nextNames(at: 10_000)) == Set(known.map(\.name)), "the server may not have them")
    backup.add(known[2].name, at: 0)
    _ = backup.uploaded(upload, try answer(3))
    let after = try restored(&backup, &store)
    #expect(after.nextNames(at: 10_000) == [known[2].name] && after.etag == "b" && after.count == 3)
    #expect(store.keys.filter { $0.utf8.starts(with: RecordNames.waiting.utf8) }.count == 1)
    for session in known {
      let record = try #require(store[names.mark(of: session.name)]), mark = try BackupMark(record: record)
      #expect(mark == BackupMark(version: "1", firstIndex: 0, isVerified: false))
    }
    #expect(Set(backup.removal(names).map(\.key)) == [RecordNames.backup, names.waiting(known[2].name)])
  }

  @Test func `a mark lies with the session's records, whose keys are read all the same`() throws {
    let session = try TestSession()
    var keys = RoomKeys()
    _ = keys.add(session.proven())
    let entry = try #require(keys.entries.value(of: session.name))
    let mark = BackupMark(version: "1", firstIndex: 0, isVerified: true)
    let records = [
      EncryptionRecord(key: names.mark(of: session.name), value: mark.record),
      EncryptionRecord(key: names.session(session.name), value: entry.record)
    ]
    #expect(records.allSatisfy { RecordNames.prefix(of: $0.key) == names.keys(of: session.name) })
    #expect(try RoomKeys.Entry(records).keys.map(\.name) == [session.name])
    #expect(try BackupMark(record: records[0].value) == mark && BackupMark(record: records[1].value) == nil)
    for wrong in ["{}", #"{"version":"1","index":-1,"verified":true}"#, #"{"version":"1","index":0}"#] {
      #expect(throws: RecordRefusal.unreadable) { try BackupMark(record: Array(#"{"v":1,"backup":\#(wrong)}"#.utf8)) }
    }
  }

  @Test func `a scan adds what the version does not have`() throws {
    let session = try TestSession()
    func isAdded(_ keys: [RoomKey], _ mark: BackupMark?) -> Bool {
      var backup = fresh()
      backup.scan(keys, mark)
      return backup.waitingCount == 1
    }
    func mark(_ version: ByteString = "1", _ index: UInt32 = 5) -> BackupMark {
      BackupMark(version: version, firstIndex: index, isVerified: false)
    }
    let late = try session.claimed(at: 5)
    #expect(isAdded([late], nil) && isAdded([late], mark("0")) && isAdded([session.proven()], mark()))
    #expect(!isAdded([late], mark()) && !isAdded([late], mark("1", 0)) && !isAdded([], nil))
    var backup = fresh()
    backup.endScan()
    #expect(try !backup.needsScan && !restored(backup).needsScan && restored(fresh()).needsScan)
  }

  @Test func `a key from the backup is marked and not uploaded`() throws {
    var (backup, store) = (fresh(), [ByteString: [UInt8]]())
    let session = try TestSession(), key = try session.claimed(at: 5)
    backup.noteDownload(key)
    _ = try restored(&backup, &store)
    let record = try #require(store[names.mark(of: session.name)]), stored = try BackupMark(record: record)
    let mark = try #require(stored)
    backup.scan([key], mark)
    #expect(backup.waitingCount == 0)
    backup.scan([try session.claimed()], mark)
    #expect(backup.waitingCount == 1, "it reads more than the backup")
    #expect(mark.covers(key, isVerified: false, in: "1") && !mark.covers(key, isVerified: true, in: "1"))
  }

  @Test func `a damaged record is refused`() throws {
    var backup = fresh()
    let value = backup.writes(names).first?.value, json = try JSON.parse(try #require(value))
    #expect(try KeyBackup(record: Array(json.bytes)).pair?.key == pair.key)
    for (key, wrong) in [
      ("version", "7"), ("key", #""AAAA""#), ("private", #""AAAA""#), ("count", #""1""#), ("scan", "1")
    ] as [(StaticString, String)] {
      let changed = try json.replacing([key]) { $0.member(key, raw: Array(wrong.utf8)) }
      #expect(throws: RecordRefusal.unreadable) { try KeyBackup(record: Array(changed.bytes)) }
    }
    let other = try json.replacing(["private"]) { $0.member("private", base64: [UInt8](repeating: 3, count: 32)) }
    #expect(throws: RecordRefusal.unreadable) { try KeyBackup(record: Array(other.bytes)) }
    for wrong in [#"{"v":1}"#, #"{"v":1,"room":7,"session":"a"}"#, "{}"] {
      do throws(RecordRefusal) {
        try backup.restore(waiting: Array(wrong.utf8))
        Issue.record("\(wrong) is taken")
      } catch { #expect(error == .unreadable && backup.waitingCount == 0) }
    }
  }
}
