/// A value that can stand for `$n` in a statement. Identifier types conform by binding their bytes as text:
///
///     extension RoomID: SQLParameter {
///       package func bind(to binder: inout SQLBinder) { binder.text(bytes.span.bytes) }
///     }
@usableFromInline package protocol SQLParameter {
  /// Calls exactly one method of `binder`, once.
  func bind(to binder: inout SQLBinder)
}

extension Int64: SQLParameter {
  @inlinable package func bind(to binder: inout SQLBinder) { binder.integer(self) }
}

extension Int: SQLParameter {
  @inlinable package func bind(to binder: inout SQLBinder) { binder.integer(Int64(self)) }
}

/// Stored as 0 or 1.
extension Bool: SQLParameter {
  @inlinable package func bind(to binder: inout SQLBinder) { binder.integer(self ? 1 : 0) }
}

/// Text, as its UTF-8 bytes without normalization.
extension String: SQLParameter {
  @inlinable package func bind(to binder: inout SQLBinder) {
    var copy = self
    copy.withUTF8 { binder.text(UnsafeRawBufferPointer($0)) }
  }
}

/// A blob. For text held as bytes, see `TextBytes`.
extension Array: SQLParameter where Element == UInt8 {
  @inlinable package func bind(to binder: inout SQLBinder) { withUnsafeBytes { binder.blob($0) } }
}

/// A blob.
extension ArraySlice: SQLParameter where Element == UInt8 {
  @inlinable package func bind(to binder: inout SQLBinder) { withUnsafeBytes { binder.blob($0) } }
}

/// nil is NULL.
extension Optional: SQLParameter where Wrapped: SQLParameter {
  @inlinable package func bind(to binder: inout SQLBinder) {
    switch self {
    case .some(let value): value.bind(to: &binder)
    case .none: binder.null()
    }
  }
}

/// Text held as UTF-8 bytes: bound as text, where `[UInt8]` alone would be a blob (and a blob never equals a text).
@usableFromInline package struct TextBytes: SQLParameter, Sendable {
  @usableFromInline package let bytes: [UInt8]
  @inlinable package init(_ bytes: [UInt8]) { self.bytes = bytes }
  @inlinable package func bind(to binder: inout SQLBinder) { bytes.withUnsafeBytes { binder.text($0) } }
}
