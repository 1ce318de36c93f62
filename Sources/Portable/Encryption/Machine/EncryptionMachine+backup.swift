import JSON
import MatrixModel
import Olm

/// The backup of room keys: what goes there, and what comes from it.
extension EncryptionMachine {

  // MARK: Which backup

  mutating func use(_ new: KeyBackup) {
    var new = new
    if let backup {
      if backup.version == new.version, backup.key == new.key, backup.stop == nil {
        if let pair = new.pair { _ = self.backup?.take(pair.secret) }
        return
      }
      new.inherit(backup)
    }
    restores.reset()
    (unsentUpload, isScanning) = (nil, false)
    backup = new
  }

  mutating func forgetBackup() -> EncryptionOutcome {
    unstored.requests += backup?.removal(names) ?? []
    backup = nil
    restores.reset()
    (unsentUpload, isScanning) = (nil, false)
    return .done
  }

  /// Takes keys over, whose records are loaded.
  ///
  /// - Returns: the sessions that read more than before.
  mutating func keep(_ keys: [RoomKey], fromBackup: Bool, at now: Int64) -> [RoomKeys.Name] {
    var changed: [RoomKeys.Name] = []
    for key in keys where roomKeys.add(key) {
      changed.append(key.name)
      if !fromBackup { backup?.add(key.name, at: now) }
    }
    if fromBackup { for key in keys { backup?.noteDownload(key) } }
    closeRequests(for: changed)
    return changed
  }

  // MARK: Uploads

  func backupWork(at now: Int64) -> Work? {
    guard let backup, backup.stop == nil, unsentUpload == nil, !wantsBackupCheck else { return nil }
    let names = backup.nextNames(at: now)
    if !names.isEmpty { return .backUp(names) }
    return backup.needsScan && !isScanning ? .scan(0, of: backup.version) : nil
  }

  mutating func backUp(_ names: [RoomKeys.Name]) {
    let (known, trust) = (roomKeys, trust)
    unsentUpload = backup?.upload(
      names, keys: { known.keys(of: $0) }, isVerified: { !$0.isClaimed && trust.trust(in: $0.origin) == .verified },
      random: &random)
  }

  /// - Parameter records: of sessions.
  mutating func scan(_ records: [EncryptionRecord]) {
    var sessions: [ByteString: [EncryptionRecord]] = [:]
    for record in records { sessions[RecordNames.prefix(of: record.key), default: []].append(record) }
    for key in sessions.keys.ordered() {
      guard let records = sessions[key], let entry = try? RoomKeys.Entry(records) else { continue }
      var mark: BackupMark?
      for record in records { mark = mark ?? ((try? BackupMark(record: record.value)) ?? nil) }
      backup?.scan(entry.keys, mark)
    }
  }

  mutating func endScan(of part: UInt8, _ version: KeyBackup.Version) {
    // Another backup is looked at from the beginning.
    guard version == backup?.version else { return }
    isScanning = part < Self.keySlices.upperBound
    if isScanning { queueLast(.scan(part + 1, of: version)) } else { backup?.endScan() }
  }

  mutating func uploaded(_ upload: BackupUpload, _ answer: JSON, at now: Int64) {
    guard upload.version == backup?.version, let isWhole = backup?.uploaded(upload, answer), !isWhole else { return }
    backup?.refill(at: now)
  }

  mutating func uploadFailed(_ upload: BackupUpload, _ failure: RequestFailure) {
    guard upload.version == backup?.version else { return }
    if failure == .unreachable { return unsentUpload = upload }
    backup?.uploadFailed(upload)
    wantsBackupCheck = true
  }

  /// - Parameter answer: nil if the server has no backup.
  mutating func checked(_ answer: JSON?) {
    // It does not take uploads to this version, whatever it says.
    backup?.halt(answer == nil ? .deleted : .replaced)
  }

  // MARK: Downloads

  mutating func restored(_ name: RoomKeys.Name, _ answer: JSON, at now: Int64) {
    guard let pair = backup?.pair else { return }
    var download = BackupDownload(answer, of: .session(name), with: pair)
    readLate(keep(download.next(), fromBackup: true, at: now), at: now)
  }

  mutating func restoredAll(_ answer: JSON) {
    guard let pair = backup?.pair else { return }
    let download = BackupDownload(answer, of: .all, with: pair)
    guard download.count > 0 else { return }
    restores.download = download
    queueLast(.restore)
  }

  /// The next slice.
  mutating func restore() {
    guard var download = restores.download else { return }
    let keys = download.next()
    restores.download = download
    // Nothing has changed yet. What came before is written while the records of these are loaded.
    queueFirst(.keep(keys))
  }

  /// Does what the next input will need, while records are loaded.
  mutating func workAhead() {
    if !awaited.isEmpty { restores.download?.workAhead() }
  }

  mutating func keepRestored(_ keys: [RoomKey], at now: Int64) {
    readLate(keep(keys, fromBackup: true, at: now), at: now)
    if let download = restores.download, !download.isDone { queueLast(.restore) } else { restores.download = nil }
    if restores.download == nil { reviewWaiting() }
  }

  // MARK: Requests

  mutating func nextBackupAsks() -> [(ask: Ask, purpose: OpenRequests.Purpose)] {
    var asks: [(ask: Ask, purpose: OpenRequests.Purpose)] = []
    if let upload = unsentUpload {
      unsentUpload = nil
      asks.append((Ask(.putRoomKeys, version: upload.version, body: upload.body), .backUp(upload)))
    }
    if wantsBackupCheck {
      wantsBackupCheck = false
      asks.append((Ask(.getRoomKeysVersionCurrent), .checkBackup))
    }
    guard let version = backup?.version, backup?.pair != nil else { return asks }
    if restores.wantsAll {
      restores.wantsAll = false
      asks.append((Ask(.getRoomKeys, version: version), .restoreAll))
    }
    var open = requests.restoring
    while open < BackupRestores.openRequests, let name = restores.next() {
      open += 1
      asks.append((Ask(.getRoomKeyBySessionId, [name.room.text, name.session], version: version), .restore(name)))
    }
    return asks
  }
}
