/// The types of columns and of parameters: `INTEGER`, `TEXT` and `BLOB` of the schema.
@usableFromInline package enum SQLType: Sendable { case integer, text, blob }

/// A value that can stand for `$n` in a statement. Identifier types conform by binding their bytes as text:
///
///     extension RoomID: SQLParameter {
///       package static var sqlType: SQLType { .text }
///       package func bind(to binder: inout SQLBinder) { binder.text(bytes.span.bytes) }
///     }
@usableFromInline package protocol SQLParameter {
  /// What `bind` binds, NULL aside. A database server has to know before it sees a value.
  static var sqlType: SQLType { get }

  /// Calls exactly one method of `binder`, once.
  func bind(to binder: inout SQLBinder)
}

extension Int64: SQLParameter {
  @usableFromInline package static var sqlType: SQLType { .integer }
  @inlinable package func bind(to binder: inout SQLBinder) { binder.integer(self) }
}

extension Int: SQLParameter {
  @usableFromInline package static var sqlType: SQLType { .integer }
  @inlinable package func bind(to binder: inout SQLBinder) { binder.integer(Int64(self)) }
}

/// Stored as 0 or 1.
extension Bool: SQLParameter {
  @usableFromInline package static var sqlType: SQLType { .integer }
  @inlinable package func bind(to binder: inout SQLBinder) { binder.integer(self ? 1 : 0) }
}

/// Text, as its UTF-8 bytes without normalization.
extension String: SQLParameter {
  @usableFromInline package static var sqlType: SQLType { .text }
  @inlinable package func bind(to binder: inout SQLBinder) {
    var copy = self
    copy.withUTF8 { binder.text(UnsafeRawBufferPointer($0)) }
  }
}

/// A blob. For text held as bytes, see `TextBytes`.
extension Array: SQLParameter where Element == UInt8 {
  @usableFromInline package static var sqlType: SQLType { .blob }
  @inlinable package func bind(to binder: inout SQLBinder) { withUnsafeBytes { binder.blob($0) } }
}

/// A blob.
extension ArraySlice: SQLParameter where Element == UInt8 {
  @usableFromInline package static var sqlType: SQLType { .blob }
  @inlinable package func bind(to binder: inout SQLBinder) { withUnsafeBytes { binder.blob($0) } }
}

/// nil is NULL.
extension Optional: SQLParameter where Wrapped: SQLParameter {
  @usableFromInline package static var sqlType: SQLType { Wrapped.sqlType }
  @inlinable package func bind(to binder: inout SQLBinder) {
    switch self {
    case .some(let value): value.bind(to: &binder)
    case .none: binder.null(Wrapped.sqlType)
    }
  }
}

/// Text held as UTF-8 bytes: bound as text, where `[UInt8]` alone would be a blob (and a blob never equals a text).
@usableFromInline package struct TextBytes: SQLParameter, Sendable {
  @usableFromInline package static var sqlType: SQLType { .text }
  @usableFromInline package let bytes: [UInt8]
  @inlinable package init(_ bytes: [UInt8]) { self.bytes = bytes }
  @inlinable package func bind(to binder: inout SQLBinder) { bytes.withUnsafeBytes { binder.text($0) } }
}
