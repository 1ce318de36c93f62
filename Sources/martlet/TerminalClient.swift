import Glibc
import Shell

/// The terminal client is a program of its own, `martlet-terminal`, in the same folder: the server does not link a client.
enum TerminalClient {
  /// The subcommands that it takes over.
  static let commands: Set<String> = ["login", "logout", "rooms", "send", "read", "export"]

  private static let program = "martlet-terminal"

  /// Replaces this process by the terminal client's own help, if it is there.
  static func help() -> ExitStatus {
    guard ProgramFolder.file(program) == nil else { return replaceProcess(arguments: ["help"]) }
    StandardOutput.write("A client for any Matrix homeserver: \(program), which is not beside this program yet.\n")
    return .success
  }

  /// Replaces this process by the terminal client. Returns only if that cannot be started.
  static func replaceProcess(arguments: [String]) -> ExitStatus {
    guard let path = ProgramFolder.file(program) else {
      Program.complain(
        """
        the terminal client, \(program), is not beside this program. ./run builds it behind the running server; \
        swift build -c release --product \(program) builds it now
        """)
      return .unavailable
    }
    var words = ([path] + arguments).map { strdup($0) }
    defer { words.forEach { free($0) } }
    words.append(nil)
    execv(path, words)
    Program.complain("\(path) cannot be started: \(String(cString: strerror(errno)))")
    return .unavailable
  }
}
