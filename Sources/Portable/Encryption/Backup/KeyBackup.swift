import JSON
import MatrixModel
import Olm

/// The backup of room keys that this device writes to: the version it trusts, and the sessions that are not in it yet.
///
/// A value: what `writes` returns is stored with the batch that changed it. A session waits until the server has answered. So a crash uploads it
/// again, which changes nothing there. Spec: Client-Server API, "Server-side key backups".
package struct KeyBackup: Sendable {
  /// Why nothing is uploaded any more. The user decides what is done.
  package enum Stop: Equatable, Sendable {
    /// The server has another version, or another key under this version.
    case replaced
    /// The server has no backup.
    case deleted
  }

  /// Sessions of one upload.
  package static let uploadSessions = 100
  /// Uploads begin so long after the last new key, or as soon as an upload is full.
  static let pauseMilliseconds: Int64 = 10_000

  package typealias Version = ByteString

  package let version: Version
  package let key: Curve25519Key
  /// Reads the backup. nil if the version is trusted by a signature only.
  package private(set) var pair: Curve25519KeyPair?
  /// By which the server says that nothing has changed.
  package private(set) var etag: ByteString?
  /// Sessions that the server says are there.
  package private(set) var count = 0
  package private(set) var stop: Stop?
  /// Whether sessions of the store may be missing that were there before this version was used.
  package private(set) var needsScan = true
  private var refill = BackupRefill()

  private var queue: [RoomKeys.Name] = []
  private var queued: Set<RoomKeys.Name> = []
  private var uploading: Set<RoomKeys.Name> = []
  /// When the last key came, in milliseconds since 1970.
  private var lastAdded: Int64 = 0
  private var unstored = Unstored()

  private struct Unstored: Sendable {
    var hasState = true
    var queue: Set<RoomKeys.Name> = []
    var marks: [RoomKeys.Name: BackupMark] = [:]
  }

  /// A version that this device has just made.
  package init(version: ByteString, pair: Curve25519KeyPair) {
    self.version = version
    key = pair.key
    self.pair = pair
  }

  /// A version that the server has, if it can be trusted.
  ///
  /// - Parameter secret: the private key, if it is known.
  package init(_ version: BackupVersion, secret: Secret? = nil, own: OwnIdentity) throws(BackupRefusal) {
    let pair = secret.flatMap { Curve25519KeyPair($0) }.flatMap { $0.key == version.key ? $0 : nil }
    guard pair != nil || version.isSigned(by: own) else { throw .untrusted }
    self.version = version.version
    key = version.key
    self.pair = pair
    etag = version.etag
    count = version.count
  }

  // MARK: What the server says

  /// Takes the private key from secret storage or a verified device, if it fits.
  package mutating func take(_ secret: Secret) -> Bool {
    guard let pair = Curve25519KeyPair(secret), pair.key == key else { return false }
    self.pair = pair
    unstored.hasState = true
    return true
  }

  /// Compares the version with the one that the server has now.
  ///
  /// - Returns: false if the server has lost keys that it had.
  package mutating func check(_ current: BackupVersion) -> Bool {
    guard current.version == version, current.key == key else {
      halt(.replaced)
      return true
    }
    return note(etag: current.etag, count: current.count)
  }

  /// The server has no version, another one than this, or does not accept uploads to it.
  package mutating func halt(_ reason: Stop) {
    stop = reason
    unstored.hasState = true
  }

  private mutating func note(etag: ByteString?, count: Int) -> Bool {
    let isWhole = count >= self.count
    self.etag = etag
    self.count = count
    unstored.hasState = true
    return isWhole
  }

  // MARK: Sessions that wait

  package var waitingCount: Int { queue.count + uploading.count }

  /// A key came that the backup does not have, or one that reads more than before.
  package mutating func add(_ name: RoomKeys.Name, at now: Int64) {
    lastAdded = now
    enqueue(name)
  }

  private mutating func enqueue(_ name: RoomKeys.Name) {
    guard queued.insert(name).inserted else { return }
    queue.append(name)
    unstored.queue.insert(name)
  }

  /// A session of the store, found by a scan.
  package mutating func scan(_ keys: [RoomKey], _ mark: BackupMark?) {
    guard let key = Self.best(keys, isVerified: { _ in false }) else { return }
    if refill.isUnderWay || !(mark?.covers(key, isVerified: false, in: version) ?? false) { enqueue(key.name) }
  }

  /// Takes over what waited for the version before.
  package mutating func inherit(_ before: KeyBackup) {
    for name in before.uploading.ordered(by: KeyBackup.comesBefore) + before.queue { enqueue(name) }
  }

  private static func comesBefore(_ one: RoomKeys.Name, _ other: RoomKeys.Name) -> Bool {
    one.room == other.room ? one.session < other.session : one.room < other.room
  }

  /// All sessions of the store were scanned.
  package mutating func endScan() {
    needsScan = refill.endScan()
    unstored.hasState = true
  }

  /// The server has lost keys that it had: all go there once more, at most once an hour.
  package mutating func refill(at now: Int64) {
    guard refill.begin(at: now, amidScan: needsScan) else { return }
    needsScan = true
    unstored.hasState = true
  }

  /// A key came from this version of the backup: it need not be uploaded.
  package mutating func noteDownload(_ key: RoomKey) {
    unstored.marks[key.name] = BackupMark(version: version, firstIndex: key.session.firstIndex, isVerified: false)
  }

  /// The key of a session that a backup keeps: the verified one, or else one of its owner, or else the one that reads most.
  static func best(_ keys: [RoomKey], isVerified: (RoomKey) -> Bool) -> RoomKey? {
    func rank(_ key: RoomKey) -> Int { key.isClaimed ? 0 : isVerified(key) ? 2 : 1 }
    return keys.ordered { one, other in
      let (rank, otherRank) = (rank(one), rank(other))
      return rank == otherRank ? one.session.firstIndex < other.session.firstIndex : rank > otherRank
    }.first
  }

  // MARK: Uploads

  /// Returns the sessions of the next upload, whose keys are loaded then; empty if it is not time, or if one is under way.
  package func nextNames(at now: Int64) -> [RoomKeys.Name] {
    guard stop == nil, uploading.isEmpty, !queue.isEmpty else { return [] }
    let isDue = queue.count >= Self.uploadSessions || !(0..<Self.pauseMilliseconds).contains(now - lastAdded)
    return isDue ? Array(queue.prefix(Self.uploadSessions)) : []
  }

  /// Returns when the next upload is due, if sessions wait; milliseconds since 1970.
  package func nextUploadTime() -> Int64? {
    stop == nil && uploading.isEmpty && !queue.isEmpty ? lastAdded + Self.pauseMilliseconds : nil
  }

  /// Encrypts the keys of sessions for an upload.
  ///
  /// - Parameters:
  ///   - names: of `nextNames`.
  ///   - keys: returns those of a session. A session without any is not waited for again.
  ///   - isVerified: whether the key is proven to be of a verified device.
  package mutating func upload(
    _ names: [RoomKeys.Name], keys: (RoomKeys.Name) -> [RoomKey], isVerified: (RoomKey) -> Bool, random: inout SecretSource
  ) -> BackupUpload? {
    var sessions: [BackupUpload.Session] = []
    for name in names where queued.remove(name) != nil {
      unstored.queue.insert(name)
      guard let key = Self.best(keys(name), isVerified: isVerified),
        let session = BackupUpload.Session(key, isVerified: isVerified(key), to: self.key, random: &random)
      else { continue }
      sessions.append(session)
      uploading.insert(name)
    }
    queue.removeAll { !queued.contains($0) }
    return sessions.isEmpty ? nil : BackupUpload(version: version, sessions: sessions)
  }

  /// The server has taken an upload.
  ///
  /// - Parameter answer: its answer, with etag and count.
  /// - Returns: false if the server has lost keys that it had.
  package mutating func uploaded(_ upload: BackupUpload, _ answer: JSON) -> Bool {
    for session in upload.sessions {
      unstored.marks[session.name] = BackupMark(
        version: version, firstIndex: session.firstIndex, isVerified: session.isVerified)
      unstored.queue.insert(session.name)
    }
    uploading = []
    return note(etag: answer.text("etag"), count: max(0, Int(clamping: answer.integer("count") ?? Int64(count))))
  }

  /// There was no answer. The sessions are uploaded again.
  package mutating func uploadFailed(_ upload: BackupUpload) {
    uploading = []
    for session in upload.sessions.reversed() where queued.insert(session.name).inserted { queue.insert(session.name, at: 0) }
  }

  // MARK: Store

  /// Returns what the store does not have yet. It has it from then on.
  mutating func writes(_ names: RecordNames) -> [RecordChange] {
    var writes: [RecordChange] = []
    if unstored.hasState { writes.append(.put(EncryptionRecord(key: RecordNames.backup, value: record))) }
    for name in unstored.queue {
      if queued.contains(name) || uploading.contains(name) {
        writes.append(.put(EncryptionRecord(key: names.waiting(name), value: Self.record(of: name))))
      } else {
        writes.append(.delete(names.waiting(name)))
      }
    }
    for (name, mark) in unstored.marks { writes.append(.put(EncryptionRecord(key: names.mark(of: name), value: mark.record))) }
    unstored = Unstored()
    unstored.hasState = false
    return writes
  }

  /// The user gives up the backup: what waits is forgotten.
  func removal(_ names: RecordNames) -> [RecordChange] {
    [.delete(RecordNames.backup)] + queued.union(uploading).union(unstored.queue).map { .delete(names.waiting($0)) }
  }

  private var record: [UInt8] {
    JSONWriter.record { writer in
      writer.member("version", version)
      writer.member("key", base64: key.bytes)
      if let pair { writer.member("private", base64: pair.secret.exposed()) }
      if let etag { writer.member("etag", etag) }
      writer.member("count", count)
      if let stop { writer.member("stop", stop == .deleted ? "deleted" as ByteString : "replaced") }
      writer.member("scan", needsScan)
      if refill.isWanted { writer.member("refill", true) }
    }
  }

  private static func record(of name: RoomKeys.Name) -> [UInt8] {
    JSONWriter.record { writer in
      writer.member("room", name.room)
      writer.member("session", name.session)
    }
  }

  init(record bytes: [UInt8]) throws(RecordRefusal) {
    let json = try JSON.record(bytes)
    guard let version = json.text("version") else { throw .unreadable }
    self.version = version
    key = try json.identityKey("key")
    if json["private"] != nil {
      guard let pair = Curve25519KeyPair(Secret(try json.bytes("private"))), pair.key == key else { throw .unreadable }
      self.pair = pair
    }
    etag = json.text("etag")
    count = max(0, Int(clamping: try json.number("count")))
    if let stop = json.text("stop") { self.stop = stop == "deleted" ? .deleted : .replaced }
    needsScan = try json.flag("scan")
    refill = BackupRefill(isUnderWay: json.bool("refill") ?? false)
    unstored.hasState = false
  }

  /// A session that waited when the store was written.
  mutating func restore(waiting bytes: [UInt8]) throws(RecordRefusal) {
    let json = try JSON.record(bytes)
    guard let session = json.text("session") else { throw .unreadable }
    let name = RoomKeys.Name(try json.identifier("room"), session)
    if queued.insert(name).inserted { queue.append(name) }
  }
}

extension RecordNames {
  static let backup: ByteString = "e/backup"
  /// Sessions that wait for the backup.
  static let waiting: ByteString = "e/bwait/"

  func waiting(_ name: RoomKeys.Name) -> ByteString {
    named(Self.waiting, ByteString(name.room.string + " " + name.session.string))
  }

  /// It lies beside the session's keys, and comes when they are loaded.
  func mark(of name: RoomKeys.Name) -> ByteString { ByteString(keys(of: name).string + "backup") }
}
