/// The fields of a log line, in the order written: `["room": .text(room), "took": .duration(elapsed)]`.
package struct LogFields: Sendable, ExpressibleByDictionaryLiteral {
  /// A value of a field. `secret` exists so that a line can say that there was one.
  package enum Value: Sendable, Equatable {
    /// At most `textByteLimit` bytes are written, then `…`.
    case text(String)
    case integer(Int64)
    case number(Double)
    case bool(Bool)
    /// Written as milliseconds; the field's name gets the suffix `_ms`.
    case duration(Duration)
    /// Written as `[redacted]`.
    case secret
  }

  /// The longest text of one field, in bytes. A line with ten full fields still fits a terminal's and a collector's buffers.
  package static let textByteLimit = 1024

  package private(set) var members: [(name: StaticString, value: Value)]

  package init(dictionaryLiteral elements: (StaticString, Value)...) {
    members = elements.map { (name: $0.0, value: $0.1) }
  }

  package mutating func append(_ name: StaticString, _ value: Value) { members.append((name, value)) }
}

extension LogFields.Value {
  /// An integer of any width; what does not fit `Int64` is clamped.
  package static func integer(_ value: some BinaryInteger) -> Self { .integer(Int64(clamping: value)) }

  /// Whatever text a value describes itself with, such as an identifier.
  package static func text(_ value: some CustomStringConvertible) -> Self { .text(value.description) }

  /// A secret stays one, whatever it holds.
  package static func text<T>(_: Redacted<T>) -> Self { .secret }
}
