import Messenger
import PageWidgets
import WebHost

/// The user's status message and its end. The browser keeps it.
struct OwnStatus {
  let text: String
  /// Milliseconds since 1970; 0 for always.
  let until: Int64

  static var kept: OwnStatus {
    OwnStatus(
      text: Host.setting(Settings.status) ?? "", until: Host.setting(Settings.statusUntil).flatMap { Int64($0) } ?? 0)
  }

  var isEmpty: Bool { text.utf8.isEmpty }

  /// The text, with its end if it has one.
  var words: String { until > 0 ? Strings[.statusUntil, text, Host.shortLabel(until)] : text }

  func keep() {
    Host.setSetting(Settings.status, isEmpty ? nil : text)
    Host.setSetting(Settings.statusUntil, isEmpty || until == 0 ? nil : "\(until)")
  }

  /// Its time is over.
  var isOver: Bool { until > 0 && until <= Host.wallClockMilliseconds() }

  /// Looks again when its time is over.
  func follow<D: DOM>(_ app: App<D>) {
    let rest = Double(until - Host.wallClockMilliseconds())
    // Nobody needs a page for weeks, and browsers have no timers for longer.
    guard until > 0, rest < 2_000_000_000 else { return }
    Host.after(milliseconds: max(rest, 0) + 1) { app.tellPresence() }
  }
}

/// After what time a status is taken back.
enum StatusEnd: String, CaseIterable {
  case never = ""
  case hour, day, week

  var words: Strings.Key {
    switch self {
    case .never: .statusStays
    case .hour: .statusHour
    case .day: .statusDay
    case .week: .statusWeek
    }
  }

  /// In milliseconds since 1970, from now on; 0 for never.
  var moment: Int64 {
    let now = Host.wallClockMilliseconds()
    return switch self {
    case .never: 0
    case .hour: now + 3_600_000
    case .day: Host.startOfDay(LocalClock().day(now) + 1)
    case .week: now + 604_800_000
    }
  }
}
