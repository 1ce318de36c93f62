/// Long polls with nothing to say: what does each parked connection hold?
extension Bench {
  func idle() {
    let users = users(options.users)
    let tokens = syncTokens(of: users, filter: Self.smallFilter)
    loop.run(until: monotonicSeconds() + 1)
    let before = ProcessUsage(of: options.processes)
    let polls = LongPolls(bench: self, users: users, tokens: tokens, filter: Self.smallFilter)
    let start = monotonicSeconds()
    polls.start()
    polls.settle(quietSeconds: 2, atMostSeconds: options.timeoutSeconds)
    let parkSeconds = monotonicSeconds() - start
    let parked = ProcessUsage(of: options.processes)
    let answersBefore = polls.answers
    let measurement = Measurement(processes: options.processes)
    measurement.start()
    loop.run(until: monotonicSeconds() + options.idleSeconds)
    measurement.stop()
    measurement.count(operations: polls.answers - answersBefore)
    let parkedCount = polls.parked
    polls.close()
    let grown = Double(parked.residentKilobytes - before.residentKilobytes)
    report(
      measurement,
      [
        "\"users\":\(users.count)", "\"poll_ms\":\(options.pollMilliseconds)", "\"parked\":\(parkedCount)",
        "\"poll_errors\":\(polls.errors)", "\"park_s\":\(parkSeconds.fixed(2))",
        "\"rss_before_mb\":\((Double(before.residentKilobytes) / 1024).fixed(1))",
        "\"rss_parked_mb\":\((Double(parked.residentKilobytes) / 1024).fixed(1))",
        "\"rss_per_conn_kb\":\((grown / Double(max(1, users.count))).fixed(2))",
        "\"idle_cpu_s\":\(measurement.processorSeconds.fixed(2))"
      ])
  }
}

/// Users who hold `/sync` open and ask again with every answer.
final class LongPolls {
  private let bench: Bench
  private let users: [User]
  private let filter: String
  private let connections: [Connection]
  private var tokens: [String]
  private(set) var answers = 0
  private(set) var errors = 0
  private(set) var isStopped = false
  /// Called with each good answer: which user's, and its body.
  var onAnswer: (_ index: Int, _ body: [UInt8]) -> Void = { _, _ in }

  init(bench: Bench, users: [User], tokens: [String], filter: String) {
    self.bench = bench
    self.users = users
    self.tokens = tokens
    self.filter = filter
    connections = bench.connections(users.count)
  }

  var parked: Int { connections.count { $0.isBusy } }
  var receivedBytes: Int { connections.reduce(0) { $0 + $1.receivedBytes } }

  func start() {
    for connection in connections {
      poll(connection)
      if connection.slot % 50 == 49 { bench.loop.run(until: 0) }
    }
  }

  /// Until no answer has come for `quietSeconds`.
  func settle(quietSeconds: Double, atMostSeconds: Double) {
    let end = monotonicSeconds() + atMostSeconds
    var seen = answers
    var quietSince = monotonicSeconds()
    while monotonicSeconds() < min(end, quietSince + quietSeconds) {
      bench.loop.run(until: monotonicSeconds() + 0.1)
      if answers != seen {
        seen = answers
        quietSince = monotonicSeconds()
      }
    }
  }

  func close() {
    isStopped = true
    for connection in connections { connection.close() }
  }

  private func poll(_ connection: Connection) {
    let index = connection.slot
    let path = bench.syncPath(
      timeoutMilliseconds: bench.options.pollMilliseconds, since: tokens[index], filter: filter)
    connection.send(bench.target.request("GET", path, token: users[index].token)) { self.answered($0) }
  }

  private func answered(_ connection: Connection) {
    if isStopped { return }
    if connection.status == 200, let next = connection.body.string(named: "next_batch") {
      answers += 1
      tokens[connection.slot] = next
      onAnswer(connection.slot, connection.body)
    } else {
      errors += 1
      if errors < 4 {
        note("poll: \(connection.status) \(String(decoding: connection.body.prefix(160), as: UTF8.self))")
      }
      if errors > 5000 { fail("too many polls went wrong") }
    }
    poll(connection)
  }
}
