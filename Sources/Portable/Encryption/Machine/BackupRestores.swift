import MatrixModel

/// Sessions that are fetched from the backup: single ones that events wait for, and all.
struct BackupRestores: Sendable {
  static let openRequests = 4
  /// A session that was not there is asked for again after so long.
  static let pauseMilliseconds: Int64 = 10 * 60 * 1_000
  static let askedLimit = 2_000

  private var wanted: [RoomKeys.Name] = []
  private var asked: [RoomKeys.Name: Int64] = [:]
  var wantsAll = false
  /// What is taken over in slices.
  var download: BackupDownload?

  mutating func want(_ name: RoomKeys.Name, at now: Int64) {
    if let last = asked[name], (0..<Self.pauseMilliseconds).contains(now - last) { return }
    if asked.count >= Self.askedLimit { asked = asked.filter { now - $1 < Self.pauseMilliseconds } }
    guard asked.count < Self.askedLimit else { return }
    asked[name] = now
    wanted.append(name)
  }

  /// Whether the backup may still bring the session.
  func isBusy(with name: RoomKeys.Name) -> Bool { wantsAll || download != nil || wanted.contains(name) }

  mutating func next() -> RoomKeys.Name? { wanted.isEmpty ? nil : wanted.removeFirst() }

  mutating func failed(_ name: RoomKeys.Name) { wanted.append(name) }

  /// Nothing of an earlier version is asked for any more.
  mutating func reset() { self = BackupRestores() }
}
