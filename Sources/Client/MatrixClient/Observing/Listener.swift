import ClientCore
import Synchronization

/// Somebody who follows the changes of a client.
struct Listener: Sendable {
  let take: @Sendable (Change, isolated MatrixClient) -> Void
  let finish: @Sendable () -> Void
}

/// What a listener remembers from one change to the next.
final class Memory<Value: Sendable>: Sendable {
  private let value: Mutex<Value>

  init(_ value: Value) { self.value = Mutex(value) }

  func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { value.withLock { body(&$0) } }
}
