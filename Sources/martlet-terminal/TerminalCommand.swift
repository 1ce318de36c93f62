import Glibc
import MatrixClient
import Shell
import Telemetry

/// A subcommand of the terminal client. `TerminalCommand.all` is the only list: the help text and the parser come from it.
struct TerminalCommand: Sendable {
  typealias Option = CommandSyntax.Option

  let syntax: CommandSyntax
  let summary: String
  /// Whether another process that has the account's store can carry it out: it asks for nothing, and writes no files.
  let isHandedOver: Bool
  /// What it takes from standard input, which the other process does not have; nil if nothing.
  let input: (@Sendable (TerminalCall) throws -> String?)?
  let run: @Sendable (TerminalCall) async throws -> Void

  init(
    _ name: String, _ operands: [String] = [], options: [Option] = [], choosesAccount: Bool = true, isHandedOver: Bool = false,
    input: (@Sendable (TerminalCall) throws -> String?)? = nil, _ summary: String,
    _ run: @escaping @Sendable (TerminalCall) async throws -> Void
  ) {
    let account = choosesAccount ? [Option(name: "--account", value: "USER")] : []
    syntax = CommandSyntax(
      words: name.split(separator: " ").map(String.init), operands: operands,
      options: options + account + [Option(name: "--json")], takesSettings: false)
    self.summary = summary
    self.isHandedOver = isHandedOver
    self.input = input
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
      let call = TerminalCall(try CommandArguments(words, for: syntax))
      if isHandedOver, let folder = try? call.folder() { return try await handOver(words, call, folder) }
      try await run(call)
      return .success
    } catch {
      let error = TerminalError(any: error)
      ProgressBar.clear()
      LogSink.standardError(Array(error.text(isJSON: words.contains("--json")).utf8))
      return error.status
    }
  }

  /// Has the process that has the account's store carry it out; without one this process takes the store.
  private func handOver(_ words: [String], _ call: TerminalCall, _ folder: AccountFolder) async throws -> ExitStatus {
    let order = HandedOver(words: syntax.words + words, folder: Surroundings.currentFolder, input: try input?(call))
    switch try await order.carryOut(for: folder) {
    case .carriedOut(let status): return status
    case .storeIsFree(let lock): try await run(TerminalCall(call.arguments, in: Surroundings(order, lock)))
    case .refused: try await run(TerminalCall(call.arguments, in: Surroundings(order)))
    }
    return .success
  }
}
