import Glibc

/// `matrix-load`: puts a Matrix homeserver under load through its Client-Server API and prints one line of JSON for each
/// measured phase.
enum LoadProgram {
  private static let scenarios: [String: @Sendable (Bench) -> Void] = [
    "get": { $0.get() },
    "send": { $0.send(inOneRoom: false) },
    "send-one-room": { $0.send(inOneRoom: true) },
    "sync-noop": { $0.syncWithoutNews() },
    "initial-sync": { $0.initialSync() },
    "messages": { $0.messages() },
    "fan-out": { FanOut(bench: $0).run() },
    "idle": { $0.idle() },
    "join-storm": { $0.joinStorm() },
    "typing": { $0.typing() },
    "receipts": { $0.receipts() },
    "to-device": { $0.toDevice() },
    "media": { $0.media() },
    "sliding-sync": { $0.slidingSync() },
    "room": { $0.room() },
    "town": { $0.town() },
    "startup": { $0.startup() }
  ]

  static func run(_ arguments: [String]) -> Int32 {
    let options: Options
    do throws(Options.Failure) {
      options = try Options(arguments)
    } catch {
      guard case .message(let message) = error else { return 2 }
      return usage(message)
    }
    guard let scenario = scenarios[options.scenario] else { return usage("unknown scenario \(options.scenario)") }
    guard let target = Target(base: options.base, anyAddress: options.anyAddress) else {
      return usage("\(options.base): http://IPv4[:PORT] is wanted, a loopback address unless --any-address is given")
    }
    signal(SIGPIPE, SIG_IGN)
    raiseFileLimit()
    let run = String(UInt64(time(nil)) % 0xFFFFFF, radix: 16) + String(getpid() % 0xFFFF, radix: 16)
    scenario(Bench(options: options, target: target, run: run))
    return 0
  }

  private static func usage(_ message: String) -> Int32 {
    let names = scenarios.keys.sorted().joined(separator: " ")
    complain("matrix-load: \(message)\nusage: matrix-load SCENARIO [--option value ...]\nscenarios: \(names)\n")
    return 2
  }

  /// One descriptor for each parked poll.
  private static func raiseFileLimit() {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    getrlimit(resource, &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(resource, &limit)
  }
}

/// Ends the program: a set-up that failed would make every figure after it meaningless.
func fail(_ message: String) -> Never {
  complain("matrix-load: \(message)\n")
  exit(1)
}
