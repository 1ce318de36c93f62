import Synchronization

package typealias CounterFamily = Family<Counter>
package typealias GaugeFamily = Family<Gauge>
package typealias HistogramFamily = Family<Histogram>

/// What one label combination of a metric holds.
package protocol Instrument: AnyObject, Sendable {
  /// Adds this series' lines: `name{labels} value`.
  func append(name: String, labels: String, to text: inout String)
}

protocol MetricFamily: Sendable {
  func append(to text: inout String)
}

/// One metric with all its series.
package final class Family<I: Instrument>: MetricFamily, Sendable {
  let name: String
  let help: String
  let kind: String
  let labels: [String]
  private let make: @Sendable () -> I
  private let series: Mutex<[[String]: I]>

  init(
    name: StaticString, help: StaticString, kind: String, labels: [StaticString], make: @escaping @Sendable () -> I
  ) {
    self.name = name.description
    self.help = help.description
    self.kind = kind
    self.labels = labels.map(\.description)
    self.make = make
    series = Mutex(labels.isEmpty ? [[]: make()] : [:])
  }

  /// The series of these label values, one for each label in order. Keep the result where the values do not change: looking
  /// it up takes a lock. After `Metrics.seriesLimit` combinations, the one whose values all are `other`.
  package func labelled(_ values: String...) -> I {
    precondition(values.count == labels.count, "\(name) has the labels \(labels)")
    return series.withLock { series in
      if let known = series[values] { return known }
      let isFull = series.count >= Metrics.seriesLimit
      let key = isFull ? labels.map { _ in "other" } : values
      if let known = series[key] { return known }
      let made = make()
      series[key] = made
      return made
    }
  }

  func append(to text: inout String) {
    let all = series.withLock { Array($0) }
    guard !all.isEmpty else { return }
    text += "# HELP \(name) \(help.escaped(quote: false))\n# TYPE \(name) \(kind)\n"
    for (values, instrument) in all.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      let pairs = zip(labels, values).map { "\($0)=\"\($1.escaped(quote: true))\"" }
      instrument.append(name: name, labels: pairs.joined(separator: ","), to: &text)
    }
  }
}

extension Family where I == Counter {
  /// The only series of a counter without labels.
  package func add(_ count: Int = 1) { labelled().add(count) }
}

extension Family where I == Gauge {
  /// The only series of a gauge without labels.
  package func set(_ value: Int) { labelled().set(value) }
  package func add(_ change: Int) { labelled().add(change) }
}

extension Family where I == Histogram {
  /// The only series of a histogram without labels.
  package func observe(_ value: Double) { labelled().observe(value) }
  package func observe(_ duration: Duration) { labelled().observe(duration) }
}

extension String {
  /// Text format 0.0.4: backslash and line feed are escaped, and in label values the double quote.
  fileprivate func escaped(quote: Bool) -> String {
    var result: [UInt8] = []
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: "\\"): result += Array(#"\\"#.utf8)
      case UInt8(ascii: "\n"): result += Array(#"\n"#.utf8)
      case UInt8(ascii: "\"") where quote: result += Array(#"\""#.utf8)
      default: result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
