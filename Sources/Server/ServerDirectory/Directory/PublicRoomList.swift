import Database
import MatrixModel
import ServerRooms

/// Keeps the lists of public rooms up to date with the rooms.
package struct PublicRoomList: RoomObserver {
  package init() {}

  package func appended(_ event: StoredEvent, to room: RoomSnapshot, in transaction: WriteTransaction) throws {
    if event.stateKey != nil { try PublicRoomRows.follow(event.type, in: room, transaction) }
  }

  package func redacted(_ event: StoredEvent, in room: RoomSnapshot, _ transaction: WriteTransaction) throws {
    if event.stateKey != nil { try PublicRoomRows.follow(event.type, in: room, transaction) }
  }

  package func created(_ room: RoomSnapshot, isPublished: Bool, in transaction: WriteTransaction) throws {
    if isPublished { try PublicRoomRows.set(true, room, in: PublicRoomRows.main, transaction) }
  }

  package func upgraded(_ old: RoomSnapshot, to new: RoomSnapshot, in transaction: WriteTransaction) throws {
    try PublicRoomRows.move(from: old, to: new, transaction)
  }

  package func shutDown(_ room: RoomSnapshot, in transaction: WriteTransaction) throws {
    try PublicRoomRows.remove(room.number, transaction)
  }
}
