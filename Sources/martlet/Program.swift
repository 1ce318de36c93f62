import Glibc
import Shell
import Telemetry

/// The command line: runs the subcommand and determines the exit status.
enum Program {
  static let version = "0.1.0"

  /// Whether the subcommand shuts down in an orderly way on SIGINT and SIGTERM.
  static func endsOrderly(_ arguments: [String]) -> Bool { arguments.dropFirst().first == "serve" }

  /// Runs the subcommand in `arguments` and returns the exit status. The first argument is the program itself.
  static func run(_ arguments: [String]) async -> Int32 {
    let words = Array(arguments.dropFirst())
    let rest = Array(words.dropFirst())
    let status: ExitStatus
    if let topic = helpTopic(words) { return showHelp(for: topic).rawValue }
    if let (command, rest) = AdminCommand.named(by: words) { return await command.perform(rest).rawValue }
    if let (command, rest) = DataCommand.named(by: words) { return await command.perform(rest).rawValue }
    if let name = words.first, TerminalClient.commands.contains(name) {
      return TerminalClient.replaceProcess(arguments: words).rawValue
    }
    switch (words.first, rest.first) {
    case ("serve", _): status = await ServeCommand.run(rest)
    case ("config", "check"): status = checkConfiguration(Array(rest.dropFirst()))
    case ("config", "documentation"):
      StandardOutput.write(ConfigurationText.page())
      status = .success
    case ("version", _), ("--version", _):
      StandardOutput.write("martlet \(version)\n")
      status = .success
    case (nil, _): status = complain(.usage("no subcommand; martlet help lists them"))
    case (_?, _): status = complainAboutCommand(words)
    }
    return status.rawValue
  }

  static func help() -> String {
    """
    Martlet: chat that you host yourself, on the open Matrix standard.

    Usage:
      martlet serve [SETTING…]          runs the server until Ctrl-C
      martlet config check [SETTING…]   checks the configuration and prints each value with its origin, then a summary with warnings
      martlet config documentation      prints Documentation/Configuration.md
      martlet help [COMMAND]            explains a command, such as user add, a group, such as user, or all
      martlet version                   prints the version

    The data folder. These commands work whether the server runs or not (restore makes a new folder). They accept settings, too:

    \(DataCommand.help())
    Administration. These commands work whether the server runs or not, and find it by its data folder. Each accepts settings
    (--data-dir, --config), and --json for the complete response. Commands that cannot be undone ask first; --yes confirms.

    \(AdminCommand.help())
    \(settingsHelp())
    """
  }

  /// The part of the help text that lists all settings.
  static func settingsHelp() -> String {
    """
    Settings. A flag takes precedence over an environment variable, and a variable over the YAML file. The file is the one that
    --config FILE or MARTLET_CONFIG names, or else martlet.yaml if it exists (or /etc/martlet/martlet.yaml, for the packaged program):

    \(ConfigurationText.help())

    """
  }

  private static func checkConfiguration(_ flags: [String]) -> ExitStatus {
    do throws(ConfigurationError) {
      let loaded = try ConfigurationLoader.load(flags: flags, environment: processEnvironment())
      StandardOutput.write(ConfigurationText.effective(loaded) + ConfigurationText.summary(loaded))
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

  /// Prints a problem, which may have several lines, and in them names of files that others chose.
  static func complain(_ problem: String) {
    let lines = problem.split(separator: "\n", omittingEmptySubsequences: false).map { Table.harmless(String($0)) }
    LogSink.standardError(Array("martlet: \(lines.joined(separator: "\n"))\n".utf8))
  }
}
