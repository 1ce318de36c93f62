import MatrixClient

/// Tries the SDK on a homeserver with open registration: `client-live --homeserver URL [--only TEXT] [--jobs N] [--sync v3|sliding|automatic]`,
/// `client-live --list`. What `--follow` does is said at `Follower`.
///
/// One line for each case: `ok      NAME (0.1 s)`, `FAILED  NAME: why`, `not announced NAME: what`; then the counts. Exits with 1 where
/// anything failed.
@main
struct Program {
  var homeserver: String?
  var only: String?
  var jobs = 4
  var syncMode = SyncMode.automatic
  var follow: (path: String, user: String, password: String, settle: String?, isOffline: Bool) = ("", "", "", nil, false)

  static func main() async {
    var program = Program()
    var arguments = CommandLine.arguments.dropFirst()
    while let argument = arguments.popFirst() {
      switch argument {
      case "--homeserver": program.homeserver = arguments.popFirst()
      case "--only": program.only = arguments.popFirst()
      case "--jobs": program.jobs = arguments.popFirst().flatMap { Int($0) } ?? 1
      case "--sync":
        switch arguments.popFirst() {
        case "v3": program.syncMode = .v3
        case "sliding": program.syncMode = .sliding
        case "automatic": program.syncMode = .automatic
        case let mode: end("--sync: \(mode ?? "nothing") is not v3, sliding or automatic", status: 64)
        }
      case "--follow": program.follow.path = arguments.popFirst() ?? ""
      case "--user": program.follow.user = arguments.popFirst() ?? ""
      case "--password": program.follow.password = arguments.popFirst() ?? ""
      case "--settle": program.follow.settle = arguments.popFirst()
      case "--offline": program.follow.isOffline = true
      case "--list":
        for live in LiveCase.all { say(live.name) }
        return
      default: end("unknown option \(argument)", status: 64)
      }
    }
    guard let homeserver = program.homeserver else { end("--homeserver is missing", status: 64) }
    do {
      if program.follow.path.isEmpty { try await program.run(on: homeserver) } else { try await program.follow(on: homeserver) }
    } catch { end("\(homeserver): \(error)", status: 1) }
  }

  private func follow(on homeserver: String) async throws {
    try await Follower.run(
      follow.path, on: homeserver, user: follow.user, password: follow.password, syncMode: syncMode, settle: follow.settle,
      isOffline: follow.isOffline)
  }

  private func run(on homeserver: String) async throws {
    let announced = try await Announced(by: homeserver)
    var rest = LiveCase.all.filter { live in only.map { live.name.contains($0) } ?? true }[...]
    var counts = (passed: 0, failed: 0, notAnnounced: 0)
    await withTaskGroup(of: (LiveCase, Outcome, Duration).self) { group in
      func start() {
        guard let live = rest.popFirst() else { return }
        group.addTask { [syncMode] in
          let begin = ContinuousClock.now
          let outcome = await Outcome(of: live, on: homeserver, announced, syncMode)
          return (live, outcome, ContinuousClock.now - begin)
        }
      }
      for _ in 0..<max(1, jobs) { start() }
      for await (live, outcome, time) in group {
        switch outcome {
        case .passed:
          counts.passed += 1
          say("ok      \(live.name) (\(time.components.seconds).\(time.components.attoseconds / 100_000_000_000_000_000) s)")
        case .failed(let why):
          counts.failed += 1
          say("FAILED  \(live.name): \(why)")
        case .notAnnounced(let what):
          counts.notAnnounced += 1
          say("not announced \(live.name): \(what)")
        }
        start()
      }
    }
    say("\(counts.passed) passed, \(counts.failed) failed, \(counts.notAnnounced) not announced")
    if counts.failed > 0 || counts.passed == 0 { end("", status: 1) }
  }
}

/// How a case ended.
enum Outcome: Sendable {
  case passed
  case failed(String)
  case notAnnounced(String)

  init(of live: LiveCase, on homeserver: String, _ announced: Announced, _ syncMode: SyncMode) async {
    if let missing = live.needs?.missing(in: announced) {
      self = .notAnnounced(missing)
      return
    }
    do {
      let stage = try Stage(homeserver: homeserver, announced: announced, syncMode: syncMode)
      do {
        try await Outcome.beforeDeadline { try await live.run(stage) }
        await stage.close()
        self = .passed
      } catch {
        await stage.close()
        throw error
      }
    } catch let error as NotAnnounced {
      self = .notAnnounced(error.what)
    } catch {
      self = .failed("\(error)")
    }
  }

  private static func beforeDeadline(_ body: @escaping @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await body()
        return true
      }
      group.addTask {
        try await Task.sleep(for: .seconds(LiveCase.deadlineSeconds))
        return false
      }
      let hasEnded = try await group.next() ?? false
      group.cancelAll()
      if hasEnded { return }
      let late = await group.nextResult()
      if case .failure(let error) = late, !(error is CancellationError) {
        throw Failure("it did not end within \(LiveCase.deadlineSeconds) s: \(error)")
      }
      throw Failure("it did not end within \(LiveCase.deadlineSeconds) s")
    }
  }
}

extension Announced {
  init(by homeserver: String) async throws {
    let server = Homeserver(homeserver)
    versions = try await server.versions()
    flows = try await server.loginFlows()
    let name = "announced" + String(UInt64.random(in: 0 ... .max), radix: 36)
    let client = try await MatrixClient.register(at: homeserver, username: name, password: Stage.password)
    capabilities = try await client.capabilities()
    await client.stop()
  }
}
