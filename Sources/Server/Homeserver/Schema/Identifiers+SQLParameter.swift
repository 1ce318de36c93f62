import Database
import JSON
import MatrixModel

// Identifiers are TEXT columns, compared by their bytes.

extension ByteString: @retroactive SQLParameter {
  package func bind(to binder: inout SQLBinder) {
    withBytes { binder.text(UnsafeRawBufferPointer($0)) }
  }
}

extension SQLParameter where Self: Identifier {
  package func bind(to binder: inout SQLBinder) { text.bind(to: &binder) }
}

extension UserID: @retroactive SQLParameter {}
extension RoomID: @retroactive SQLParameter {}
extension RoomAlias: @retroactive SQLParameter {}
extension EventID: @retroactive SQLParameter {}
extension DeviceID: @retroactive SQLParameter {}
extension TransactionID: @retroactive SQLParameter {}
extension EventType: @retroactive SQLParameter {}

extension RoomNumber: SQLParameter {
  package func bind(to binder: inout SQLBinder) { binder.integer(value) }
}

extension Row {
  /// A column that holds an identifier which was checked when it was written.
  package func identifier<ID: Identifier>(_ column: Int, as type: ID.Type = ID.self) -> ID {
    ID(trusted: ByteString(text(column)))
  }
}
