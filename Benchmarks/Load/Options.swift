/// The command line. Every number has a default; the README of this folder lists what each scenario reads.
struct Options {
  var scenario = ""
  var base = "http://127.0.0.1:8008"
  var anyAddress = false
  var label = ""
  /// Where users and prepared rooms are kept between runs; empty: nowhere.
  var state = ""
  /// Synapse's `registration_shared_secret`; empty: open registration.
  var sharedSecret = ""
  var processes: [Int] = []
  var command = ""
  var path = "/_matrix/client/versions"

  var concurrency = 16
  var setupConcurrency = 4
  /// 0: as many as fit in `durationSeconds`.
  var operations = 0
  var users = 100
  var members = 20
  var rooms = 20
  var events = 50
  var limit = 100
  var senders = 1
  var repetitions = 1
  var pollMilliseconds = 30_000
  /// Of an uploaded file.
  var bytes = 16 << 10

  var durationSeconds = 10.0
  var warmupSeconds = 2.0
  var idleSeconds = 30.0
  var timeoutSeconds = 120.0
  /// Messages a second; 0: each sender sends when its last message is acknowledged.
  var rate = 10.0

  enum Failure: Error {
    case message(String)
  }

  private static let texts: [String: any WritableKeyPath<Options, String> & Sendable] = [
    "--base": \.base, "--label": \.label, "--state": \.state, "--shared-secret": \.sharedSecret, "--exec": \.command,
    "--path": \.path
  ]
  private static let numbers: [String: any WritableKeyPath<Options, Int> & Sendable] = [
    "--concurrency": \.concurrency, "--setup-concurrency": \.setupConcurrency, "--ops": \.operations,
    "--users": \.users,
    "--members": \.members, "--rooms": \.rooms, "--events": \.events, "--limit": \.limit, "--senders": \.senders,
    "--reps": \.repetitions, "--poll-ms": \.pollMilliseconds, "--bytes": \.bytes
  ]
  private static let decimals: [String: any WritableKeyPath<Options, Double> & Sendable] = [
    "--duration": \.durationSeconds, "--warmup": \.warmupSeconds, "--idle-s": \.idleSeconds,
    "--timeout": \.timeoutSeconds, "--rate": \.rate
  ]

  init(_ arguments: [String]) throws(Failure) {
    guard let scenario = arguments.first, !scenario.hasPrefix("-") else { throw .message("a scenario comes first") }
    self.scenario = scenario
    var rest = arguments.dropFirst()
    while let name = rest.popFirst() {
      if name == "--any-address" {
        anyAddress = true
        continue
      }
      guard let value = rest.popFirst() else { throw .message("\(name) wants a value") }
      try set(name, to: value)
    }
  }

  private mutating func set(_ name: String, to value: String) throws(Failure) {
    if let path = Self.texts[name] {
      self[keyPath: path] = value
    } else if let path = Self.numbers[name] {
      guard let number = Int(value), number >= 0 else { throw .message("\(name) wants a whole number, not \(value)") }
      self[keyPath: path] = number
    } else if let path = Self.decimals[name] {
      guard let number = Double(value), number >= 0 else { throw .message("\(name) wants a number, not \(value)") }
      self[keyPath: path] = number
    } else if name == "--pid" {
      let processes = value.split(separator: ",").map { Int($0) }
      guard processes.allSatisfy({ $0 != nil }) else { throw .message("--pid wants process IDs, not \(value)") }
      self.processes = processes.compactMap { $0 }
    } else {
      throw .message("unknown option \(name)")
    }
  }
}
