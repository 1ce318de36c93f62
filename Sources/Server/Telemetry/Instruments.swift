import Synchronization

/// Counts what happened since the start.
package final class Counter: Instrument {
  private let count = Atomic<UInt64>(0)

  /// Adds `count`, which is not negative.
  package func add(_ count: Int = 1) { self.count.wrappingAdd(UInt64(count), ordering: .relaxed) }

  package var value: UInt64 { count.load(ordering: .relaxed) }

  package func append(name: String, labels: String, to text: inout String) {
    text.appendSample(name, labels, value.description)
  }
}

/// Holds what is now: connections, waiting requests.
package final class Gauge: Instrument {
  private let current = Atomic<Int>(0)

  package func set(_ value: Int) { current.store(value, ordering: .relaxed) }
  package func add(_ change: Int) { current.wrappingAdd(change, ordering: .relaxed) }

  package var value: Int { current.load(ordering: .relaxed) }

  package func append(name: String, labels: String, to text: inout String) {
    text.appendSample(name, labels, value.description)
  }
}

/// Asks a closure whenever it is read.
final class Measurement: Instrument {
  private let measure: @Sendable () -> Double

  init(_ measure: @escaping @Sendable () -> Double) { self.measure = measure }

  func append(name: String, labels: String, to text: inout String) {
    text.appendSample(name, labels, measure().prometheus)
  }
}

/// Counts values by size.
package final class Histogram: Instrument {
  /// From half a millisecond to the longest `/sync` anyone asks for, in seconds.
  package static let secondsBounds = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30
  ]

  private struct Counts {
    /// One for each bound and one for what is above all of them.
    var buckets: [UInt64]
    var sum = 0.0
  }

  private let bounds: [Double]
  private let counts: Mutex<Counts>

  init(bounds: [Double]) {
    self.bounds = bounds
    counts = Mutex(Counts(buckets: Array(repeating: 0, count: bounds.count + 1)))
  }

  package func observe(_ value: Double) {
    let index = bounds.firstIndex { value <= $0 } ?? bounds.count
    counts.withLock {
      $0.buckets[index] &+= 1
      $0.sum += value
    }
  }

  /// Observes a duration in seconds.
  package func observe(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    observe(Double(seconds) + Double(attoseconds) * 1e-18)
  }

  package func append(name: String, labels: String, to text: inout String) {
    let counts = counts.withLock { $0 }
    var total: UInt64 = 0
    for (index, count) in counts.buckets.enumerated() {
      total &+= count
      let bound = index < bounds.count ? bounds[index].prometheus : "+Inf"
      text.appendSample("\(name)_bucket", (labels.isEmpty ? "" : labels + ",") + "le=\"\(bound)\"", total.description)
    }
    text.appendSample("\(name)_sum", labels, counts.sum.prometheus)
    text.appendSample("\(name)_count", labels, total.description)
  }
}

extension String {
  fileprivate mutating func appendSample(_ name: String, _ labels: String, _ value: String) {
    self += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
  }
}

extension Double {
  /// As text format 0.0.4 writes numbers: whole ones without a fraction.
  fileprivate var prometheus: String {
    if isNaN { return "NaN" }
    if isInfinite { return self > 0 ? "+Inf" : "-Inf" }
    if let whole = Int64(exactly: self) { return whole.description }
    return description
  }
}
