/// Text as its UTF-8 bytes: equal, ordered and hashed by them.
///
/// Matrix identifiers and JSON keys are bytes: Swift's `String ==` is canonical equivalence (two spellings of `é` are one
/// string), which is wrong for both, and links the Unicode tables into the page's program. One array is also a third of
/// the words of a `String` in wasm, and copying it a single retain.
public struct ByteString: Sendable {
  /// Well-formed.
  public let utf8: [UInt8]

  public init(_ string: String) {
    utf8 = Array(string.utf8)
  }

  /// Ill-formed parts become U+FFFD.
  public init(decoding bytes: some Collection<UInt8>) {
    self.init(mending: Array(bytes))
  }

  /// Ill-formed parts become U+FFFD. Copies nothing if there are none.
  public init(decoding bytes: [UInt8]) {
    self.init(mending: bytes)
  }

  /// For bytes that were checked before.
  init(checked bytes: [UInt8]) {
    utf8 = bytes
  }

  private init(mending bytes: [UInt8]) {
    utf8 = UTF8Sequence.isWellFormed(bytes) ? bytes : Array(String(decoding: bytes, as: UTF8.self).utf8)
  }

  /// O(bytes).
  public var string: String { String(decoding: utf8, as: UTF8.self) }

  /// Length in bytes.
  public var count: Int { utf8.count }

  public var isEmpty: Bool { utf8.isEmpty }

  /// The bytes in place, for the time of the call.
  @inlinable
  public func withBytes<R, E: Error>(_ body: (UnsafeBufferPointer<UInt8>) throws(E) -> R) throws(E) -> R {
    try utf8.withUnsafeBufferPointer(body)
  }

  public func hasPrefix(_ prefix: StaticString) -> Bool {
    withBytes { bytes in
      bytes.count >= prefix.utf8CodeUnitCount && equal(bytes.baseAddress, prefix.utf8Start, prefix.utf8CodeUnitCount)
    }
  }
}

extension ByteString: Equatable {
  @_disfavoredOverload
  public static func == (left: ByteString, right: ByteString) -> Bool {
    left.withBytes { a in
      right.withBytes { b in a.count == b.count && equal(a.baseAddress, b.baseAddress, a.count) }
    }
  }

  /// Makes no text of the literal.
  public static func == (left: ByteString, right: StaticString) -> Bool {
    left.withBytes { a in
      a.count == right.utf8CodeUnitCount && equal(a.baseAddress, right.utf8Start, a.count)
    }
  }

  public static func ~= (pattern: StaticString, value: ByteString) -> Bool { value == pattern }
}

extension ByteString: Hashable {
  public func hash(into hasher: inout Hasher) {
    withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    hasher.combine(0xFF as UInt8)
  }
}

extension ByteString: Comparable {
  /// UTF-8 order, which is Unicode code point order.
  public static func < (left: ByteString, right: ByteString) -> Bool {
    left.withBytes { a in right.withBytes { b in compare(a, b) < 0 } }
  }
}

extension ByteString: ExpressibleByStringLiteral {
  public init(stringLiteral value: StaticString) {
    utf8 = Array(UnsafeBufferPointer(start: value.utf8Start, count: value.utf8CodeUnitCount))
  }
}

extension ByteString: CustomStringConvertible {
  public var description: String { string }
}

// Every comparison of texts ends here: where the program's size counts, by a call.
#if arch(wasm32)
  @inline(never)
#else
  @inline(__always)
#endif
func equal(_ a: UnsafePointer<UInt8>?, _ b: UnsafePointer<UInt8>?, _ count: Int) -> Bool {
  guard count > 0, let a, let b else { return count == 0 }
  var i = 0
  while i &+ 8 <= count {
    let left = UnsafeRawPointer(a + i).loadUnaligned(as: UInt64.self)
    if left != UnsafeRawPointer(b + i).loadUnaligned(as: UInt64.self) { return false }
    i &+= 8
  }
  while i < count {
    if a[i] != b[i] { return false }
    i &+= 1
  }
  return true
}

/// Negative, zero or positive as `a` sorts before, with or after `b`.
@inline(__always)
func compare(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Int {
  let shared = min(a.count, b.count)
  var i = 0
  while i < shared {
    if a[i] != b[i] { return a[i] < b[i] ? -1 : 1 }
    i &+= 1
  }
  return a.count == b.count ? 0 : (a.count < b.count ? -1 : 1)
}
