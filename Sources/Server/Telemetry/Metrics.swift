import Synchronization

/// The instruments of the process and their text for Prometheus.
///
///     private let requests = Metrics.process.counter(
///       "martlet_http_requests_total", "Requests answered", labels: ["endpoint", "status"])
///     requests.labelled("sync", "200").add()
///
/// Asking again for a name gives the instrument that there is. Each instrument has at most `seriesLimit` label combinations;
/// further ones are counted together under the value `other`, so no client can make memory grow. Label values never hold
/// identifiers of users, rooms or devices.
package final class Metrics: Sendable {
  /// The registry that `/metrics` shows.
  package static let process = Metrics()

  /// The most label combinations of one instrument.
  package static let seriesLimit = 256

  /// Text format 0.0.4 of Prometheus, which `exposition()` writes.
  package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  private let families = Mutex<[String: any MetricFamily]>([:])

  package init() {}

  /// A number that only grows; its name ends in `_total`.
  package func counter(_ name: StaticString, _ help: StaticString, labels: [StaticString] = []) -> CounterFamily {
    family(name) { Family(name: name, help: help, kind: "counter", labels: labels) { Counter() } }
  }

  /// A number that goes up and down.
  package func gauge(_ name: StaticString, _ help: StaticString, labels: [StaticString] = []) -> GaugeFamily {
    family(name) { Family(name: name, help: help, kind: "gauge", labels: labels) { Gauge() } }
  }

  /// A number that is measured whenever the text is made. `measure` must be quick and not log. A second registration of a
  /// name is ignored.
  package func measured(
    _ name: StaticString, _ help: StaticString, isCounter: Bool = false, _ measure: @escaping @Sendable () -> Double
  ) {
    _ = family(name) {
      Family(name: name, help: help, kind: isCounter ? "counter" : "gauge", labels: []) { Measurement(measure) }
    }
  }

  /// A distribution. `bounds` are the upper bounds of the buckets, ascending; the default suits seconds of a request.
  package func histogram(
    _ name: StaticString, _ help: StaticString, labels: [StaticString] = [], bounds: [Double] = Histogram.secondsBounds
  ) -> HistogramFamily {
    precondition(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "bounds ascend")
    return family(name) {
      Family(name: name, help: help, kind: "histogram", labels: labels) { Histogram(bounds: bounds) }
    }
  }

  /// All instruments in the order of their names. Costs time and memory in proportion to the series.
  package func exposition() -> [UInt8] {
    let ordered = families.withLock { $0.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) } }
    var text = ""
    for (_, family) in ordered { family.append(to: &text) }
    return Array(text.utf8)
  }

  /// A name stands for one instrument of one kind: anything else is a mistake in the program, found by the first test.
  private func family<I: Instrument>(_ name: StaticString, make: () -> Family<I>) -> Family<I> {
    let made = make()
    return families.withLock { families in
      guard let known = families[name.description] else {
        families[name.description] = made
        return made
      }
      guard let same = known as? Family<I>, same.labels == made.labels else {
        preconditionFailure("the metric \(name) exists with another kind or other labels")
      }
      return same
    }
  }
}
