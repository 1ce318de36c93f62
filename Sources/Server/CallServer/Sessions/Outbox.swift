/// What is said to one connection: numbered, and kept until it is acknowledged, so that a new socket can repeat it.
struct Outbox: Sendable {
  /// The number of the last message.
  private(set) var last: Int64 = 0
  /// Messages as objects without their number; the number of the first is `acknowledged + 1`.
  private var kept: [[UInt8]] = []
  private var keptBytes = 0

  private var acknowledged: Int64 { last - Int64(kept.count) }

  /// More is owed than is kept for anybody.
  var isOverfull: Bool {
    kept.count > CallLimits.unacknowledgedMessages || keptBytes > CallLimits.unacknowledgedBytes
  }

  /// Half of that is owed: others hand nothing more on to it, so that the rest is for what everyone is told.
  var isHalfFull: Bool {
    2 * kept.count > CallLimits.unacknowledgedMessages || 2 * keptBytes > CallLimits.unacknowledgedBytes
  }

  /// Keeps a message, and gives it back with its number.
  mutating func append(_ message: [UInt8]) -> [UInt8] {
    last += 1
    kept.append(message)
    keptBytes += message.count
    return Self.numbered(message, last)
  }

  /// Forgets what has arrived. Numbers that were not given out, or are known already, change nothing.
  mutating func acknowledge(_ number: Int64) {
    guard number > acknowledged, number <= last else { return }
    let count = Int(number - acknowledged)
    keptBytes -= kept[..<count].reduce(0) { $0 + $1.count }
    kept.removeFirst(count)
  }

  /// What came after a number, to be said again; nil for a number that cannot be.
  func messages(after number: Int64) -> [[UInt8]]? {
    guard number >= acknowledged, number <= last else { return nil }
    let first = Int(number - acknowledged)
    return kept[first...].enumerated().map { Self.numbered($1, number + 1 + Int64($0)) }
  }

  /// The number that a message was given; nil for one without.
  static func number(of message: [UInt8]) -> Int64? {
    guard message.starts(with: prefix) else { return nil }
    let digits = message[prefix.count...].prefix { (0x30...0x39).contains($0) }
    return Int64(String(decoding: digits, as: UTF8.self))
  }

  private static let prefix = Array("{\"seq\":".utf8)

  /// `{"type":…}` as `{"seq":1,"type":…}`.
  private static func numbered(_ message: [UInt8], _ number: Int64) -> [UInt8] {
    Array("{\"seq\":\(number),".utf8) + message.dropFirst()
  }
}
