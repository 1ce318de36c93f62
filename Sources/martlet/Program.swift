import Glibc
import Shell
import Telemetry

/// The command line: which subcommand, and what the process ends with.
enum Program {
  static let version = "0.1.0"

  /// Whether the subcommand ends orderly on SIGINT and SIGTERM.
  static func endsOrderly(_ arguments: [String]) -> Bool { arguments.dropFirst().first == "serve" }

  /// Runs the subcommand that `arguments` name (the first is the program itself) and returns the exit status.
  static func run(_ arguments: [String]) async -> Int32 {
    let rest = Array(arguments.dropFirst(2))
    let status: ExitStatus
    if let (command, words) = AdminCommand.named(by: Array(arguments.dropFirst())) {
      return await command.perform(words).rawValue
    }
    if let (command, words) = DataCommand.named(by: Array(arguments.dropFirst())) {
      return command.perform(words).rawValue
    }
    if let name = arguments.dropFirst().first, TerminalClient.commands.contains(name) {
      return TerminalClient.replaceProcess(arguments: Array(arguments.dropFirst())).rawValue
    }
    switch (arguments.dropFirst().first, rest.first) {
    case ("serve", _): status = await ServeCommand.run(rest)
    case ("config", "check"): status = checkConfiguration(Array(rest.dropFirst()))
    case ("config", "documentation"):
      StandardOutput.write(ConfigurationText.page())
      status = .success
    case ("help", _), ("--help", _), ("-h", _):
      StandardOutput.write(help())
      status = TerminalClient.help()
    case ("version", _), ("--version", _):
      StandardOutput.write("martlet \(version)\n")
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

    The data folder, while the server runs on it as well as while it does not (restore makes a new one); these take settings, too:

    \(DataCommand.help())
    Administration, while the server runs on the same data folder as well as while it does not; every one takes settings
    (--data-dir, --config) and --json for the whole answer, those that cannot be undone ask unless --yes is given:

    \(AdminCommand.help())
    Settings come from flags, else from the environment, else from a YAML file (--config FILE or MARTLET_CONFIG, else martlet.yaml if
    it is there):

    \(ConfigurationText.help())

    """
  }

  private static func checkConfiguration(_ flags: [String]) -> ExitStatus {
    do throws(ConfigurationError) {
      StandardOutput.write(
        ConfigurationText.effective(try ConfigurationLoader.load(flags: flags, environment: processEnvironment())))
      return .success
    } catch {
      return complain(error)
    }
  }

  static func complain(_ error: ConfigurationError) -> ExitStatus {
    complain(error.description)
    if case .usage = error { return .usage }
    return .configuration
  }

  static func complain(_ problem: String) { LogSink.standardError(Array("martlet: \(problem)\n".utf8)) }
}
