import ClientCore
import ClientHost
import EncryptionLink
import JSON
import MatrixModel
import Messenger
import PageWidgets
import SecurityDialogs
import WebHost

/// When the page needs end-to-end encryption (`PageEncryption`).
extension App {
  /// After each input: whose session it is, and whether a room is encrypted now.
  func followEncryption(_ changes: [Change]) {
    let isSignedIn = client.sessionState == .signedIn || client.sessionState == .softLoggedOut
    if client.sessionState != .loading { effects.encryption.follow(isSignedIn ? client.session : nil) }
    for case .room(let id, let aspects) in changes where aspects.contains(.membership) {
      if let membership = client.room(id)?.membership, membership == .leave || membership == .ban { effects.search.forget(id) }
    }
    guard isSignedIn, client.encrypts, !effects.encryption.isBegun else { return }
    for change in changes {
      switch change {
      case .room(let id, let aspects):
        if aspects.contains(.settings), client.room(id)?.isEncrypted ?? false { effects.encryption.begin() }
      case .session:
        if hasEncryptedRoom { effects.encryption.begin() }
      case .connection: if client.encryptsNewChats, client.connectionIsRunning { prepareEncryption() }
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

  /// For the keys of messages that cannot be read.
  func askDevices(for room: RoomID) {
    effects.encryption.perform(.askForKeys(room: room.text)) { [self] outcome in
      switch outcome {
      case .done: notices.show(.askedDevices)
      case .failed(.unverified): notices.show(.noOtherDevice, isTrouble: true)
      default: notices.show(.encryptionUnavailable, isTrouble: true)
      }
      dom.flush()
    }
  }

  func wireHistories() {
    effects.histories.upload = { [self] bytes, then in
      ask(.upload(bytes)) { result in if case .success(let uri) = result { then(uri) } else { then(nil) } }
    }
    effects.histories.fetch = { [self] in fetchMedia($0, limit: $1, $2) }
  }

  /// Which new rooms the server wants to be encrypted. `then` is not called if it does not answer.
  func learnWishes(_ then: @escaping (EncryptionWishes) -> Void) {
    if let wishes { return then(wishes) }
    ask(.encryptionWishes()) { [self] result in
      switch result {
      case .success(let found): wishes = found
      // There need be nothing at that address, or the page of somebody else.
      case .failure(.refused(400..<429, _, _, _)), .failure(.badAnswer): wishes = EncryptionWishes()
      case .failure: return
      }
      if let wishes { then(wishes) }
    }
  }

  /// If new chats are to be encrypted, this browser needs keys before the first of them: nobody could write to its user otherwise.
  private func prepareEncryption() {
    learnWishes { [self] wishes in
      if wishes.privateRooms, client.sessionState == .signedIn { effects.encryption.begin() }
    }
  }

  private static var reviewedRooms: Int { 200 }

  // MARK: The recovery key

  /// Makes one and shows it; `then` hears how that ended.
  func makeRecoveryKey(_ then: @escaping (EncryptionReport.Outcome?) -> Void) {
    effects.encryption.perform(.setUpRecovery) { [self] outcome in
      if case .done(let key)? = outcome {
        dialogs.open(.more) { [notices] in RecoveryKeyDialog(key.string, in: $0) { notices.show(.copied) } }
      }
      then(outcome)
      dom.flush()
    }
  }

  /// Asks whether to begin without the keys there were; `then` hears how that ended.
  func askToBeginAnew(_ then: @escaping (EncryptionReport.Outcome?) -> Void) {
    dialogs.open {
      ConfirmDialog(
        Strings[.resetKeysAsk], note: Strings[.resetKeysNote], action: .resetKeysNow, busy: .creating, in: $0,
        run: { ended in ended(nil) },
        { [self] in
          effects.encryption.perform(.resetIdentity) { [self] outcome in
            if case .done? = outcome { makeRecoveryKey(then) } else { then(outcome) }
          }
        })
    }
  }

  private var keptAsk: RecoveryAsk? {
    client.session.map { RecoveryAsk(of: $0.deviceID.string, kept: Host.setting(Settings.recoveryAsk)) }
  }

  /// Whether the person is to be asked to make one.
  var asksForRecovery: Bool {
    guard embedding == nil, let state = effects.encryption.state, state.isVerified, state.backup == .off else { return false }
    return keptAsk?.isDue(at: Host.wallClockMilliseconds()) ?? false
  }

  func putOffRecovery() {
    guard var ask = keptAsk else { return }
    ask.putOff(at: Host.wallClockMilliseconds())
    Host.setSetting(Settings.recoveryAsk, ask.text)
    main?.encryptionChanged()
  }

  /// A message goes to an encrypted room.
  func wroteEncrypted() {
    guard var ask = keptAsk, ask.wrote() else { return }
    Host.setSetting(Settings.recoveryAsk, ask.text)
    main?.encryptionChanged()
  }

  /// Whether messages can be sent to the room.
  func canWrite(in room: Room) -> Bool {
    guard let userID, room.membership == .join, room.successor == nil, client.encrypts || !room.isEncrypted
    else { return false }
    return room.can(.send(.message), by: userID) ?? true
  }

  /// Whether there are keys of messages that are in no backup.
  var hasKeysHereOnly: Bool { hasEncryptedRoom && effects.encryption.state.map { $0.backup != .on } ?? false }

  private var hasEncryptedRoom: Bool { client.roomIDs.contains { client.room($0)?.isEncrypted ?? false } }

  /// Sends what could not be sent. Where the keys of somebody have changed the person decides first.
  func retry(_ item: TimelineItem, in room: RoomID) {
    guard case .failed(.unconfirmedIdentity(let user)) = item.delivery, isUnconfirmed(user) else {
      return ask(.sending(.retry(room, .item(item.id))))
    }
    let name = client.room(room)?.displayName(of: user).string ?? user.string
    dialogs.open {
      ConfirmDialog(
        Strings[.keysChanged, name], note: Strings[.keysChangedNote], action: .sendAnyway, busy: .sending, in: $0,
        run: { [self] ended in
          effects.encryption.perform(.acceptIdentity(of: user.text)) { _ in ended(nil) }
        }, { [self] in ask(.sending(.retry(room, .item(item.id)))) })
    }
  }

  /// Whether the person has still to decide. They may have gone on above the composer meanwhile.
  private func isUnconfirmed(_ user: UserID) -> Bool {
    guard user != userID, let state = effects.encryption.state else { return true }
    return state.changed.contains { $0.user == user.text }
  }

  /// Encrypted rooms can be read as far as they were, and nobody writes there, until the page is loaded anew.
  func loseEncryption() {
    setEncrypts(false)
    if hasEncryptedRoom { notices.show(.encryptionStopped, isTrouble: true) }
  }
}
