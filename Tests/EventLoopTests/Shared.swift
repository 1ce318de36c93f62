import Synchronization

/// A value several threads change, for a test to look at.
final class Shared<Value: Sendable>: Sendable {
  private let value: Mutex<Value>

  init(_ value: Value) { self.value = Mutex(value) }

  var current: Value { value.withLock { $0 } }

  func change(_ body: @Sendable (inout Value) -> Void) {
    value.withLock { value in
      var copy = value
      body(&copy)
      value = copy
    }
  }
}
