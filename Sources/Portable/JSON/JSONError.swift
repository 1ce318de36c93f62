/// Why bytes are not JSON, or JSON is not canonical.
public struct JSONError: Error, Equatable, Sendable {
  public enum Reason: Equatable, Sendable {
    /// A byte that the grammar of RFC 8259 does not allow here, or the input ended early.
    case syntax
    /// Bytes after the value.
    case trailingBytes
    /// Ill-formed UTF-8, or a `\u` escape that is half of a surrogate pair.
    case encoding
    /// More than `JSONLimits.depth` containers inside each other.
    case tooDeep
    /// More than `JSONLimits.bytes` bytes.
    case tooLarge
    /// Valid JSON that has no canonical form: a fraction or exponent, an integer outside ±(2^53 − 1), a key twice.
    case notCanonical
  }

  public let reason: Reason
  /// Byte offset in the input where it was noticed.
  public let offset: Int

  init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}

/// What a parse accepts at most.
public struct JSONLimits: Sendable {
  /// Containers inside each other.
  public var depth: Int
  /// Bytes of input; the tape's offsets end at 2^28 − 1.
  public var bytes: Int

  public init(depth: Int = 100, bytes: Int = JSONLimits.bytesMaximum) {
    self.depth = depth
    self.bytes = min(bytes, JSONLimits.bytesMaximum)
  }

  public static let bytesMaximum = 1 << 28 - 1
  public static let standard = JSONLimits()
}
