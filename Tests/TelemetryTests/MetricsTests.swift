import Testing

@testable import Telemetry

@Suite("Metrics")
struct MetricsTests {
  private func text(_ metrics: Metrics) -> String { String(decoding: metrics.exposition(), as: UTF8.self) }

  @Test("The text is Prometheus' format 0.0.4, ordered by name")
  func exposition() {
    let metrics = Metrics()
    metrics.gauge("waiting", "Parked requests").set(3)
    metrics.counter("requests_total", "Requests", labels: ["endpoint", "status"]).labelled("sync", "200").add(2)
    metrics.measured("ratio", "A measured number") { 0.25 }
    let histogram = metrics.histogram("took_seconds", "Time", bounds: [0.1, 1])
    for seconds in [0.1, 0.5, 7] { histogram.observe(seconds) }
    #expect(
      text(metrics) == """
        # HELP ratio A measured number
        # TYPE ratio gauge
        ratio 0.25
        # HELP requests_total Requests
        # TYPE requests_total counter
        requests_total{endpoint="sync",status="200"} 2
        # HELP took_seconds Time
        # TYPE took_seconds histogram
        took_seconds_bucket{le="0.1"} 1
        took_seconds_bucket{le="1"} 2
        took_seconds_bucket{le="+Inf"} 3
        took_seconds_sum 7.6
        took_seconds_count 3
        # HELP waiting Parked requests
        # TYPE waiting gauge
        waiting 3

        """)
  }

  @Test("Label values are escaped")
  func escaping() {
    let metrics = Metrics()
    metrics.counter("c_total", "A \\ and\na line", labels: ["l"]).labelled("a\"b\\c\nd").add()
    #expect(text(metrics).contains(#"# HELP c_total A \\ and\na line"#))
    #expect(text(metrics).contains(#"c_total{l="a\"b\\c\nd"} 1"#))
  }

  @Test("Label combinations beyond the limit are counted together")
  func cardinality() {
    let counter = Metrics().counter("c_total", "Many", labels: ["l"])
    let limit = Metrics.seriesLimit
    for index in 0..<limit { counter.labelled("v\(index)").add() }
    #expect(counter.labelled("v\(limit - 1)") !== counter.labelled("v0"))
    let other = counter.labelled("one too many")
    #expect(other === counter.labelled("two too many"))
    #expect(other === counter.labelled("other"))
    #expect(counter.labelled("v0").value == 1)
  }

  @Test("The same name gives the same instrument")
  func identity() {
    let metrics = Metrics()
    metrics.counter("c_total", "Once").add()
    metrics.counter("c_total", "Twice").add()
    #expect(metrics.counter("c_total", "Once").labelled().value == 2)
  }

  @Test("Nothing is lost when many threads count at once")
  func concurrency() async {
    let metrics = Metrics()
    let counter = metrics.counter("c_total", "Counter")
    let histogram = metrics.histogram("h_seconds", "Histogram", bounds: [1])
    let gauge = metrics.gauge("g", "Gauge")
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<1000 {
            counter.add()
            gauge.add(1)
            histogram.observe(.milliseconds(500))
            gauge.add(-1)
          }
        }
      }
    }
    #expect(text(metrics).contains("c_total 8000\n"))
    #expect(text(metrics).contains("h_seconds_bucket{le=\"1\"} 8000\n"))
    #expect(text(metrics).contains("h_seconds_sum 4000\n"))
    #expect(text(metrics).contains("g 0\n"))
  }
}

@Suite("Process metrics")
struct ProcessMetricsTests {
  @Test("Memory, CPU time and open files of this process are more than nothing")
  func values() throws {
    let metrics = Metrics()
    ProcessMetrics.register(in: metrics)
    let lines = String(decoding: metrics.exposition(), as: UTF8.self).split(separator: "\n").filter {
      !$0.hasPrefix("#")
    }
    #expect(lines.count == 4)
    for line in lines {
      let value = try #require(Double(line.split(separator: " ")[1]))
      #expect(value > 0, "\(line)")
    }
  }
}
