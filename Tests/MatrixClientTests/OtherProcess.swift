import Glibc
import Testing

/// This program once more, with one suite and a role in the environment.
struct OtherProcess {
  private let id: pid_t

  init(_ suite: String, _ environment: [String: String]) {
    let arguments = ["/proc/self/exe", "--testing-library", "swift-testing", "--filter", suite]
    var values = environment.map { "\($0)=\($1)" }
    for name in ["PATH", "LD_LIBRARY_PATH", "HOME"] {
      if let value = Self.environment(name) { values.append("\(name)=\(value)") }
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    var id = pid_t()
    let result = Self.withStrings(arguments) { arguments in
      Self.withStrings(values) { values in
        arguments.map { posix_spawn(&id, "/proc/self/exe", &actions, nil, $0, values ?? $0) } ?? -1
      }
    }
    posix_spawn_file_actions_destroy(&actions)
    #expect(result == 0)
    self.id = id
  }

  static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  func kill() { Glibc.kill(id, SIGKILL) }

  /// The signal or the exit status.
  func wait() -> Int32 {
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0, errno == EINTR {}
    return status & 0x7F != 0 ? status & 0x7F : status >> 8
  }

  private static func withStrings<Result>(
    _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> Result
  ) -> Result {
    var pointers = strings.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    return pointers.withUnsafeMutableBufferPointer { body($0.baseAddress) }
  }
}
