public import ClientCore
import Encryption

/// What became of encrypted messages since the client began. It is for this user, for instance in a report that they send: the client tells nobody.
public struct EncryptionDiagnostics: Equatable, Sendable {
  /// Events that cannot be read now.
  public struct Unread: Equatable, Sendable {
    public fileprivate(set) var count = 0
    /// How long the first of them has been waiting.
    public fileprivate(set) var longestWait = Duration.zero
  }

  /// Events that could not be read when they came, and were read within that time, or later.
  public struct Late: Equatable, Sendable {
    public let withinSecond: Int
    public let withinTenSeconds: Int
    public let withinMinute: Int
    public let later: Int
    public let longest: Duration

    public var count: Int { withinSecond + withinTenSeconds + withinMinute + later }
  }

  /// By reason. At most 2,000 sessions with 200 events each are counted.
  public let unread: [UndecryptableReason: Unread]
  /// The number of events that could not be read when they came.
  public let everUnread: Int
  public let late: Late
  /// Sessions with devices that were begun anew, because a message in them could not be opened.
  public let repairedSessions: Int
  /// Devices that were told why they do not get a room's key; each counts once a key and reason.
  public let refusedDevices: Int
  /// All of it, and how the device and the backup are, for a report: lines in English that have no secrets and name neither rooms nor people.
  public let english: String

  /// - Parameter now: milliseconds since 1970.
  init(_ host: EncryptionHost, at now: Int64) {
    var unread: [UndecryptableReason: Unread] = [:]
    for (reason, found) in host.unreadEvents {
      let known = unread[UndecryptableReason(named: reason.name), default: Unread()]
      unread[UndecryptableReason(named: reason.name)] = Unread(
        count: known.count + found.count, longestWait: max(known.longestWait, .milliseconds(max(0, now - found.since))))
    }
    let figures = host.figures
    self.unread = unread
    everUnread = figures.unread
    late = Late(
      withinSecond: figures.late.withinSecond, withinTenSeconds: figures.late.withinTenSeconds,
      withinMinute: figures.late.withinMinute, later: figures.late.later,
      longest: .milliseconds(figures.late.longestMilliseconds))
    repairedSessions = figures.repairedSessions
    refusedDevices = figures.refusedDevices
    english = host.diagnosis(at: now)
  }
}
