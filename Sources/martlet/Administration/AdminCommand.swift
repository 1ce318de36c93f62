import Glibc
import JSON
import MatrixModel
import Shell

/// One of the operator's subcommands. `AdminCommand.all` is the only list: the help text and the parser come from it.
struct AdminCommand: Sendable {
  typealias Option = CommandSyntax.Option

  let syntax: CommandSyntax
  let summary: String
  /// What is about to happen, as a question; nil where nothing can be lost.
  var question: (@Sendable (CommandArguments) -> String)?
  let run: @Sendable (AdminCall) async throws -> Void

  init(
    _ name: String, _ operands: [String] = [], options: [Option] = [], _ summary: String,
    asks question: (@Sendable (CommandArguments) -> String)? = nil, _ run: @escaping @Sendable (AdminCall) async throws -> Void
  ) {
    syntax = CommandSyntax(
      words: name.split(separator: " ").map(String.init), operands: operands,
      options: options + [Option(name: "--json"), Option(name: "--yes", isListed: question != nil)], takesSettings: true)
    self.summary = summary
    self.question = question
    self.run = run
  }

  static let all = users + access + rooms + media + tokens + inviteLinks + reports + notices + callKeys + server

  /// The part of the help text that lists them.
  static func help() -> String {
    all.map { "  martlet \($0.syntax.usage)\n      \($0.summary)\n" }.joined()
  }

  /// The command that a command line names, and what follows its name.
  static func named(by words: [String]) -> (command: AdminCommand, rest: [String])? {
    for command in all where words.starts(with: command.syntax.words) {
      return (command, Array(words.dropFirst(command.syntax.words.count)))
    }
    return nil
  }

  func perform(_ words: [String]) async -> ExitStatus {
    do {
      let arguments = try CommandArguments(words, for: syntax)
      let loaded = try ConfigurationLoader.load(flags: arguments.settings, environment: processEnvironment())
      if let question, !arguments.isConfirmed { try Self.confirm(question(arguments)) }
      let connection = try await AdminConnection.open(loaded)
      do {
        try await run(AdminCall(arguments: arguments, connection: connection))
      } catch {
        await connection.close()
        throw error
      }
      await connection.close()
      return .success
    } catch let error as UsageError {
      Program.complain(error.description)
      return .usage
    } catch let error as ConfigurationError {
      return Program.complain(error)
    } catch let error as MatrixError {
      Program.complain(error.message.isEmpty ? error.code.description : error.message)
      return .failure
    } catch {
      Program.complain("\(error)")
      return .failure
    }
  }

  /// Throws `UsageError` without a terminal, `failed` if the answer is no.
  private static func confirm(_ question: String) throws {
    guard isatty(STDIN_FILENO) == 1 else {
      throw UsageError("this cannot be undone; add --yes to confirm: \(question)")
    }
    StandardOutput.write("\(question) [y/N] ")
    guard let answer = readLine(), answer == "y" || answer == "yes" else { throw StartError.failed("nothing was done") }
  }
}
