/// A secret that no log line, interpolation, dump or debugger summary shows.
///
/// Passwords, access tokens, keys and message bodies travel in it where a stray `"\(value)"` could otherwise leak them. Only
/// `reveal()` gives the value back, so that a search for that word finds each place which reads a secret.
package struct Redacted<Value: Sendable>: Sendable {
  private let value: Value

  package init(_ value: Value) { self.value = value }

  /// The secret itself, for the one place that needs it. Never pass the result to a log.
  package func reveal() -> Value { value }
}

extension Redacted: Equatable where Value: Equatable {}
extension Redacted: Hashable where Value: Hashable {}

extension Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "[redacted]" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
