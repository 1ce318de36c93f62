import Database
import MatrixModel
import ServerCore
import Synchronization

/// The snapshots of rooms in RAM: what is committed, and what the write batch in progress has staged on top of it.
///
/// Readers see committed snapshots only. A command sees the newest, staged ones included, because it runs after the
/// commands that staged them in the same order of commits. What commands of another node did comes by notes (`Rooms+notes.swift`).
package final class RoomCache: Sendable {
  /// What commands of this node have made of a room in the batch in progress.
  struct Staged {
    private(set) var room: RoomSnapshot
    /// The new events, oldest first.
    private(set) var events: [StoredEvent] = []

    init(room: RoomSnapshot) { self.room = room }

    mutating func stage(_ room: RoomSnapshot, _ more: [StoredEvent]) {
      self.room = room
      events += more
    }

    mutating func unstage(to previous: RoomSnapshot, _ count: Int) {
      room = previous
      events.removeLast(count)
    }
  }

  private struct State {
    var committed: [RoomID: RoomSnapshot] = [:]
    var staged: [RoomID: Staged] = [:]
    /// Of committed and staged rooms.
    var roomIDs: [RoomNumber: RoomID] = [:]
    /// Rooms that are not in RAM, and up to where another node has changed them: who still reads older rows must not bring them in.
    var passed: [RoomNumber: Int64] = [:]
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
    if let staged { return staged.room }
    if isRemoved { return nil }
    return try snapshot(of: roomID, in: transaction)
  }

  /// Shows `room`, which has new events, to the commands that follow in this batch and, with the note of it, to everyone.
  func stage(_ room: RoomSnapshot, _ events: [StoredEvent], in transaction: WriteTransaction) {
    let (roomID, number) = (room.roomID, room.number)
    let previous = state.withLock { state in
      let previous = state.staged[roomID]?.room
      if previous == nil { state.roomIDs[number] = roomID }
      // In place: a batch may have hundreds of messages of one room.
      state.staged[roomID, default: Staged(room: room)].stage(room, events)
      return previous
    }
    transaction.onRollback { [count = events.count] in
      self.state.withLock { state in
        guard let previous else {
          state.staged[roomID] = nil
          // The number may be given to another room.
          if state.committed[roomID] == nil { state.roomIDs[number] = nil }
          return
        }
        state.staged[roomID]?.unstage(to: previous, count)
      }
    }
  }

  /// Shows everyone what this batch has staged of a room, and returns it; nil if there is nothing (more), as for what another node did.
  func publish(_ number: RoomNumber) -> Staged? {
    state.withLock { state in
      guard let roomID = state.roomIDs[number], let staged = state.staged.removeValue(forKey: roomID) else { return nil }
      state.committed[roomID] = staged.room
      return staged
    }
  }

  /// Shows everyone a room that another node has changed, as its commit left it.
  func replace(_ room: RoomSnapshot) {
    state.withLock { state in
      if state.removed.contains(room.number) { return }
      if let existing = state.committed[room.roomID], existing.position > room.position { return }
      state.committed[room.roomID] = room
      state.roomIDs[room.number] = room.roomID
      state.passed[room.number] = nil
    }
  }

  /// Another node has changed a room up to `position`: takes it out of RAM, and does not take in again what is older.
  func drop(_ number: RoomNumber, before position: Int64) {
    state.withLock { state in
      state.passed[number] = position
      guard let roomID = state.roomIDs[number], let room = state.committed[roomID], room.position < position else { return }
      state.committed[roomID] = nil
    }
  }

  /// Forgets all that is committed: what another node did is not known.
  func removeAll() {
    state.withLock { state in
      state.committed = [:]
      state.roomIDs = Dictionary(state.staged.values.map { ($0.room.number, $0.room.roomID) }) { $1 }
    }
  }

  /// Makes a deleted room unknown: at once to the commands that follow in this batch, with the note of it to everyone.
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
    transaction.note(.purged(room.number))
  }

  /// A room is deleted.
  func removed(_ number: RoomNumber) {
    state.withLock { state in
      state.removed.insert(number)
      state.passed[number] = nil
      guard let roomID = state.roomIDs.removeValue(forKey: number) else { return }
      state.committed[roomID] = nil
      state.stagedRemovals.remove(roomID)
    }
  }

  /// Keeps what a reader loaded unless a commit has published something newer meanwhile.
  private func insert(_ loaded: RoomSnapshot) -> RoomSnapshot {
    state.withLock { state in
      if state.removed.contains(loaded.number) { return loaded }
      if let passed = state.passed[loaded.number] {
        if loaded.position < passed { return loaded }
        state.passed[loaded.number] = nil
      }
      if let existing = state.committed[loaded.roomID], existing.position >= loaded.position { return existing }
      state.committed[loaded.roomID] = loaded
      state.roomIDs[loaded.number] = loaded.roomID
      return loaded
    }
  }
}
