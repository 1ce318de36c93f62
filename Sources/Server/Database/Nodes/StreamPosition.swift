import Synchronization

/// How far this node has applied the stream: read by all threads, moved by the one that publishes.
final class StreamPosition: Sendable {
  private let position: Atomic<Int64>
  /// Counts the commits that are applied.
  private let batch: Atomic<Int64>

  init(_ head: Connection.Head) {
    position = Atomic(head.position)
    batch = Atomic(head.batch)
  }

  /// The newest position that is durable and whose notes have been applied.
  var committed: Int64 { position.load(ordering: .acquiring) }

  var appliedBatch: Int64 { batch.load(ordering: .acquiring) }

  func move(to position: Int64) { self.position.store(position, ordering: .releasing) }

  func move(to position: Int64, batch: Int64) {
    self.batch.store(batch, ordering: .releasing)
    move(to: position)
  }
}
