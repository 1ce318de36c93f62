import Database
import MatrixModel
import ServerCore
import Synchronization

/// The snapshots of rooms in RAM: what is committed, and what the write batch in progress has staged on top of it.
///
/// Readers see committed snapshots only. A command sees the newest, staged ones included, because it runs after the
/// commands that staged them in the same order of commits.
package final class RoomCache: Sendable {
  private struct State {
    var committed: [RoomID: RoomSnapshot] = [:]
    var staged: [RoomID: RoomSnapshot] = [:]
    var roomIDs: [RoomNumber: RoomID] = [:]
    /// Deleted rooms, which the commands that follow in the batch must not find.
    var stagedRemovals: Set<RoomID> = []
    /// Deleted rooms: who still reads rows from before must not bring them back. Their numbers are never used again.
    var removed: Set<RoomNumber> = []
  }

  private let state = Mutex(State())

  /// The room as of the last commit, nil where there is no such room.
  package func snapshot(of roomID: RoomID, in transaction: ReadTransaction) throws -> RoomSnapshot? {
    if let cached = cachedSnapshot(of: roomID) { return cached }
    guard let loaded = try RoomLoader(transaction: transaction).snapshot(of: roomID) else { return nil }
    return insert(loaded)
  }

  /// The room as of the last commit, nil where there is no such room.
  package func snapshot(of number: RoomNumber, in transaction: ReadTransaction) throws -> RoomSnapshot? {
    if let roomID = state.withLock({ $0.roomIDs[number] }) { return try snapshot(of: roomID, in: transaction) }
    guard let loaded = try RoomLoader(transaction: transaction).snapshot(of: number) else { return nil }
    return insert(loaded)
  }

  /// The room if it is in RAM.
  package func cachedSnapshot(of roomID: RoomID) -> RoomSnapshot? {
    state.withLock { $0.committed[roomID] }
  }

  /// The room if it is in RAM.
  package func cachedSnapshot(of number: RoomNumber) -> RoomSnapshot? {
    state.withLock { state in state.roomIDs[number].flatMap { state.committed[$0] } }
  }

  /// The room as the next command must see it.
  package func newest(_ roomID: RoomID, in transaction: WriteTransaction) throws -> RoomSnapshot? {
    let (staged, isRemoved) = state.withLock { ($0.staged[roomID], $0.stagedRemovals.contains(roomID)) }
    if let staged { return staged }
    if isRemoved { return nil }
    return try snapshot(of: roomID, in: transaction)
  }

  /// Shows `room` to the commands that follow in this batch and, once it is durable, to everyone.
  func stage(_ room: RoomSnapshot, in transaction: WriteTransaction) {
    let previous = state.withLock { state in
      let previous = state.staged[room.roomID]
      state.staged[room.roomID] = room
      return previous
    }
    transaction.onRollback { self.state.withLock { $0.staged[room.roomID] = previous } }
    transaction.afterCommit {
      self.state.withLock { state in
        state.committed[room.roomID] = room
        state.roomIDs[room.number] = room.roomID
        if state.staged[room.roomID]?.position == room.position { state.staged[room.roomID] = nil }
      }
    }
  }

  /// Makes a deleted room unknown: at once to the commands that follow in this batch, with the commit to everyone.
  func remove(_ room: RoomSnapshot, in transaction: WriteTransaction) {
    let previous = state.withLock { state in
      state.stagedRemovals.insert(room.roomID)
      return state.staged.removeValue(forKey: room.roomID)
    }
    transaction.onRollback {
      self.state.withLock { state in
        state.stagedRemovals.remove(room.roomID)
        state.staged[room.roomID] = previous
      }
    }
    transaction.afterCommit {
      self.state.withLock { state in
        state.committed[room.roomID] = nil
        state.roomIDs[room.number] = nil
        state.stagedRemovals.remove(room.roomID)
        state.removed.insert(room.number)
      }
    }
  }

  /// Keeps what a reader loaded unless a commit has published something newer meanwhile.
  private func insert(_ loaded: RoomSnapshot) -> RoomSnapshot {
    state.withLock { state in
      if state.removed.contains(loaded.number) { return loaded }
      if let existing = state.committed[loaded.roomID], existing.position >= loaded.position { return existing }
      state.committed[loaded.roomID] = loaded
      state.roomIDs[loaded.number] = loaded.roomID
      return loaded
    }
  }
}
