import Database
import JSON
import MatrixModel
import RoomRules
import ServerCore
import Synchronization

/// Users who had what they wrote erased: who joins a room after that is shown it as if it were redacted, who was there before
/// sees it as it is. State keeps its content, or rooms would lose their names.
///
/// Spec: Client-Server API, `POST /_matrix/client/v3/account/deactivate`, `erase`.
package final class Erasures: NoteFollower {
  /// The position of each erasure. Few users are erased, so that all are kept in memory.
  private let erased = Mutex<[UserID: Int64]>([:])

  init(_ database: Database) { database.follow(.erased, by: self) }

  /// Reads what is known at the start.
  package func load(_ transaction: ReadTransaction) throws {
    let rows = try transaction.all("SELECT user_id, erased_at FROM account WHERE erased_at IS NOT NULL") { row in
      (row.identifier(0, as: UserID.self), row.integer(1))
    }
    erased.withLock { $0 = Dictionary(rows) { $1 } }
  }

  var positions: [UserID: Int64] { erased.withLock { $0 } }

  package func apply(_ note: Note, _ rows: CommittedRows) {
    if case .erased(let user, let position) = note { erased.withLock { $0[user] = position } }
  }

  package func reload(_ rows: CommittedRows) throws { try rows.read { try load($0) } }

  /// The events as `reader` is shown them. Reads rows only where an erased user wrote one of them.
  package func shown(_ events: [StoredEvent], to reader: UserID, in room: RoomSnapshot, _ loader: () throws -> RoomLoader)
    throws
    -> [StoredEvent]
  {
    let erased = erased.withLock { $0 }
    guard !erased.isEmpty, events.contains(where: { $0.stateKey == nil && erased[$0.sender] != nil }) else { return events }
    let joined = try loader().history(of: room.number, .member, reader.text)
      .first { Membership($0.event.content["membership"]) == .join }
    return events.map { event in
      guard event.stateKey == nil, let erasure = erased[event.sender], joined.map({ $0.position > erasure }) ?? true else {
        return event
      }
      return event.reduced(room.version) ?? event
    }
  }
}

extension StoredEvent {
  /// What a redaction would leave of it; nil where nothing can be left out.
  func reduced(_ version: RoomVersion) -> StoredEvent? {
    guard let content = try? version.redactedContent(content, type: type),
      let whole = try? JSON.parse([UInt8(ascii: "{")] + shared + [UInt8(ascii: "}")])
    else { return nil }
    var writer = JSONWriter(capacity: shared.count)
    writer.object { writer in
      for member in whole.members {
        writer.key(member.key)
        writer.write(member.isKey("content") ? content : member.value)
      }
    }
    return StoredEvent(
      position: position, eventID: eventID, room: room, type: type, stateKey: stateKey, sender: sender,
      timestamp: timestamp, depth: depth, shared: Array(writer.bytes.dropFirst().dropLast()), content: content,
      redactedBecause: redactedBecause)
  }
}
