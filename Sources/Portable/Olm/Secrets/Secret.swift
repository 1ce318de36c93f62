import CPrimitives

/// Bytes that only their holder may see. They lie in one place, have no description, and are overwritten when the last holder
/// releases them.
///
/// It is `@unchecked` because of the pointer. The bytes are written only while the object is made.
package final class Secret: @unchecked Sendable {
  package let count: Int
  let start: UnsafeMutablePointer<UInt8>

  /// Gives `fill` zeroed bytes to write.
  init(count: Int, fill: (UnsafeMutablePointer<UInt8>) -> Void) {
    self.count = count
    start = .allocate(capacity: max(count, 1))
    start.initialize(repeating: 0, count: max(count, 1))
    fill(start)
  }

  /// Copies the bytes. The caller's own stay where they are.
  package convenience init(_ bytes: [UInt8]) { self.init(bytes[...]) }

  convenience init(_ bytes: ArraySlice<UInt8>) {
    self.init(count: bytes.count) { start in
      for (offset, byte) in bytes.enumerated() { start[offset] = byte }
    }
  }

  convenience init(joining parts: [Secret]) {
    self.init(count: parts.reduce(0) { $0 + $1.count }) { start in
      var next = start
      for part in parts {
        next.update(from: part.start, count: part.count)
        next += part.count
      }
    }
  }

  deinit {
    primitives_wipe(start, count)
    start.deallocate()
  }

  /// The range lies within the bytes.
  func part(_ range: Range<Int>) -> Secret {
    Secret(count: range.count) { [self] in $0.update(from: start + range.lowerBound, count: range.count) }
  }

  /// Returns a copy for bytes that have to leave, such as a room key for an encrypted message or a key that the user writes down.
  package func exposed() -> [UInt8] { [UInt8](UnsafeBufferPointer(start: start, count: count)) }

  /// Compares in the same time whether or not the bytes differ.
  package func isEqual(to other: Secret) -> Bool {
    count == other.count && primitives_equal(start, other.start, count) == 1
  }
}
