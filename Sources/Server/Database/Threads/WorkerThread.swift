import Glibc

/// A thread of our own: what it runs may block on the disk, which tasks must not.
struct WorkerThread: Sendable {
  private let thread: pthread_t

  init(_ body: @escaping @Sendable () -> Void) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    // The system's usual size: jobs run rules of the domain, in debug builds too. Only what is touched becomes memory.
    pthread_attr_setstacksize(&attributes, 8 << 20)
    var thread = pthread_t()
    let result = pthread_create(
      &thread, &attributes,
      { argument in
        if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body() }
        return nil
      }, Unmanaged.passRetained(Box(body)).toOpaque())
    precondition(result == 0, "the system refuses another thread (\(result))")
    self.thread = thread
  }

  /// Waits until the thread has ended; from the thread itself, lets it end alone.
  func join() {
    if pthread_equal(pthread_self(), thread) != 0 { pthread_detach(thread) } else { pthread_join(thread, nil) }
  }

  private final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
