/// What all scenarios share: the options, the server, the loop, and closed loops of operations on it.
final class Bench {
  let options: Options
  let target: Target
  let loop = Loop()
  /// Tells apart the names, transaction IDs and messages of this run from those of others.
  let run: String
  /// Transaction IDs handed out so far.
  var transactions = 0

  init(options: Options, target: Target, run: String) {
    self.options = options
    self.target = target
    self.run = run
  }

  /// Starts operation number `index` on the connection and later calls `finish`.
  typealias Operation = (_ connection: Connection, _ index: Int, _ finish: Finish) -> Void

  /// How an operation tells that it is over.
  struct Finish {
    fileprivate let handler: (_ isGood: Bool, _ isLast: Bool) -> Void

    /// `isLast`: the connection has nothing more to do.
    func callAsFunction(_ isGood: Bool, isLast: Bool = false) { handler(isGood, isLast) }
  }

  func connections(_ count: Int) -> [Connection] {
    (0..<count).map { Connection(slot: $0, loop: loop, target: target) }
  }

  /// Each connection does one operation after the other, after a warm-up for `options.durationSeconds` or, when `operations`
  /// is above 0, until that many are done; the measured part is returned.
  func measure(concurrency: Int, operations: Int, _ operation: @escaping Operation) -> Measurement {
    let measurement = Measurement(processes: options.processes)
    let isTimed = operations == 0
    let workers = ClosedLoop(connections(concurrency), operations: isTimed ? .max : operations, measurement, operation)
    if isTimed {
      workers.start()
      loop.run(until: monotonicSeconds() + options.warmupSeconds, while: { workers.isActive })
      measurement.start()
      loop.run(until: monotonicSeconds() + options.durationSeconds, while: { workers.isActive })
      measurement.stop()
      workers.end()
      loop.run(until: monotonicSeconds() + options.timeoutSeconds, while: { workers.isActive })
    } else {
      measurement.start()
      workers.start()
      loop.run(until: monotonicSeconds() + 3600, while: { workers.isActive })
      measurement.stop()
    }
    if workers.isActive { note("time limit: some requests were never answered") }
    measurement.receivedBytes = workers.receivedBytes
    workers.close()
    return measurement
  }

  /// Set-up: does `count` operations, unmeasured, and ends the program when any of them fails.
  func prepare(_ what: String, count: Int, _ operation: @escaping Operation) {
    guard count > 0 else { return }
    let measurement = Measurement(processes: [])
    let workers = ClosedLoop(
      connections(min(options.setupConcurrency, count)), operations: count, measurement, operation)
    let start = monotonicSeconds()
    measurement.start()
    workers.start()
    loop.run(until: start + 3600, while: { workers.isActive })
    measurement.stop()
    workers.close()
    note("\(what): \(count) in \((monotonicSeconds() - start).fixed(1)) s")
    guard measurement.operations == count else { fail("\(what): only \(measurement.operations) of \(count) went well") }
  }
}

/// Connections that each do one operation after the other.
final class ClosedLoop {
  private let connections: [Connection]
  private let limit: Int
  private let measurement: Measurement
  private let operation: Bench.Operation
  private var issued = 0
  private var active = 0
  private var isEnding = false

  init(
    _ connections: [Connection], operations limit: Int, _ measurement: Measurement,
    _ operation: @escaping Bench.Operation
  ) {
    self.connections = connections
    self.limit = limit
    self.measurement = measurement
    self.operation = operation
  }

  var isActive: Bool { active > 0 }
  var receivedBytes: Int { connections.reduce(0) { $0 + $1.receivedBytes } }

  func start() {
    active = connections.count
    for connection in connections { issue(on: connection) }
  }

  /// Operations under way may end; no new ones begin.
  func end() { isEnding = true }

  func close() {
    for connection in connections { connection.close() }
  }

  private func issue(on connection: Connection) {
    guard !isEnding, issued < limit else {
      active -= 1
      return
    }
    let index = issued
    issued += 1
    let start = monotonicSeconds()
    let finish = Bench.Finish { isGood, isLast in
      if !isGood {
        self.measurement.failed(connection)
      } else if self.measurement.isRunning {
        self.measurement.succeeded(after: monotonicSeconds() - start)
      }
      if isLast { self.active -= 1 } else { self.issue(on: connection) }
    }
    operation(connection, index, finish)
  }
}
