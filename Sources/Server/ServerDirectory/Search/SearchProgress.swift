import Database
import MatrixModel
import ServerCore
import ServerRooms
import Synchronization

/// Decides when events are indexed: many at once behind the sends, the rest before a search, and old ones in the background.
///
/// Indexing each event in its own commit would cost the send path more than everything else that search does.
package final class SearchProgress: Sendable {
  package struct Limits: Sendable {
    /// The number of events in a step, which holds up the writer for about ten milliseconds. Each step is a segment of the index that is merged
    /// with others later, so smaller steps cost more for each event.
    package var stepEvents = 1_024
    /// The number of steps that a search waits for: about a second. An older data folder can have millions of events to index.
    package var stepsBeforeSearch = 64
    /// The time between two steps of the background pass, in which sends have the writer for themselves.
    package var pause = Duration.milliseconds(20)

    package init() {}
  }

  /// Events that wait until indexing starts by itself.
  static let waitingLimit = 1_024

  private let database: Database
  private let limits: Limits
  private let waiting = Atomic<Int>(0)
  private let isRunning = Atomic<Bool>(false)
  /// Of the newest event of this process.
  private let newest = Atomic<Int64>(0)
  /// Everything up to it is in the index; -1 while that is not known.
  private let reached = Atomic<Int64>(-1)

  package init(database: Database, limits: Limits = Limits()) {
    self.database = database
    self.limits = limits
  }

  /// Indexes what an earlier process left, such as all messages of a data folder that is older than the index, with a pause after each
  /// step. The database keeps how far it came, so the next process continues there. Throws `CancellationError` if the task is cancelled.
  package func indexOldEvents() async throws {
    while try await step() { try await Task.sleep(for: limits.pause) }
  }

  /// Indexes the next events. Returns whether more wait.
  private func step() async throws -> Bool {
    try await database.write { [limits] in try SearchIndexer(transaction: $0, limits: limits).advance() }
  }

  /// Counts events that are durable.
  private func note(_ count: Int, upTo position: Int64) {
    newest.raise(to: position)
    guard waiting.wrappingAdd(count, ordering: .relaxed).newValue >= Self.waitingLimit,
      !isRunning.exchange(true, ordering: .acquiringAndReleasing)
    else { return }
    Task {
      // A server that stops refuses it; the next search continues here.
      try? await catchUp()
      isRunning.store(false, ordering: .releasing)
    }
  }

  /// Returns when every event that was durable before the call is in the index, or after `stepsBeforeSearch` steps.
  func catchUp() async throws {
    let goal = newest.load(ordering: .sequentiallyConsistent)
    guard reached.load(ordering: .sequentiallyConsistent) < goal else { return }
    waiting.store(0, ordering: .relaxed)
    for _ in 0..<limits.stepsBeforeSearch {
      guard try await step() else { return reached.raise(to: goal) }
    }
  }
}

extension SearchProgress: RoomObserver {
  package func published(_ news: Note.RoomNews) {
    if news.count > 0 { note(news.count, upTo: news.upTo) }
  }

  package func redacted(_ event: StoredEvent, in room: RoomSnapshot, _ transaction: WriteTransaction) throws {
    try SearchIndexer(transaction: transaction).forget(event, relation: event.relation)
  }
}
