import ClientCore
import ClientHost
import EncryptionLink
import JSON
import MatrixModel
import MessageRows
import Messenger
import PageWidgets
import PageWords
import WebHost

/// What a timeline says of keys: whose have changed, and which have not come.
extension Feed {
  // MARK: Keys that have changed

  /// Of members of the room, the oldest first.
  var keyNotes: [KeyNote] {
    guard isLive, let room, room.isEncrypted else { return [] }
    return (app.effects.encryption.state?.keyChanges ?? []).compactMap { change in
      guard let user = UserID(change.user), room.membership(of: user) == .join else { return nil }
      return KeyNote(user: user, at: change.at)
    }
  }

  func keysChanged() {
    if keyNotes != shownNotes { renewRows() }
  }

  func row(_ notes: Folding.Piece, in room: Room) -> TimelineRow {
    TimelineRow(
      id: notes.row, timestampMilliseconds: notes.notes.last?.at ?? 0,
      content: .offer(
        Strings[.keysChanged, rows.names(notes.notes.map { $0.user }, room)], button: Strings[.whatToDo]))
  }

  /// Who it is about: somebody about whom the user has still to decide, if there is one.
  func user(of note: RowID) -> UserID? {
    let users = folding.note(note)?.notes.map { $0.user } ?? []
    let open = app.effects.encryption.state?.changed ?? []
    return users.first { user in open.contains { $0.user == user.text } } ?? users.first
  }

  // MARK: Keys that have not come

  func awaitKey(of item: TimelineItem) {
    let waits = UndecryptableReason.patienceMilliseconds
    let left = min(waits, item.timestampMilliseconds + waits - Host.wallClockMilliseconds())
    guard left > 0, keyTimer == nil else { return }
    keyTimer = Host.after(milliseconds: Double(left)) { [self] in
      keyTimer = nil
      renewWaiting()
      dom.flush()
    }
  }

  private func renewWaiting() {
    guard seeking == nil, !needsRows, let all = source?.items, all.count == folding.count else { return }
    for (index, item) in all.enumerated() {
      if case .undecryptable(.waiting) = item.content { renew(index) }
    }
    settle()
  }
}
