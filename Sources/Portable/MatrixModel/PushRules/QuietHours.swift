import JSON

/// Hours of each day in which an account is told of nothing: its data `martlet.quiet_hours`. Documentation/Extensions.md
public struct QuietHours: Sendable, Equatable {
  private static let minutesOfDay = 1_440

  /// Minutes of the local day; over midnight where they begin later than they end.
  public let from: Int
  public let until: Int
  /// The offset of the local clock from UTC in minutes, from the device that set the hours last.
  public let offset: Int

  /// nil where nothing is between them.
  public init?(from: Int, until: Int, offset: Int) {
    let day = 0..<Self.minutesOfDay
    guard day.contains(from), day.contains(until), from != until, offset > -day.upperBound, offset < day.upperBound else {
      return nil
    }
    self.from = from
    self.until = until
    self.offset = offset
  }

  /// nil for what says none.
  public init?(_ content: JSON) {
    guard let from = content.integer("from"), let until = content.integer("to") else { return nil }
    let offset = content.integer("utc_offset") ?? 0
    self.init(from: Int(clamping: from), until: Int(clamping: until), offset: Int(clamping: offset))
  }

  /// - Parameter moment: milliseconds since 1970.
  public func contains(_ moment: Int64) -> Bool {
    // A day more, so that what is west of UTC is not before 1970.
    let minute = Int(max(moment, 0) / 60_000 % Int64(Self.minutesOfDay)) + offset + Self.minutesOfDay
    let now = minute % Self.minutesOfDay
    return from < until ? from <= now && now < until : from <= now || now < until
  }
}

extension JSON {
  /// Of an event's content: whether its sender wants nobody to be notified of it. Documentation/Extensions.md, `martlet.silent`.
  public var isSentSilently: Bool { bool("martlet.silent") ?? false }

  /// Of the account data `martlet.snooze` of a room: until when nobody is to be told of it, in milliseconds since 1970.
  public var snoozedUntil: Int64 { integer("until") ?? 0 }
}
