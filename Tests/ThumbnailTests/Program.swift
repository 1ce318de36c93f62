import Glibc

/// One run of the built program, with the given bytes on stdin.
struct Program {
  /// nil: ended by a signal.
  let exitCode: Int32?
  let output: [UInt8]
  let errors: String

  /// `variables` are set beside the environment of the tests. `observe` sees the process once it has all of its input but for the end; with more input than a pipe holds (64 KiB) it
  /// is reading by then.
  static func run(
    _ arguments: [String], input: [UInt8], variables: [String] = [], observe: (pid_t) -> Void = { _ in }
  ) -> Program {
    signal(SIGPIPE, SIG_IGN)
    let stdin = Pipe()
    let stdout = Pipe()
    let stderr = Pipe()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (descriptor, target) in [(stdin.reader, 0), (stdout.writer, 1), (stderr.writer, 2)] {
      posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(target))
    }
    let strings = ([path] + arguments).map { strdup($0) }
    defer { for string in strings { free(string) } }
    var process = pid_t()
    let added = variables.map { strdup($0) }
    defer { for variable in added { free(variable) } }
    var environment = added
    var next = environ
    while let variable = next.pointee {
      environment.append(variable)
      next += 1
    }
    let spawned = posix_spawn(&process, path, &actions, nil, strings + [nil], environment + [nil])
    precondition(spawned == 0, "\(path) is not built")
    for descriptor in [stdin.reader, stdout.writer, stderr.writer] { close(descriptor) }
    let (output, errors) = exchange(
      input, stdin: stdin.writer, stdout: stdout.reader, stderr: stderr.reader, beforeEnd: { observe(process) })
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 && errno == EINTR {}
    return Program(
      exitCode: status & 0x7F == 0 ? status >> 8 & 0xFF : nil, output: output,
      errors: String(decoding: errors, as: UTF8.self))
  }

  /// The header line's words and what follows it.
  var answer: (words: [String], body: [UInt8]) {
    let line = output.prefix { $0 != 0x0A }
    return (
      String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init), Array(output[(line.count + 1)...])
    )
  }

  /// The program lies beside the test bundle.
  private static let path: String = {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = buffer.withUnsafeMutableBytes {
      readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
    }
    let own = String(decoding: buffer[..<max(0, count)], as: UTF8.self)
    return own[...(own.lastIndex(of: "/") ?? own.startIndex)] + "martlet-thumbnail"
  }()

  private static func exchange(
    _ input: [UInt8], stdin: Int32, stdout: Int32, stderr: Int32, beforeEnd: () -> Void
  ) -> (output: [UInt8], errors: [UInt8]) {
    var collected: [Int32: [UInt8]] = [stdout: [], stderr: []]
    var readers = [stdout, stderr]
    var rest = input[...]
    var isWriting = true
    _ = fcntl(stdin, F_SETFL, O_NONBLOCK)
    while isWriting || !readers.isEmpty {
      if isWriting {
        let count = rest.withUnsafeBytes { write(stdin, $0.baseAddress, $0.count) }
        if count > 0 { rest = rest.dropFirst(count) }
        if rest.isEmpty || (count < 0 && errno == EPIPE) {
          beforeEnd()
          close(stdin)
          isWriting = false
        }
      }
      var polled = readers.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      if isWriting { polled.append(pollfd(fd: stdin, events: Int16(POLLOUT), revents: 0)) }
      poll(&polled, nfds_t(polled.count), -1)
      for entry in polled where entry.fd != stdin && entry.revents != 0 {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = read(entry.fd, &chunk, chunk.count)
        if count > 0 {
          collected[entry.fd]! += chunk[..<count]
        } else {
          close(entry.fd)
          readers.removeAll { $0 == entry.fd }
        }
      }
    }
    return (collected[stdout]!, collected[stderr]!)
  }
}

private struct Pipe {
  let reader: Int32
  let writer: Int32

  /// Closed in children, but for the ends they are given by `dup2`.
  init() {
    var ends: [Int32] = [0, 0]
    let result = pipe(&ends)
    precondition(result == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (reader, writer) = (ends[0], ends[1])
  }
}
