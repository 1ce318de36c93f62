/// A moment of the monotonic clock, in microseconds. The router is told it and never asks.
package struct MediaTime: Sendable, Hashable, Comparable {
  package var microseconds: Int64

  package init(microseconds: Int64) { self.microseconds = microseconds }

  package static func < (a: MediaTime, b: MediaTime) -> Bool { a.microseconds < b.microseconds }

  static func + (time: MediaTime, interval: Interval) -> MediaTime {
    MediaTime(microseconds: time.microseconds + interval.microseconds)
  }

  static func - (later: MediaTime, earlier: MediaTime) -> Interval {
    Interval(microseconds: later.microseconds - earlier.microseconds)
  }

  /// In ticks of a clock; exact, and without overflow for as long as a machine runs.
  func ticks(_ rate: Int64) -> Int64 {
    let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return seconds &* rate &+ rest * rate / 1_000_000
  }

  /// What lies between two moments.
  package struct Interval: Sendable, Hashable, Comparable {
    package var microseconds: Int64

    package static func milliseconds(_ count: Int64) -> Interval { Interval(microseconds: count * 1000) }
    package static func seconds(_ count: Int64) -> Interval { Interval(microseconds: count * 1_000_000) }

    var milliseconds: Int64 { microseconds / 1000 }
    var seconds: Double { Double(microseconds) / 1_000_000 }

    package static func < (a: Interval, b: Interval) -> Bool { a.microseconds < b.microseconds }
    static func * (interval: Interval, factor: Int64) -> Interval {
      Interval(microseconds: interval.microseconds * factor)
    }
  }
}
