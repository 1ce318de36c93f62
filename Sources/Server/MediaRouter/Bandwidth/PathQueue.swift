/// How long packets wait on a path, by how much longer they take than the fastest of late.
///
/// The least delay of a short window is looked at: what jitter does to single packets hardly shows in it, a queue does. Of few packets, as sound
/// alone has them, it shows more: where each is late by chance up to a limit, the least of n is so by 1/(n + 1) of that on average.
struct PathQueue {
  enum Trend { case empty, steady, filling }

  static let windowMicroseconds: Int64 = 80_000
  /// A queue that stands for longer than this passes for the path itself: other senders keep it, whatever we do.
  static let memoryMicroseconds: Int64 = 10_000_000
  /// Less is no queue, however quiet the path is.
  static let leastThreshold: Int64 = 40_000
  static let highestThreshold: Int64 = 300_000
  /// So many times what chance makes of jitter on average is no chance any more.
  private static let rare: Int64 = 6

  private(set) var trend = Trend.empty
  /// In microseconds, of the last window.
  private(set) var delay: Int64 = 0
  private var windowEnd: Int64?
  private var least = Int64.max
  /// Of the window: packets, and the sum of their delays.
  private var count: Int64 = 0
  private var sum: Int64 = 0
  private var leasts: [(end: Int64, delay: Int64)] = []
  /// How much windows differ from one to the next where nothing fills.
  private var noise: Int64 = 0
  /// How much longer than the fastest of a window its packets take on average; nil before that is known.
  private var jitter: Int64?
  private var grown = 0

  /// - Parameters: in microseconds. The two clocks need not agree, nor is the order of arrivals that of the calls.
  mutating func add(sent: Int64, arrived: Int64) {
    let end = windowEnd ?? arrived + Self.windowMicroseconds
    windowEnd = end
    if arrived >= end {
      close(end)
      windowEnd = arrived + Self.windowMicroseconds
    }
    least = min(least, arrived - sent)
    // A clock that jumps to and fro for long enough has any sum.
    (count, sum) = (count + 1, sum &+ (arrived - sent))
  }

  private mutating func close(_ end: Int64) {
    leasts.removeAll { $0.end < end - Self.memoryMicroseconds }
    leasts.append((end, least))
    let base = leasts.reduce(least) { min($0, $1.delay) }
    let before = delay
    delay = least - base
    let late = max(0, min(sum / count - least, Self.highestThreshold))
    let jitter = self.jitter.map { $0 + (late - $0) / 8 } ?? late
    self.jitter = jitter
    let chance = 2 * jitter / (count + 1)
    let threshold = min(Self.highestThreshold, max(Self.leastThreshold, 3 * noise, Self.rare * chance))
    (least, count, sum) = (.max, 0, 0)
    noise += (min(abs(delay - before), Self.highestThreshold) - noise) / 32
    // It must have grown twice: a large picture passes.
    grown = delay > threshold && delay >= before ? grown + 1 : 0
    trend = grown >= 2 ? .filling : delay < threshold / 2 ? .empty : .steady
  }
}
