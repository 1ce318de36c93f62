import Database
import JSON
import MatrixModel

// Identifiers are TEXT columns, compared by their bytes.

extension ByteString: SQLParameter {
  @usableFromInline package static var sqlType: SQLType { .text }
  @usableFromInline package func bind(to binder: inout SQLBinder) {
    withBytes { binder.text(UnsafeRawBufferPointer($0)) }
  }
}

extension SQLParameter where Self: Identifier {
  @usableFromInline package static var sqlType: SQLType { .text }
  @usableFromInline package func bind(to binder: inout SQLBinder) { text.bind(to: &binder) }
}

extension UserID: SQLParameter {}
extension RoomID: SQLParameter {}
extension RoomAlias: SQLParameter {}
extension EventID: SQLParameter {}
extension DeviceID: SQLParameter {}
extension TransactionID: SQLParameter {}
extension EventType: SQLParameter {}

extension RoomNumber: SQLParameter {
  @usableFromInline package static var sqlType: SQLType { .integer }
  @usableFromInline package func bind(to binder: inout SQLBinder) { binder.integer(value) }
}

extension Row {
  /// A column that holds an identifier which was checked when it was written.
  @inlinable package func identifier<ID: Identifier>(_ column: Int, as type: ID.Type = ID.self) -> ID {
    ID(trusted: bytes(column))
  }

  /// A text column; bytes that are not UTF-8 become U+FFFD.
  @inlinable package func bytes(_ column: Int) -> ByteString { ByteString(decoding: blob(column)) }

  /// A text column that may hold NULL.
  @inlinable package func optionalBytes(_ column: Int) -> ByteString? { isNull(column) ? nil : bytes(column) }
}
