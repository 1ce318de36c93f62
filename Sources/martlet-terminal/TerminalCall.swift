import JSON
import MatrixClient
import MatrixModel
import Shell
import Transcripts

/// A subcommand under way: what it was given, which account, how it shows the answer.
struct TerminalCall: Sendable {
  let arguments: CommandArguments
  let surroundings: Surroundings

  init(_ arguments: CommandArguments, in surroundings: Surroundings = Surroundings()) {
    self.arguments = arguments
    self.surroundings = surroundings
  }

  /// The account that `--account` names by user ID or localpart; without it the only one.
  func folder() throws -> AccountFolder {
    let folders = AccountFolder.all(in: try AccountFolder.root(processEnvironment()))
    guard let name = arguments.text("--account") else {
      if folders.count == 1 { return folders[0] }
      guard folders.isEmpty else {
        throw TerminalError.usage("which account? add --account " + Self.list(folders))
      }
      throw TerminalError.notLoggedIn("nobody is logged in; log in first: martlet login @you:server")
    }
    let matches = folders.filter { $0.userID.string == name || $0.userID.text.hasLocalpart(name) }
    guard let folder = matches.first else {
      throw TerminalError.notLoggedIn("\(name) is not logged in; martlet login \(name)")
    }
    guard matches.count == 1 else { throw TerminalError.usage("\(name) may be \(Self.list(matches)); name it whole") }
    return folder
  }

  private static func list(_ folders: [AccountFolder]) -> String {
    folders.map { $0.userID.string }.joined(separator: " or ")
  }

  /// Once a sync has succeeded, calls `body`.
  func withAccount<T: Sendable>(_ body: (Account) async throws -> T) async throws -> T {
    if let account = surroundings.account { return try await body(account) }
    let account = try await Account.open(try folder(), surroundings.lock)
    do {
      try await account.client.waitForSync()
      let result = try await body(account)
      await account.close()
      return result
    } catch {
      await account.close()
      throw error
    }
  }

  // MARK: Showing

  /// One line for people, a JSON object for machines.
  func show(_ line: String, _ members: (inout JSONWriter) -> Void) {
    arguments.isJSON ? showJSON(members) : surroundings.write(HarmlessText.lines(line) + "\n")
  }

  func showJSON(_ members: (inout JSONWriter) -> Void) {
    var writer = JSONWriter()
    writer.object { members(&$0) }
    surroundings.write(String(decoding: writer.bytes, as: UTF8.self) + "\n")
  }
}

extension ByteString {
  /// Whether that stands between `@` and the colon.
  fileprivate func hasLocalpart(_ name: String) -> Bool { string.dropFirst().prefix { $0 != ":" } == name }
}
