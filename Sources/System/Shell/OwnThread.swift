import Glibc

/// A thread for what blocks, such as read(2), which the threads of Swift's pool must not.
package enum OwnThread {
  private final class Box: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// Ends with `body`.
  package static func run(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body))
    let result = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, box.toOpaque())
    precondition(result == 0, "no thread can be made: \(result)")
    pthread_detach(thread)
  }
}
