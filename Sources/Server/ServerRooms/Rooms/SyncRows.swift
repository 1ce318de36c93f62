import Database

/// Where a sync reads from: memory, and rows where there is a transaction.
///
/// An answer is first put together from memory alone; what is not there throws `NotInMemory`, and the answer is put
/// together once more inside a read transaction. Nearly all answers need none.
package struct SyncRows {
  package struct NotInMemory: Error {}

  private let reading: ReadTransaction?
  /// The rows hold at least everything up to this position: the committed one before the transaction began.
  package let completeUpTo: Int64

  package static var none: SyncRows { SyncRows(nil, completeUpTo: 0) }

  package init(_ transaction: ReadTransaction?, completeUpTo: Int64) {
    reading = transaction
    self.completeUpTo = completeUpTo
  }

  /// Throws `NotInMemory` outside a read transaction.
  package func transaction() throws(NotInMemory) -> ReadTransaction {
    guard let reading else { throw NotInMemory() }
    return reading
  }

  package func loader() throws(NotInMemory) -> RoomLoader { RoomLoader(transaction: try transaction()) }
}
