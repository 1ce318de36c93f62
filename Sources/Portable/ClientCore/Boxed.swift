/// A large value behind one pointer: it moves, is passed on and is let go as one. What others hold too is copied before it
/// changes, so that it is a value still.
///
/// For big parts of big values: without it every place that copies the whole carries code for each field. See
/// Documentation/Decisions/0011-size-of-the-page.md.
@propertyWrapper
struct Boxed<Value: Sendable>: Sendable {
  /// Only `wrappedValue` changes what is in it, and only where nobody else has it.
  private final class Box: @unchecked Sendable {
    @exclusivity(unchecked) var value: Value

    init(_ value: Value) { self.value = value }
  }

  private var box: Box

  init(wrappedValue: Value) { box = Box(wrappedValue) }

  var wrappedValue: Value {
    get { box.value }
    _modify {
      if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
      yield &box.value
    }
  }

  /// The box itself, for who takes the value as it is.
  var projectedValue: Boxed {
    get { self }
    set { self = newValue }
  }
}
