// What becomes of a batch that is durable: by the writer itself, or, where there are other nodes, by the log and the applier.
extension Writer {
  /// Writes down for other nodes what the batch says, as its last statement.
  func log() throws(DatabaseError) {
    guard let node, transaction.position != head.position || connection.hasWritten || transaction.hasNotes else { return }
    try BatchLog.append(
      BatchLog.Entry(
        number: head.batch + 1, position: transaction.position, run: node.applier.run, notes: transaction.bytes(node.notes)),
      notifies: node.bus == nil, in: transaction)
  }

  /// - Parameter isLogged: whether the commit has a number in the log: one that has written nothing has none.
  func publish(isLogged: Bool = true) {
    guard let node else { return transaction.publish(to: &publisher, rereads: rehearsesJobs) { position.move(to: $0) } }
    let notes = transaction.takeNotes()
    guard isLogged else { return }
    node.applier.take(Applier.OwnBatch(number: head.batch, position: head.position, notes: notes))
    node.bus?.publish(String(head.batch), on: .batch)
  }

  /// Where an applier publishes, callers go on when it has.
  func answer(_ batch: Batch, _ error: DatabaseError?) {
    guard let node, error == nil else { return batch.answer(error) }
    node.applier.whenApplied(head.batch) { batch.answer(nil) }
  }
}
