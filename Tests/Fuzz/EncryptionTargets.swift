#if DEBUG || FUZZING
  import JSON
  import MatrixModel
  import Olm

  @testable import Encryption

  /// Ann on a verified device, who has seen Bob's identity. The seed makes the same each time.
  private struct EncryptionWorld: Sendable {
    static let ann = UserID(trusted: "@ann:one.example"), bob = UserID(trusted: "@bob:two.example")
    static let device = DeviceID(trusted: "TABLET")

    let own: OwnKeys
    let identities: Identities
    let pinned: Ed25519Key
    let key: Secret
    let pair: Curve25519KeyPair

    init?() {
      var random = SecretSource.repeating(seed: Array("a world of encryption".utf8))
      own = OwnKeys(user: Self.ann, device: Self.device, account: Account(random: &random))
      var identity = OwnIdentity(user: Self.ann, device: Self.device)
      identity.beginSetup(random: &random)
      identity.setupAccepted(for: own)
      pinned = Ed25519KeyPair(from: &random).key
      identities = Identities(own: identity, others: [UserIdentity(CrossSigningKeys(user: Self.bob, master: pinned))])
      key = random.secret(32)
      guard let pair = Curve25519KeyPair(key) else { return nil }
      self.pair = pair
    }

    static let shared = EncryptionWorld()
  }

  /// Answers of `/keys/query` by a hostile server: the pinned key stays, nobody is verified, and only signed devices get keys.
  func fuzzKeyQuery(_ bytes: UnsafeRawBufferPointer) {
    guard let world = EncryptionWorld.shared else { fatalError("the world of encryption cannot be made") }
    guard let answer = try? JSON.parse(Array(bytes)) else { return }
    var (identities, tracker) = (world.identities, DeviceTracker())
    tracker.track([EncryptionWorld.ann, EncryptionWorld.bob])
    for _ in 0..<2 {
      guard let query = tracker.nextQuery(at: 0) else { break }
      _ = identities.answered(query, answer, at: 0)
      _ = tracker.answered(query, answer, knowing: identities, at: 0)
      tracker.lostTrack()
    }
    let identity = identities.identity(of: EncryptionWorld.bob)
    precondition(identity?.pinned == world.pinned && !identities.isVerified(EncryptionWorld.bob))
    let trust = Trust(of: world.own.deviceKeys, identities, tracker, SharingPolicy(readers: .signed))
    for reader in (try? trust.recipients([EncryptionWorld.bob]))?.readers ?? [] {
      precondition(identities.identity(of: reader.user)?.hasSigned(reader) ?? false)
    }
    for case .put(let record) in identities.writes(RecordNames(secret: world.key)) { fuzzRecord(record.value) }
  }

  /// Account data and answers about secrets and backups, whose key the server does not know.
  func fuzzSecrets(_ bytes: UnsafeRawBufferPointer) {
    guard let world = EncryptionWorld.shared else { fatalError("the world of encryption cannot be made") }
    let bytes = Array(bytes)
    _ = try? ExportedRoomKey.keys(ofFile: bytes)
    guard let json = try? JSON.parse(bytes) else { return }
    if let description = try? StorageKeyDescription(json, id: "key") {
      let again = (try? JSON.parse(description.content)).flatMap { try? StorageKeyDescription($0, id: "key") }
      precondition(again == description)
      _ = try? description.key(world.key)
    }
    for name in SecretName.allCases {
      _ = try? StorageKey(id: "key", secret: world.key, isChecked: true).decrypt(json, as: name)
    }
    if let version = try? BackupVersion(json) { _ = try? KeyBackup(version, secret: world.key, own: world.identities.own) }
    let room = RoomID(trusted: "!tea:one.example")
    for part in [BackupDownload.Part.all, .room(room), .session(RoomKeys.Name(room, "session"))] {
      var download = BackupDownload(json, of: part, with: world.pair)
      while download.remaining > 0 { _ = download.next(7) }
    }
    for place in [ExportedRoomKey.Place.backup, .file, .bundle] {
      guard let key = try? ExportedRoomKey(json, from: place) else { continue }
      var writer = JSONWriter()
      key.write(for: .file, to: &writer)
      let again = (try? JSON.parse(writer.bytes)).flatMap { try? ExportedRoomKey($0, from: .file) }
      precondition(again?.roomKey.name == key.roomKey.name && again?.sharesHistory == key.sharesHistory)
    }
  }

  /// Records of a damaged store: what is read is written so that it reads the same.
  func fuzzEncryptionRecord(_ bytes: UnsafeRawBufferPointer) { fuzzRecord(Array(bytes)) }

  func fuzzRecord(_ bytes: [UInt8]) {
    func check<Value>(_ read: ([UInt8]) throws(RecordRefusal) -> Value, _ write: (Value) -> [UInt8]) {
      guard let written = (try? read(bytes)).map({ write($0) }) else { return }
      precondition((try? read(written)).map({ write($0) }) == written)
    }
    check({ (bytes) throws(RecordRefusal) in try UserIdentity(record: bytes) }, { $0.record })
    check({ (bytes) throws(RecordRefusal) in try OwnIdentity(record: bytes) }, { $0.record })
    check({ (bytes) throws(RecordRefusal) in try SharingPolicy(record: bytes) }, { $0.record })
    check({ (bytes) throws(RecordRefusal) in try SecretStorage(record: bytes) }, { $0.record })
    check({ (bytes) throws(RecordRefusal) in try SecretRequests(record: bytes) }, { $0.record })
    check({ (bytes) throws(RecordRefusal) in try SharedSecrets(record: bytes) }, { $0.record })
    check({ (bytes) throws(RecordRefusal) in try UnsignedKeys(record: bytes) }, { $0.record })
    check({ (bytes) throws(RecordRefusal) in try BackupMark(record: bytes) }, { $0?.record ?? Array(#"{"v":1}"#.utf8) })
    guard var backup = try? KeyBackup(record: bytes) else { return }
    try? backup.restore(waiting: bytes)
    backup.halt(.deleted)
    for case .put(let record) in backup.writes(RecordNames(secret: Secret([1]))) {
      precondition((try? KeyBackup(record: record.value))?.stop == .deleted)
    }
  }
#endif
