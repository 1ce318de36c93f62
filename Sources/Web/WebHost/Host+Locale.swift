import Messenger

/// Local time and the reader's way to write it.
public final class LocalClock {
  /// Offsets change at most on the quarter hour; the last one asked for is nearly always asked for again.
  private var quarter: Int64 = .min
  private var offsetMilliseconds: Int64 = 0

  /// Clock times by local minute of the day, made when first needed: a label says no more than that.
  private var labels = [String?](repeating: nil, count: 1440)

  public init() {}

  /// Clock time of a moment, for example `14:05`.
  public func label(_ milliseconds: Int64) -> String {
    let minute = Int((local(milliseconds) % 86_400_000 + 86_400_000) % 86_400_000 / 60_000)
    if let known = labels[minute] { return known }
    let made = Host.clockLabel(milliseconds)
    labels[minute] = made
    return made
  }

  /// Days since 1970-01-01 of the local calendar, for a moment in milliseconds since 1970, UTC.
  public func day(_ milliseconds: Int64) -> Int {
    let local = local(milliseconds)
    return Int(clamping: local >= 0 ? local / 86_400_000 : (local + 1) / 86_400_000 - 1)
  }

  /// Milliseconds of the local calendar.
  private func local(_ milliseconds: Int64) -> Int64 {
    let asked = milliseconds / 900_000
    if asked != quarter {
      quarter = asked
      offsetMilliseconds = Int64(hostUTCOffset(Double(milliseconds))) * 60_000
    }
    return milliseconds &+ offsetMilliseconds
  }
}

extension Host {
  /// Clock time, for example `14:05`.
  public static func clockLabel(_ milliseconds: Int64) -> String { hostFormatClock(Double(milliseconds)) ?? "" }
  /// `Today`, `Yesterday`, a weekday with date, with the year where it is not this one.
  public static func dayLabel(_ milliseconds: Int64) -> String { hostFormatDay(Double(milliseconds)) ?? "" }
  /// Weekday, day, month and year, whatever day is today.
  public static func dateLabel(_ milliseconds: Int64) -> String { hostFormatDate(Double(milliseconds)) ?? "" }
  /// Full date and time, for a tooltip.
  public static func dateTimeLabel(_ milliseconds: Int64) -> String { hostFormatDateTime(Double(milliseconds)) ?? "" }
  /// As short as a list of rooms needs: clock time today, weekday this week, else the date; what is to come with its clock time.
  public static func shortLabel(_ milliseconds: Int64) -> String { hostFormatShort(Double(milliseconds)) ?? "" }
  /// A size in the reader's way, for example `1.4 MB`.
  public static func byteCountLabel(_ bytes: Int64) -> String { hostFormatByteCount(Double(bytes)) ?? "" }
  /// Month and year.
  public static func monthLabel(_ milliseconds: Int64) -> String { hostFormatMonth(Double(milliseconds)) ?? "" }

  /// Day and month, for example `30 November`.
  public static func dayOfYearLabel(_ milliseconds: Int64) -> String { hostFormatDayOfYear(Double(milliseconds)) ?? "" }

  /// When a day of the local calendar begins, in milliseconds since 1970, UTC. Days since 1970-01-01.
  public static func startOfDay(_ day: Int) -> Int64 {
    let start = Int64(day) * 86_400_000
    return start - Int64(hostUTCOffset(Double(start))) * 60_000
  }

  /// Minutes that the local clock is ahead of UTC at a moment, in milliseconds since 1970.
  public static func utcOffset(_ milliseconds: Int64) -> Int { Int(hostUTCOffset(Double(milliseconds))) }

  /// Which form of words goes with a number: 0 for the first of those that the reader's language has, in the order zero, one,
  /// two, few, many, other.
  public static func pluralForm(of count: Int) -> Int { Int(hostPluralForm(Double(count))) }

  /// Options of a timeline that speak the reader's language about time.
  public static func timelineOptions() -> TimelineOptions {
    let clock = LocalClock()
    let options = TimelineOptions()
    options.localDay = { clock.day($0) }
    options.dayLabel = { dayLabel($0) }
    options.clockLabel = { clock.label($0) }
    options.after = { after(milliseconds: Double($0), $1) }
    return options
  }
}
