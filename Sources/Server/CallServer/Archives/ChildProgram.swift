import CLinux
import Glibc

/// A program of the system that works in a folder, at the lowest priority, for a limited time. Blocks.
struct ChildProgram {
  /// Where the program lies, among the folders of `PATH`; nil where it is not installed.
  static func find(_ name: String) -> String? {
    let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    return path.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
  }

  enum End: Equatable {
    case exit(Int32)
    /// It was killed: its time was over, or nobody wants it any more.
    case killed
  }

  /// Of addresses; many threads take many of them.
  private static let memoryBytes: UInt64 = 8 << 30

  let path: String
  let arguments: [String]
  let folder: String
  let timeLimitSeconds: Int64
  /// Of all its threads; nil for twice the time.
  var processorLimitSeconds: Int64?

  /// Runs it to its end.
  ///
  /// - Parameters:
  ///   - isWanted: asked several times a second.
  ///   - line: takes each line of its output.
  /// - Throws: where it does not begin.
  func run(isWanted: () -> Bool, line: (Substring) -> Void) throws(ArchiveFileError) -> End {
    var ends: [Int32] = [0, 0]
    guard clinux_pipe(&ends) == 0 else { throw ArchiveFileError("pipe") }
    defer { close(ends[0]) }
    let child = try spawn(output: ends[1])
    // It may have ended already.
    _ = clinux_restrain(child, Self.memoryBytes, UInt64(processorLimitSeconds ?? 2 * timeLimitSeconds))
    let isKilled = !read(ends[0], isWanted, line)
    if isKilled { kill(child, SIGKILL) }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    if isKilled || status & 0x7F != 0 { return .killed }
    return .exit((status >> 8) & 0xFF)
  }

  private func spawn(output: Int32) throws(ArchiveFileError) -> pid_t {
    defer { close(output) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    clinux_spawn_in_folder(&actions, folder)
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var argv = ([path] + arguments).map { strdup($0) } + [nil]
    defer { for argument in argv { free(argument) } }
    var environment: [UnsafeMutablePointer<CChar>?] = [nil]
    var child = pid_t()
    let result = posix_spawn(&child, path, &actions, nil, &argv, &environment)
    guard result == 0 else { throw ArchiveFileError(path, code: result) }
    return child
  }

  /// False where it has to end before its output does.
  private func read(_ descriptor: Int32, _ isWanted: () -> Bool, _ line: (Substring) -> Void) -> Bool {
    var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    var buffer = [UInt8](repeating: 0, count: 4_096)
    var text = ""
    var began = timespec()
    clock_gettime(CLOCK_MONOTONIC, &began)
    while isWanted() {
      var now = timespec()
      clock_gettime(CLOCK_MONOTONIC, &now)
      guard Int64(now.tv_sec - began.tv_sec) < timeLimitSeconds else { return false }
      guard poll(&poller, 1, 200) > 0 else { continue }
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return true }
      text += String(decoding: buffer[..<count], as: UTF8.self)
      while let end = text.firstIndex(of: "\n") {
        line(text[..<end])
        text.removeSubrange(...end)
      }
      // Nobody reads so long a line.
      if text.utf8.count > 1 << 16 { text = "" }
    }
    return false
  }
}
