/// Whether a scan of the store uploads also what is marked as backed up, because the server has lost some of it.
struct BackupRefill: Sendable {
  /// A server that loses keys all the time gets them so often.
  static let pauseMilliseconds: Int64 = 60 * 60 * 1_000

  private(set) var isUnderWay: Bool
  /// Keys were lost amid another scan.
  private var isNext = false
  private var last: Int64?

  init(isUnderWay: Bool = false) { self.isUnderWay = isUnderWay }

  var isWanted: Bool { isUnderWay || isNext }

  /// - Returns: false if it is too early.
  mutating func begin(at now: Int64, amidScan: Bool) -> Bool {
    if let last, (0..<Self.pauseMilliseconds).contains(now - last) { return false }
    last = now
    if amidScan { isNext = true } else { isUnderWay = true }
    return true
  }

  /// - Returns: whether another scan follows.
  mutating func endScan() -> Bool {
    (isUnderWay, isNext) = (isNext, false)
    return isUnderWay
  }
}
