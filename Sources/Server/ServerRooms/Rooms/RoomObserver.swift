import Database
import MatrixModel
import ServerCore

/// A chapter that follows rooms. Rooms tell chapters that are built on them in no other way.
///
/// Each function does nothing by default. Those that take a transaction run inside the command's commit: an error undoes the
/// command. The others run after the commit and must not block.
package protocol RoomObserver: Sendable {
  /// `event` is the newest event of `room`.
  func appended(_ event: StoredEvent, to room: RoomSnapshot, in transaction: WriteTransaction) throws
  /// `event` was redacted; `room` has the redacted form.
  func redacted(_ event: StoredEvent, in room: RoomSnapshot, _ transaction: WriteTransaction) throws
  /// A room has its first events. Its creator may want it in the list of public rooms.
  func created(_ room: RoomSnapshot, isPublished: Bool, in transaction: WriteTransaction) throws
  /// `new` replaces `old`.
  func upgraded(_ old: RoomSnapshot, to new: RoomSnapshot, in transaction: WriteTransaction) throws
  /// An administrator shuts the room down: users of this server are about to leave it.
  func shutDown(_ room: RoomSnapshot, in transaction: WriteTransaction) throws

  /// What is new in a room can be read, whichever node made it.
  func published(_ news: Note.RoomNews)
  /// The set of users who are typing in a room has changed.
  func typingChanged(in room: RoomNumber)
  func presenceChanged(of users: Set<UserID>)
  /// A receipt is committed.
  func received(_ receipt: Receipt, in room: RoomNumber)
}

extension RoomObserver {
  package func appended(_ event: StoredEvent, to room: RoomSnapshot, in transaction: WriteTransaction) throws {}
  package func redacted(_ event: StoredEvent, in room: RoomSnapshot, _ transaction: WriteTransaction) throws {}
  package func created(_ room: RoomSnapshot, isPublished: Bool, in transaction: WriteTransaction) throws {}
  package func upgraded(_ old: RoomSnapshot, to new: RoomSnapshot, in transaction: WriteTransaction) throws {}
  package func shutDown(_ room: RoomSnapshot, in transaction: WriteTransaction) throws {}
  package func published(_ news: Note.RoomNews) {}
  package func typingChanged(in room: RoomNumber) {}
  package func presenceChanged(of users: Set<UserID>) {}
  package func received(_ receipt: Receipt, in room: RoomNumber) {}
}
