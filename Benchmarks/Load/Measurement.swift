import Glibc

/// One measured phase: what was done in it, how long each operation took, what it cost the server and this program.
final class Measurement {
  private let processes: [Int]
  private(set) var isRunning = false
  private var startSeconds = 0.0
  private var endSeconds = 0.0
  private var usageBefore = ProcessUsage(of: [])
  private(set) var usageAfter = ProcessUsage(of: [])
  private var ownSecondsBefore = 0.0
  private var ownSeconds = 0.0
  private var latencyMilliseconds: [Double] = []
  private(set) var operations = 0
  private var errors = 0
  private var firstError = ""
  var receivedBytes = 0

  init(processes: [Int]) { self.processes = processes }

  var elapsedSeconds: Double { max(endSeconds - startSeconds, 1e-9) }
  var processorSeconds: Double { usageAfter.processorSeconds - usageBefore.processorSeconds }

  func start() {
    usageBefore = ProcessUsage(of: processes)
    ownSecondsBefore = ProcessUsage.ownProcessorSeconds()
    isRunning = true
    startSeconds = monotonicSeconds()
  }

  func stop() {
    guard isRunning else { return }
    isRunning = false
    endSeconds = monotonicSeconds()
    ownSeconds = ProcessUsage.ownProcessorSeconds() - ownSecondsBefore
    usageAfter = ProcessUsage(of: processes)
  }

  /// For phases whose end is known only afterwards (the last delivery of a fan-out) or that another clock timed.
  func set(startSeconds: Double? = nil, endSeconds: Double) {
    self.startSeconds = startSeconds ?? self.startSeconds
    self.endSeconds = endSeconds
  }

  func succeeded(after seconds: Double) {
    operations += 1
    latencyMilliseconds.append(seconds * 1000)
  }

  func count(operations: Int) { self.operations += operations }

  func failed(_ connection: Connection) {
    failed("\(connection.status) \(String(decoding: connection.body.prefix(160), as: UTF8.self))")
  }

  func failed(_ message: String) {
    errors += 1
    if firstError.isEmpty {
      firstError = message
      note("first error: \(message)")
    }
  }

  /// Prints the phase as one line of JSON; `extra` holds further members, ready to be joined by commas.
  func report(_ scenario: String, label: String, extra: [String]) {
    let sorted = latencyMilliseconds.sorted()
    let mean = sorted.isEmpty ? 0 : sorted.reduce(0, +) / Double(sorted.count)
    var members = [
      "\"scenario\":\"\(scenario)\"", "\"target\":\"\(label)\"", "\"ops\":\(operations)", "\"errors\":\(errors)",
      "\"secs\":\(elapsedSeconds.fixed(3))", "\"ops_s\":\((Double(operations) / elapsedSeconds).fixed(2))",
      "\"mean_ms\":\(mean.fixed(3))", "\"p50_ms\":\(Self.percentile(50, of: sorted).fixed(3))",
      "\"p95_ms\":\(Self.percentile(95, of: sorted).fixed(3))",
      "\"p99_ms\":\(Self.percentile(99, of: sorted).fixed(3))",
      "\"max_ms\":\((sorted.last ?? 0).fixed(3))"
    ]
    if !processes.isEmpty {
      let perThousand = operations > 0 ? processorSeconds * 1000 / Double(operations) : 0
      members += [
        "\"srv_cpu_s\":\(processorSeconds.fixed(2))", "\"srv_cpu_per_1k\":\(perThousand.fixed(4))",
        "\"rss_mb\":\((Double(usageAfter.residentKilobytes) / 1024).fixed(1))",
        "\"pss_mb\":\((Double(usageAfter.proportionalKilobytes) / 1024).fixed(1))"
      ]
    }
    members += ["\"cli_cpu_s\":\(ownSeconds.fixed(3))", "\"rx_bytes\":\(receivedBytes)"] + extra
    if errors > 0 {
      let quoted = firstError.unicodeScalars.filter { $0.value >= 32 }.reduce(into: "") {
        $0 += $1 == "\"" || $1 == "\\" ? "\\\($1)" : String($1)
      }
      members.append("\"first_error\":\"\(quoted)\"")
    }
    print("{\(members.joined(separator: ","))}")
    fflush(nil)
  }

  /// 0 when there are no values.
  static func percentile(_ percent: Double, of sorted: [Double]) -> Double {
    sorted.isEmpty ? 0 : sorted[Int(percent / 100 * Double(sorted.count - 1) + 0.5)]
  }
}
