import Glibc

/// SIGINT and SIGTERM as a value to wait for.
package enum StopSignal {
  /// The signals' numbers, one byte each, from the handler to the waiting thread. Not sigwait(3): the main thread ends up in
  /// libdispatch, which waits there with every signal unblocked, so that a blocked signal would still end the process.
  private static let pipe: (reader: Int32, writer: Int32) = {
    var ends: [Int32] = [0, 0]
    precondition(Glibc.pipe(&ends) == 0, "no pipe for signals: \(errno)")
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }()

  /// Catches the two signals from now on, and ignores SIGPIPE. Child processes start with the default actions again.
  package static func install() {
    signal(SIGPIPE, SIG_IGN)
    // Made here, because a handler must not allocate.
    _ = pipe
    for number in [SIGINT, SIGTERM] {
      signal(number) { number in
        let before = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(StopSignal.pipe.writer, &byte, 1)
        errno = before
      }
    }
  }

  /// Suspends until the first of the two signals and returns its number. The next one then ends the process at once, for an operator who
  /// does not want to wait for open requests. May be called once.
  package static func wait() async -> Int32 {
    await withCheckedContinuation { continuation in
      OwnThread.run {
        continuation.resume(returning: next())
        _exit(128 + next())
      }
    }
  }

  private static func next() -> Int32 {
    var byte: UInt8 = 0
    while read(pipe.reader, &byte, 1) != 1 {}
    return Int32(byte)
  }
}
