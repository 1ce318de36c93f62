/// A large value behind one pointer: it moves, is passed on and is released as one. A shared value is copied before it changes, so
/// that it stays a value.
///
/// For big parts of big values: without it every place that copies the whole carries code for each field.
@propertyWrapper @usableFromInline
package struct Boxed<Value: Sendable>: Sendable {
  /// Only `wrappedValue` changes its value, and only while no other box shares it.
  @usableFromInline
  final class Box: @unchecked Sendable {
    @exclusivity(unchecked) @usableFromInline var value: Value

    @inlinable
    init(_ value: Value) { self.value = value }
  }

  @usableFromInline var box: Box

  @inlinable
  package init(wrappedValue: Value) { box = Box(wrappedValue) }

  @inlinable
  package var wrappedValue: Value {
    get { box.value }
    _modify {
      if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
      yield &box.value
    }
  }

  /// The box itself, for callers that take the value as it is.
  @inlinable
  package var projectedValue: Boxed {
    get { self }
    set { self = newValue }
  }
}
