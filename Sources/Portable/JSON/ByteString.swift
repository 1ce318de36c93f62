/// Text that is equal, ordered and hashed by its UTF-8 bytes.
///
/// Matrix identifiers and JSON keys are bytes: Swift's `String ==` is canonical equivalence (two spellings of `é` are one
/// string), which is wrong for both, and links the Unicode tables into the page's program.
public struct ByteString: Sendable {
  public let string: String

  public init(_ string: String) {
    self.string = string
  }

  /// Decodes UTF-8; ill-formed parts become U+FFFD.
  public init(decoding bytes: some Collection<UInt8>) {
    string = String(decoding: bytes, as: UTF8.self)
  }

  public var utf8: String.UTF8View { string.utf8 }

  /// Length in bytes.
  public var count: Int { string.utf8.count }

  public var isEmpty: Bool { string.utf8.isEmpty }

  /// The bytes in place, for the time of the call.
  @inlinable
  public func withBytes<R, E: Error>(_ body: (UnsafeBufferPointer<UInt8>) throws(E) -> R) throws(E) -> R {
    var copy = string
    var result: Result<R, E>?
    copy.withUTF8 { bytes in
      do throws(E) { result = .success(try body(bytes)) } catch { result = .failure(error) }
    }
    guard let result else { preconditionFailure("withUTF8 runs its closure") }
    return try result.get()
  }

  public func hasPrefix(_ prefix: StaticString) -> Bool {
    withBytes { bytes in
      bytes.count >= prefix.utf8CodeUnitCount && equal(bytes.baseAddress, prefix.utf8Start, prefix.utf8CodeUnitCount)
    }
  }
}

extension ByteString: Equatable {
  public static func == (left: ByteString, right: ByteString) -> Bool {
    left.withBytes { a in
      right.withBytes { b in a.count == b.count && equal(a.baseAddress, b.baseAddress, a.count) }
    }
  }

  @_disfavoredOverload
  public static func == (left: ByteString, right: StaticString) -> Bool {
    left.withBytes { a in
      a.count == right.utf8CodeUnitCount && equal(a.baseAddress, right.utf8Start, a.count)
    }
  }
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
  public init(stringLiteral value: String) {
    string = value
  }
}

extension ByteString: CustomStringConvertible {
  public var description: String { string }
}

@inline(__always)
func equal(_ a: UnsafePointer<UInt8>?, _ b: UnsafePointer<UInt8>?, _ count: Int) -> Bool {
  guard count > 0, let a, let b else { return count == 0 }
  var i = 0
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
