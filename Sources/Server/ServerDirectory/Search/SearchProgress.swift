import Database
import MatrixModel
import ServerRooms
import Synchronization

/// Decides when events are indexed: many at once behind the sends, and the rest before a search.
///
/// One event indexed with its own commit would cost the send path more than everything else that search does.
package final class SearchProgress: Sendable {
  /// Events that wait until indexing starts by itself.
  static let waitingLimit = 1_024

  private let database: Database
  private let waiting = Atomic<Int>(0)
  private let isRunning = Atomic<Bool>(false)
  /// Of the newest event of this process.
  private let newest = Atomic<Int64>(0)
  /// Everything up to it is in the index; -1 while that is not known.
  private let reached = Atomic<Int64>(-1)

  package init(database: Database) { self.database = database }

  /// Takes note of events that are durable.
  private func note(_ count: Int, upTo position: Int64) {
    newest.raise(to: position)
    guard waiting.wrappingAdd(count, ordering: .relaxed).newValue >= Self.waitingLimit,
      !isRunning.exchange(true, ordering: .acquiringAndReleasing)
    else { return }
    Task {
      // A server that stops refuses it; the next search goes on from here.
      try? await catchUp()
      isRunning.store(false, ordering: .releasing)
    }
  }

  /// Returns once every event that was durable before the call is in the index.
  func catchUp() async throws {
    let goal = newest.load(ordering: .sequentiallyConsistent)
    guard reached.load(ordering: .sequentiallyConsistent) < goal else { return }
    waiting.store(0, ordering: .relaxed)
    while try await database.write({ try SearchIndexer(transaction: $0).advance() }) {}
    reached.raise(to: goal)
  }
}

extension SearchProgress: RoomObserver {
  package func published(_ count: Int, upTo position: Int64) {
    if count > 0 { note(count, upTo: position) }
  }

  package func redacted(_ event: StoredEvent, in room: RoomSnapshot, _ transaction: WriteTransaction) throws {
    try SearchIndexer(transaction: transaction).forget(event, relation: event.relation)
  }
}
