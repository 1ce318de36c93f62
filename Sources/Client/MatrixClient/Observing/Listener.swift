import ClientCore
import Synchronization

/// A listener to the changes of a client.
struct Listener: Sendable {
  let take: @Sendable (Change, isolated MatrixClient) -> Void
  let finish: @Sendable () -> Void
}

/// The state that a listener keeps between changes.
final class Memory<Value: Sendable>: Sendable {
  private let value: Mutex<Value>

  init(_ value: Value) { self.value = Mutex(value) }

  func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { value.withLock { body(&$0) } }
}
