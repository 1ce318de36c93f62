import ClientCore
import ClientHost
import EncryptionLink
import JSON
import MatrixModel
import Messenger
import PageWidgets

/// When the page needs end-to-end encryption (`PageEncryption`).
extension App {
  /// After each input: whose session it is, and whether a room is encrypted now.
  func followEncryption(_ changes: [Change]) {
    let isSignedIn = client.sessionState == .signedIn || client.sessionState == .softLoggedOut
    if client.sessionState != .loading { effects.encryption.follow(isSignedIn ? client.session : nil) }
    for case .room(let id, let aspects) in changes where aspects.contains(.membership) {
      if let membership = client.room(id)?.membership, membership == .leave || membership == .ban { effects.search.forget(id) }
    }
    guard isSignedIn, !effects.encryption.isBegun else { return }
    for change in changes {
      switch change {
      case .room(let id, let aspects):
        if aspects.contains(.settings), client.room(id)?.isEncrypted ?? false { effects.encryption.begin() }
      case .session:
        if client.roomIDs.contains(where: { client.room($0)?.isEncrypted ?? false }) { effects.encryption.begin() }
      default: break
      }
    }
  }

  /// What the first syncs brought came before there was a machine.
  func reviewEncryptedRooms() {
    for id in client.roomIDs.prefix(Self.reviewedRooms) where client.room(id)?.isEncrypted ?? false {
      effects.encryption.review(id)
    }
  }

  private static var reviewedRooms: Int { 200 }

  /// Whether messages can be sent to the room.
  func canWrite(in room: Room) -> Bool {
    guard let userID, room.membership == .join, room.successor == nil, client.encrypts || !room.isEncrypted
    else { return false }
    return room.can(.send(.message), by: userID) ?? true
  }

  /// Whether there are keys of messages that are in no backup.
  var hasKeysHereOnly: Bool { effects.encryption.state.map { $0.backup != .on } ?? false }

  /// Sends what could not be sent. Where the keys of somebody have changed the person decides first.
  func retry(_ item: TimelineItem, in room: RoomID) {
    guard case .failed(.unconfirmedIdentity(let user)) = item.delivery else {
      return ask(.sending(.retry(room, .item(item.id))))
    }
    let name = client.room(room)?.displayName(of: user).string ?? user.string
    dialogs.open {
      ConfirmDialog(
        self, Strings[.keysChanged, name], note: Strings[.keysChangedNote], action: .sendAnyway, busy: .sending, in: $0,
        run: { [self] ended in
          effects.encryption.perform(.acceptIdentity(of: user.text)) { _ in ended(nil) }
        }, { [self] in ask(.sending(.retry(room, .item(item.id)))) })
    }
  }

  /// Encrypted rooms can be read as far as they were, and nobody writes there, until the page is loaded anew.
  func loseEncryption() {
    setEncrypts(false)
    notices.show(.encryptionStopped, isTrouble: true)
  }
}
