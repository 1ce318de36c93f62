import WebHost

/// How long one talks already, such as `3:07` or `1:03:07`.
enum CallClock {
  /// - Parameter start: by `monotonicMilliseconds`; nil is now.
  static func text(since start: Double?) -> String {
    let now = Host.monotonicMilliseconds()
    return text(seconds: Int((now - (start ?? now)) / 1000))
  }

  static func text(seconds: Int) -> String {
    let two = { (number: Int) in (number < 10 ? "0" : "") + "\(number)" }
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    return (hours > 0 ? "\(hours):" + two(minutes) : "\(minutes)") + ":" + two(seconds % 60)
  }
}
