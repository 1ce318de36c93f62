import Glibc
import Shell

/// Starts the terminal client, a separate program in the same folder: `martlet-terminal`. The server does not link a client.
enum TerminalClient {
  /// The subcommands of the terminal client.
  static let commands: Set<String> = [
    "login", "logout", "rooms", "send", "read", "export", "keys", "recovery", "encryption", "verify"
  ]

  private static let program = "martlet-terminal"

  /// Replaces this process by the help of the terminal client, if that program exists.
  static func help() -> ExitStatus {
    guard ProgramFolder.file(program) == nil else { return replaceProcess(arguments: ["help"]) }
    StandardOutput.write(
      "The terminal client \(program) works with any Matrix homeserver. It is not in the folder of this program yet.\n")
    return .success
  }

  /// Replaces this process by the terminal client. Returns only if it cannot start that.
  static func replaceProcess(arguments: [String]) -> ExitStatus {
    guard let path = ProgramFolder.file(program) else {
      Program.complain(
        """
        the terminal client \(program) is not in the folder of this program. ./run builds it while the server runs; \
        swift build -c release --product \(program) builds it now
        """)
      return .unavailable
    }
    var words = ([path] + arguments).map { strdup($0) }
    defer { words.forEach { free($0) } }
    words.append(nil)
    execv(path, words)
    Program.complain("cannot start \(path): \(String(cString: strerror(errno)))")
    return .unavailable
  }
}
