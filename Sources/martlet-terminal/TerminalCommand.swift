import Glibc
import MatrixClient
import Shell
import Telemetry

/// A subcommand of the terminal client. `TerminalCommand.all` is the only list: the help text and the parser come from it.
struct TerminalCommand: Sendable {
  typealias Option = CommandSyntax.Option

  let syntax: CommandSyntax
  let summary: String
  let run: @Sendable (TerminalCall) async throws -> Void

  init(
    _ name: String, _ operands: [String] = [], options: [Option] = [], choosesAccount: Bool = true, _ summary: String,
    _ run: @escaping @Sendable (TerminalCall) async throws -> Void
  ) {
    let account = choosesAccount ? [Option(name: "--account", value: "USER")] : []
    syntax = CommandSyntax(
      words: name.split(separator: " ").map(String.init), operands: operands,
      options: options + account + [Option(name: "--json")], takesSettings: false)
    self.summary = summary
    self.run = run
  }

  static let all = [
    logIn, logOut, rooms, send, read, export, exportKeys, importKeys, setUpRecovery, useRecovery, recovery, verify,
    encryption
  ]

  /// The part of the help text that lists them.
  static func help() -> String {
    all.map { "  martlet \($0.syntax.usage)\n      \($0.summary)\n" }.joined()
  }

  /// The command that a command line names, and what follows its name.
  static func named(by words: [String]) -> (command: TerminalCommand, rest: [String])? {
    for command in all where words.starts(with: command.syntax.words) {
      return (command, Array(words.dropFirst(command.syntax.words.count)))
    }
    return nil
  }

  func perform(_ words: [String]) async -> ExitStatus {
    if words == ["-h"] || words.prefix(while: { $0 != "--" }).contains("--help") {
      StandardOutput.write("martlet \(syntax.usage)\n    \(summary)\n")
      return .success
    }
    do {
      try await run(TerminalCall(try CommandArguments(words, for: syntax)))
      return .success
    } catch {
      let error = TerminalError(any: error)
      ProgressBar.clear()
      LogSink.standardError(Array(error.text(isJSON: words.contains("--json")).utf8))
      return error.status
    }
  }
}
