import Glibc
import Telemetry

/// The command line: which subcommand, and what the process ends with.
enum Program {
  static let version = "0.1.0"

  /// What the process ends with: from 64 on the codes of sysexits.h, 3 to 6 for scripts around the terminal client.
  enum Status: Int32 {
    case success = 0
    case failure = 1
    case notLoggedIn = 3
    case noSuchRoom = 4
    case refused = 5
    case network = 6
    case usage = 64
    case configuration = 78
    /// Ended by Ctrl-C, as shells count it.
    case interrupted = 130
  }

  /// Whether the subcommand takes SIGINT and SIGTERM as a wish: to end orderly or to clean up.
  static func endsOrderly(_ arguments: [String]) -> Bool {
    arguments.dropFirst().first.map { ["serve", "export"].contains($0) } ?? false
  }

  /// Runs the subcommand that `arguments` name (the first is the program itself) and returns the exit status.
  static func run(_ arguments: [String]) async -> Int32 {
    let rest = Array(arguments.dropFirst(2))
    let status: Status
    if let (command, words) = AdminCommand.named(by: Array(arguments.dropFirst())) {
      return await command.perform(words).rawValue
    }
    if let (command, words) = TerminalCommand.named(by: Array(arguments.dropFirst())) {
      return await command.perform(words).rawValue
    }
    switch (arguments.dropFirst().first, rest.first) {
    case ("serve", _): status = await ServeCommand.run(rest)
    case ("config", "check"): status = checkConfiguration(Array(rest.dropFirst()))
    case ("config", "documentation"):
      output(ConfigurationText.page())
      status = .success
    case ("help", _), ("--help", _), ("-h", _):
      output(help())
      status = .success
    case ("version", _), ("--version", _):
      output("martlet \(version)\n")
      status = .success
    case (nil, _): status = complain(.usage("which subcommand? martlet help lists them"))
    case (let name?, _):
      status = complain(
        .usage("unknown subcommand \(([name] + rest.prefix(1)).joined(separator: " ")); martlet help lists them"))
    }
    return status.rawValue
  }

  static func help() -> String {
    """
    Martlet: chat that you host yourself, on the open Matrix standard.

    Usage:
      martlet serve [SETTING…]          runs the server until Ctrl-C
      martlet config check [SETTING…]   checks the configuration and prints what is in effect
      martlet config documentation      prints Documentation/Configuration.md
      martlet help, martlet version

    A client for any Matrix homeserver; every one takes --json (JSON lines), all but login --account USER where there are several. They end
    with 0 done, 1 failed, 3 not logged in, 4 no such room, 5 refused by the server, 6 no network, 64 wrong usage (Documentation/Terminal.md):

    \(TerminalCommand.help())
    Administration, while the server runs on the same data folder as well as while it does not; every one takes settings
    (--data-dir, --config) and --json for the whole answer, those that cannot be undone ask unless --yes is given:

    \(AdminCommand.help())
    Settings come from flags, else from the environment, else from a YAML file (--config FILE or MARTLET_CONFIG, else martlet.yaml if
    it is there):

    \(ConfigurationText.help())
    """
  }

  private static func checkConfiguration(_ flags: [String]) -> Status {
    do throws(ConfigurationError) {
      output(ConfigurationText.effective(try ConfigurationLoader.load(flags: flags, environment: processEnvironment())))
      return .success
    } catch {
      return complain(error)
    }
  }

  static func complain(_ error: ConfigurationError) -> Status {
    complain(error.description)
    if case .usage = error { return .usage }
    return .configuration
  }

  static func complain(_ problem: String) { LogSink.standardError(Array("martlet: \(problem)\n".utf8)) }

  /// Writes to standard output at once, without the buffer of stdio: whoever reads the address of the server waits for it.
  static func output(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}
