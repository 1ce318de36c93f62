import Shell
import Telemetry

/// The command line of the terminal client. `martlet login …` runs this program too.
enum TerminalProgram {
  /// Whether the subcommand cleans up on SIGINT and SIGTERM.
  static func endsOrderly(_ arguments: [String]) -> Bool { arguments.dropFirst().first == "export" }

  /// Runs the subcommand that `arguments` name (the first is the program itself) and returns the exit status.
  static func run(_ arguments: [String]) async -> Int32 {
    let words = Array(arguments.dropFirst())
    if let (command, rest) = TerminalCommand.named(by: words) { return await command.perform(rest).rawValue }
    switch words.first {
    case "help", "--help", "-h":
      StandardOutput.write(help())
      return ExitStatus.success.rawValue
    case nil: return complain("which subcommand? martlet-terminal help lists them")
    case let name?: return complain("unknown subcommand \(name); martlet-terminal help lists them")
    }
  }

  static func help() -> String {
    """
    A client for any Matrix homeserver. Every command takes --json (JSON lines). Every command except login takes --account USER,
    which is needed if several accounts are logged in. Exit status: 0 done, 1 failed, 3 not logged in, 4 no such room,
    5 refused by the server, 6 no network, 64 wrong usage (Documentation/Terminal.md).

    \(TerminalCommand.help())
    """
  }

  private static func complain(_ problem: String) -> Int32 {
    LogSink.standardError(Array("martlet: \(problem)\n".utf8))
    return ExitStatus.usage.rawValue
  }
}
