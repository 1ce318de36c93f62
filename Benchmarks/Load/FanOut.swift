/// Members hold `/sync` open while a sender writes: every delivery to every member is timed and must come exactly once.
///
/// At a given rate the clock of a message starts when it was due, not when the sender got round to it: a server that makes the
/// sender wait cannot hide that. `ops` are deliveries.
final class FanOut {
  private let bench: Bench
  private let members: [User]
  private let sender: User
  private let room: String
  private let polls: LongPolls
  private let senders: [Connection]
  private let measurement: Measurement
  private let mark: [UInt8]
  /// When each message was due, by sequence number.
  private var dueSeconds: [Double] = []
  /// For each member, which sequence numbers have come.
  private var seen: [[Bool]]
  private var sendMilliseconds: [Double] = []
  private var acknowledged = 0
  private var duplicates = 0
  private var lastDeliverySeconds = 0.0

  init(bench: Bench) {
    self.bench = bench
    let users = bench.users(bench.options.members + 1)
    sender = users[0]
    members = Array(users.dropFirst())
    room = bench.rooms(by: [sender])[0]
    bench.join(members, to: [room])
    let filter =
      "{\"room\":{\"timeline\":{\"limit\":\(bench.options.limit)},\"state\":{\"lazy_load_members\":true}}}"
    polls = LongPolls(
      bench: bench, users: members, tokens: bench.syncTokens(of: members, filter: filter), filter: filter)
    senders = bench.connections(max(1, bench.options.senders))
    measurement = Measurement(processes: bench.options.processes)
    mark = bench.messageMark
    seen = Array(repeating: [], count: members.count)
  }

  func run() {
    polls.onAnswer = { [unowned self] in deliver(to: $0, $1) }
    polls.start()
    polls.settle(quietSeconds: 1, atMostSeconds: 30)
    let answersBefore = polls.answers
    measurement.start()
    let start = monotonicSeconds()
    if bench.options.rate > 0 { sendAtRate(from: start) } else { sendInClosedLoop(from: start) }
    let sendingEnd = monotonicSeconds()
    waitForDeliveries(since: sendingEnd)
    measurement.stop()
    let end = max(lastDeliverySeconds, sendingEnd)
    measurement.set(endSeconds: end)
    measurement.receivedBytes = polls.receivedBytes
    let answers = polls.answers - answersBefore
    polls.close()
    for sender in senders { sender.close() }
    report(sendingSeconds: sendingEnd - start, drainSeconds: end - sendingEnd, answers: answers)
  }

  private func sendAtRate(from start: Double) {
    let rate = bench.options.rate
    let total = Int((rate * bench.options.durationSeconds).rounded())
    let hardEnd = start + bench.options.durationSeconds * 4 + 30
    var issued = 0
    while issued < total, monotonicSeconds() < hardEnd {
      let due = min(total, Int((monotonicSeconds() - start) * rate) + 1)
      while dueSeconds.count < due { dueSeconds.append(start + Double(dueSeconds.count) / rate) }
      while issued < due, let free = senders.first(where: { !$0.isBusy }) {
        send(issued, on: free, then: { _ in })
        issued += 1
      }
      let next = issued < due ? monotonicSeconds() + 0.005 : start + Double(due) / rate
      bench.loop.run(until: next)
    }
    dueSeconds.removeLast(dueSeconds.count - issued)
  }

  private func sendInClosedLoop(from start: Double) {
    let end = start + bench.options.durationSeconds
    for sender in senders { sendNext(on: sender, until: end) }
    bench.loop.run(until: end)
  }

  private func sendNext(on connection: Connection, until end: Double) {
    guard monotonicSeconds() < end else { return }
    dueSeconds.append(monotonicSeconds())
    send(dueSeconds.count - 1, on: connection) { [unowned self] in sendNext(on: $0, until: end) }
  }

  private func send(_ sequence: Int, on connection: Connection, then next: @escaping (Connection) -> Void) {
    bench.sendMessage(sequence, to: room, from: sender, on: connection) { [unowned self] connection in
      if connection.status == 200 {
        acknowledged += 1
        sendMilliseconds.append((monotonicSeconds() - dueSeconds[sequence]) * 1000)
      } else {
        measurement.failed(connection)
      }
      next(connection)
    }
  }

  private func deliver(to member: Int, _ body: [UInt8]) {
    let now = monotonicSeconds()
    var position = 0
    while let found = body.index(of: mark, from: position) {
      position = found + mark.count
      var sequence = 0
      while position < body.count, (0x30...0x39).contains(body[position]), sequence < 1 << 40 {
        sequence = sequence * 10 + Int(body[position] - 0x30)
        position += 1
      }
      guard sequence < dueSeconds.count else { continue }
      if seen[member].count <= sequence {
        seen[member] += Array(repeating: false, count: dueSeconds.count - seen[member].count)
      }
      if seen[member][sequence] {
        duplicates += 1
      } else {
        seen[member][sequence] = true
        lastDeliverySeconds = now
        measurement.succeeded(after: now - dueSeconds[sequence])
      }
    }
  }

  /// Until all acknowledged messages have come everywhere, or nothing has come for five seconds.
  private func waitForDeliveries(since sendingEnd: Double) {
    let hardEnd = sendingEnd + 60
    while monotonicSeconds() < hardEnd {
      let isSending = senders.contains { $0.isBusy }
      if !isSending && measurement.operations >= acknowledged * members.count { return }
      if !isSending && monotonicSeconds() - max(lastDeliverySeconds, sendingEnd) > 5 { return }
      bench.loop.run(until: monotonicSeconds() + 0.05)
    }
  }

  private func report(sendingSeconds: Double, drainSeconds: Double, answers: Int) {
    let expected = acknowledged * members.count
    let sorted = sendMilliseconds.sorted()
    for _ in 0..<polls.errors { measurement.failed("a poll failed") }
    bench.report(
      measurement,
      [
        "\"members\":\(members.count)", "\"rate\":\(bench.options.rate.fixed(1))", "\"senders\":\(senders.count)",
        "\"sent\":\(acknowledged)", "\"sent_s\":\((Double(acknowledged) / max(sendingSeconds, 1e-9)).fixed(2))",
        "\"expected\":\(expected)", "\"missing\":\(expected - measurement.operations)", "\"dup\":\(duplicates)",
        "\"sync_responses\":\(answers)", "\"send_p50_ms\":\(Measurement.percentile(50, of: sorted).fixed(3))",
        "\"send_p99_ms\":\(Measurement.percentile(99, of: sorted).fixed(3))", "\"drain_s\":\(drainSeconds.fixed(2))"
      ])
  }
}
