import Synchronization
import Telemetry

/// Requests that are refused because the database is away: their number is a line of the log every ten seconds, in place of a line for each.
final class RefusalLog: Sendable {
  private struct Gathered {
    var count = 0
    /// What the newest of them ended with.
    var error = ""
  }

  private static let refused = Metrics.process.counter(
    "martlet_database_refused_requests_total", "Requests refused because the database was away.")

  private let log: Log
  private let pause: Duration
  private let gathered = Mutex(Gathered())
  private let total = RefusalLog.refused.labelled()

  init(_ log: Log, pause: Duration = .seconds(10)) {
    self.log = log
    self.pause = pause
  }

  func add(_ error: String) {
    total.add()
    let isFirst = gathered.withLock { gathered in
      gathered.count += 1
      gathered.error = error
      return gathered.count == 1
    }
    guard isFirst else { return }
    Task {
      try? await Task.sleep(for: pause)
      write()
    }
  }

  private func write() {
    let gathered = gathered.withLock { gathered in
      defer { gathered = Gathered() }
      return gathered
    }
    log.error(
      "requests were refused: the database is away", ["requests": .integer(gathered.count), "error": .text(gathered.error)])
  }
}
