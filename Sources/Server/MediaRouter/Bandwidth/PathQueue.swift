/// How long packets wait on a path, by how much longer they take than the fastest of late.
///
/// The least delay of a short window is looked at: what jitter does to single packets does not show in it, a queue does.
struct PathQueue {
  enum Trend { case empty, steady, filling }

  static let windowMicroseconds: Int64 = 80_000
  /// A queue that stands for longer than this passes for the path itself: other senders keep it, whatever we do.
  static let memoryMicroseconds: Int64 = 10_000_000
  /// Less is no queue, however quiet the path is.
  static let leastThreshold: Int64 = 40_000
  static let highestThreshold: Int64 = 300_000

  private(set) var trend = Trend.empty
  /// In microseconds, of the last window.
  private(set) var delay: Int64 = 0
  private var windowEnd: Int64?
  private var least = Int64.max
  private var leasts: [(end: Int64, delay: Int64)] = []
  /// How much windows differ from one to the next where nothing fills.
  private var noise: Int64 = 0
  private var grown = 0

  /// - Parameters: in microseconds. The two clocks need not agree, nor is the order of arrivals that of the calls.
  mutating func add(sent: Int64, arrived: Int64) {
    guard let end = windowEnd else {
      windowEnd = arrived + Self.windowMicroseconds
      least = arrived - sent
      return
    }
    if arrived >= end {
      close(end)
      windowEnd = arrived + Self.windowMicroseconds
    }
    least = min(least, arrived - sent)
  }

  private mutating func close(_ end: Int64) {
    leasts.removeAll { $0.end < end - Self.memoryMicroseconds }
    leasts.append((end, least))
    let base = leasts.reduce(least) { min($0, $1.delay) }
    let before = delay
    delay = least - base
    least = .max
    let threshold = min(Self.highestThreshold, max(Self.leastThreshold, 3 * noise))
    noise += (min(abs(delay - before), Self.highestThreshold) - noise) / 32
    // It must have grown twice: a large picture passes.
    grown = delay > threshold && delay >= before ? grown + 1 : 0
    trend = grown >= 2 ? .filling : delay < threshold / 2 ? .empty : .steady
  }
}
