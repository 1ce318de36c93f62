import CLinux
import Glibc

/// A program of the system that works in a folder, at the lowest priority, for a limited time. As far as the system can see to it, it reads nothing but what
/// lies there and programs need, writes what it was given, and reaches neither the network nor another process. Blocks.
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
  /// Files of the folder that it may write. They are there already.
  var writable: [String] = []
  let timeLimitSeconds: Int64
  /// Of all its threads; nil for twice the time.
  var processorLimitSeconds: Int64?

  /// What this system does not keep a program from; nil where it does all.
  static let lack: String? = {
    let means = UInt32(bitPattern: confined_means())
    let lacking = [
      (CONFINED_FILES.rawValue, "files of the server's user (Landlock)"),
      (CONFINED_CALLS.rawValue, "the network and other processes of the server's user (seccomp)")
    ].filter { means & $0.0 == 0 }
    return lacking.isEmpty ? nil : lacking.map(\.1).joined(separator: ", ")
  }()

  /// Runs it to its end.
  ///
  /// - Parameters:
  ///   - isWanted: asked several times a second.
  ///   - line: takes each line of its output.
  /// - Throws: where it does not begin.
  func run(isWanted: () -> Bool, line: (Substring) -> Void) throws(RecordingFileError) -> End {
    var ends: [Int32] = [0, 0]
    guard clinux_pipe(&ends) == 0 else { throw RecordingFileError("pipe") }
    defer { close(ends[0]) }
    let child = try spawn(output: ends[1])
    let isKilled = !read(ends[0], isWanted, line)
    if isKilled { kill(child, SIGKILL) }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    if isKilled || status & 0x7F != 0 { return .killed }
    return .exit((status >> 8) & 0xFF)
  }

  private func spawn(output: Int32) throws(RecordingFileError) -> pid_t {
    defer { close(output) }
    let argv = ([path] + arguments).map { strdup($0) } + [nil]
    let written = writable.map { strdup($0) } + [nil]
    defer { for text in argv + written { free(text) } }
    let names = written.map { UnsafePointer($0) }
    var child: Int32 = 0
    let result = path.withCString { path in
      folder.withCString { folder in
        argv.withUnsafeBufferPointer { argv in
          names.withUnsafeBufferPointer { names in
            var description = confined_child(
              program: path, arguments: argv.baseAddress, folder: folder, writable: names.baseAddress, output: output,
              memory_bytes: Self.memoryBytes, cpu_seconds: UInt64(processorLimitSeconds ?? 2 * timeLimitSeconds))
            return confined_spawn(&description, &child)
          }
        }
      }
    }
    guard result == 0 else { throw RecordingFileError(path, code: result) }
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
