import JSON
import MatrixModel

/// How far somebody has read, or what has reached one of their devices, as a sync told it.
public struct ReceiptReport: Sendable, Hashable {
  public enum Kind: UInt8, Sendable {
    case read
    /// Only for receipts of the user's own.
    case readPrivately
    /// `martlet.delivered`, see Documentation/Extensions.md.
    case delivered
  }

  public let user: UserID
  public let event: EventID
  public let kind: Kind
  /// The root of the thread it is about; nil for the room.
  public let threadRoot: EventID?
}

/// Telling of what syncs bring, beyond what is kept (`Client.reportsArrivals`).
extension Client {
  /// The first sync is history.
  var isReporting: Bool { reportsArrivals && syncLoop.position.token != nil }

  mutating func report(_ prepared: PreparedRoom) {
    if !prepared.arrivals.isEmpty { notify(.arrived(prepared.id, prepared.arrivals)) }
    if !prepared.receiptReports.isEmpty { notify(.receipts(prepared.id, prepared.receiptReports)) }
    report(accountData: prepared.accountData, of: prepared.id)
    if let event = prepared.lastForeign { sendDelivered(event, in: prepared.id) }
  }

  mutating func report(accountData events: [Event], of room: RoomID?) {
    if !events.isEmpty { notify(.accountData(room, events)) }
  }
}

extension PreparedRoom {
  mutating func noteReports(_ news: RoomNews) {
    accountData = news.accountData.compactMap { Event($0) }
    for json in news.ephemeral {
      guard let event = Event(json), event.type == .receipt else { continue }
      for entry in event.content.members {
        guard let id = EventID(entry.key) else { continue }
        for kind in entry.value.members { note(kind, of: id) }
      }
    }
  }

  private mutating func note(_ member: JSON.Member, of event: EventID) {
    guard let kind = ReceiptReport.Kind(member) else { return }
    for reader in member.value.members {
      guard let user = UserID(reader.key) else { continue }
      let thread = EventID(reader.value["thread_id"])
      receiptReports.append(ReceiptReport(user: user, event: event, kind: kind, threadRoot: thread))
    }
  }
}

extension ReceiptReport.Kind {
  init?(_ member: JSON.Member) {
    if member.isKey("m.read") {
      self = .read
    } else if member.isKey("m.read.private") {
      self = .readPrivately
    } else if member.isKey("martlet.delivered") {
      self = .delivered
    } else {
      return nil
    }
  }
}

extension TimelineEvent {
  /// Whether somebody said something.
  var isMessage: Bool {
    switch kind {
    case .item(.message, _), .item(.undecryptable, _): true
    default: false
    }
  }
}

extension EventType {
  /// Spec: Client-Server API, "Voice over IP".
  static let callInvite: EventType = "m.call.invite"
  public var isOfCall: Bool { text.hasPrefix("m.call.") }
}
