import Glibc

/// SIGINT and SIGTERM as a value to wait for.
enum StopSignal {
  /// Takes the two signals away from all threads that start later, and ignores SIGPIPE. Must be the first thing the program does. Child
  /// processes inherit the mask unless they are spawned with POSIX_SPAWN_SETSIGMASK.
  static func block() {
    signal(SIGPIPE, SIG_IGN)
    var set = stopSet()
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Suspends until the first of the two signals and returns its number. The next one then ends the process at once, for an operator who
  /// does not want to wait for open requests. May be called once.
  static func wait() async -> Int32 {
    await withCheckedContinuation { continuation in
      spawnThread {
        continuation.resume(returning: next())
        _exit(128 + next())
      }
    }
  }

  private static func next() -> Int32 {
    var set = stopSet()
    var number: Int32 = 0
    while sigwait(&set, &number) != 0 {}
    return number
  }

  private static func stopSet() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGINT)
    sigaddset(&set, SIGTERM)
    return set
  }

  /// A thread of its own: sigwait(3) blocks, which the threads of Swift's pool must not.
  private static func spawnThread(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body))
    let result = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, box.toOpaque())
    precondition(result == 0, "no thread for signals: \(result)")
    pthread_detach(thread)
  }
}
