import ClientCore
import ClientHost
import EncryptionLink
import JSON
import MatrixModel
import Messenger
import PageWidgets
import PageWords
import SecurityDialogs

/// Verifications in this page: the dialog of the one that the person takes part in, and those that others have asked for.
final class Verifications<D: DOM> {
  private let app: App<D>
  private var encryption: PageEncryption { app.effects.encryption }
  private var dialog: VerificationDialog<D>?
  /// Those that were seen to be done.
  private var done: Set<UInt64> = []
  /// Other users who are verified, as the machine said last.
  private(set) var verified: Set<UserID> = []
  private var signIns: NewSignIns?
  /// New devices that the user has said to be theirs.
  private var known: Set<DeviceID> = []
  private var concerns: [UserID: [Strings.Key]] = [:]
  /// Called when one is done, for what shows who is verified.
  var onDone: (() -> Void)?

  init(_ app: App<D>) { self.app = app }

  func trustLine(in parent: Node) -> TrustLine<D> {
    let line = TrustLine(app.dom, encryption, in: parent) { [self] user, name in UserID(user).map { verify($0, name: name) } }
    line.warnings = { [self] user, name in
      UserID(user).flatMap { concerns[$0] }?.map { Strings[$0, name] } ?? []
    }
    return line
  }

  /// Keeps what the machine has seen the server do to somebody's keys, as long as the page is open.
  private func keep(_ news: EncryptionReport.News) {
    let words: Strings.Key? =
      switch news.kind {
      case .identityHidden: .identityHidden
      case .signatureHidden: .signatureHidden
      case .namesCollided: .namesCollided
      case .deviceAppeared, .deviceGone, .deviceRefused, .identityChanged: nil
      }
    guard let words, let user = UserID(news.user), !(concerns[user]?.contains(words) ?? false) else { return }
    concerns[user, default: []].append(words)
  }

  /// What others ask for and nobody has answered, the oldest first.
  var requests: [EncryptionReport.Verification] {
    encryption.verifications.filter { one in
      if case .requested = one.stage { !one.isOurs } else { false }
    }
  }

  func changed() {
    if let dialog, dialog.isOpen { dialog.update() } else { dialog = nil }
    for one in encryption.verifications where one.id != dialog?.id { endUnseen(one) }
    let count = done.count
    for one in encryption.verifications where one.stage == .done {
      done.insert(one.id)
      if one.isOwn, let device = DeviceID(one.device) { settle(device) }
    }
    if dialog == nil, !app.dialogs.isOpen, let one = requests.first(where: { isKnown($0) }) { join(one) }
    if done.count > count {
      onDone?()
      app.main?.trustChanged()
    }
    app.main?.encryptionChanged()
    app.dom.flush()
  }

  /// Says how one has ended whose dialog is closed.
  private func endUnseen(_ one: EncryptionReport.Verification) {
    switch one.stage {
    case .done:
      app.notices.show(one.isOwn ? Strings[.deviceVerified] : Strings[.personVerified, name(of: one) ?? one.user.string])
      forget(one)
    case .cancelled(.mismatchedSAS, _), .cancelled(.keyMismatch, _), .cancelled(.mismatchedCommitment, _):
      app.notices.show(.verifyMismatch, isTrouble: true)
      forget(one)
    case .cancelled: forget(one)
    default: break
    }
  }

  /// Asks the machine who is verified; `then` hears that it is others than before.
  func learn(_ then: @escaping () -> Void) {
    guard encryption.state != nil else { return }
    encryption.perform(.listVerified) { [self] outcome in
      guard case .users(let users)? = outcome else { return }
      let found = Set(users.compactMap { UserID($0) })
      guard found != verified else { return }
      verified = found
      then()
    }
  }

  // MARK: New devices of the user

  /// The first one that the person has not been asked about; nil if there is none.
  var newDevice: DeviceID? { keptSignIns?.devices.first }

  private var keptSignIns: NewSignIns? {
    guard let own = app.client.session?.deviceID else { return nil }
    if signIns?.own != own { signIns = NewSignIns(of: own) }
    return signIns
  }

  /// The machine has seen something about keys. What others did is shown where it matters (`TrustLine`, `ChangedKeysBar`).
  func heard(_ news: EncryptionReport.News) {
    keep(news)
    app.main?.trustChanged()
    guard let user = app.userID, news.user == user.text, let device = DeviceID(news.device), var signIns = keptSignIns else {
      return
    }
    switch news.kind {
    case .deviceAppeared: signIns.add(device)
    case .deviceGone: signIns.remove(device)
    default: return
    }
    self.signIns = signIns
    app.main?.encryptionChanged()
    app.dom.flush()
  }

  /// Whether a request comes from a device that the user was asked about already: what is left is to compare.
  private func isKnown(_ one: EncryptionReport.Verification) -> Bool {
    one.isOwn && DeviceID(one.device).map { known.contains($0) } ?? false
  }

  /// Whether the user is still to say that the device which asks is theirs.
  func isNew(_ one: EncryptionReport.Verification) -> Bool {
    one.isOwn && DeviceID(one.device).map { keptSignIns?.devices.contains($0) ?? false } ?? false
  }

  /// The user has said that it is theirs.
  func recognize(_ device: DeviceID) {
    known.insert(device)
    settle(device)
  }

  /// The person has said that they know it, or not.
  func settle(_ device: DeviceID) {
    guard var signIns = keptSignIns, signIns.remove(device) else { return }
    self.signIns = signIns
    app.main?.encryptionChanged()
  }

  // MARK: Beginning

  /// - Parameter device: nil asks all other devices of the user; the first that accepts takes part.
  func verifyOwn(_ device: DeviceID? = nil) { open(.ask(.verifyDevice(device?.text ?? "")), with: "") }

  /// In the direct chat with the user, which is made if there is none.
  func verify(_ user: UserID, name: String) {
    guard encryption.state?.isVerified ?? false else { return confirmYou() }
    app.ask(.rooms(.openDirectChat(with: user.text))) { [self] result in
      switch result {
      case .room(let room): open(.ask(.verifyUser(user.text, room: room.text)), with: name)
      case .failed(let error): app.notices.show(Strings.words(for: error), isTrouble: true)
      default: break
      }
    }
  }

  func join(_ one: EncryptionReport.Verification) {
    open(.join(one.id), with: one.isOwn ? "" : name(of: one) ?? one.user.string)
  }

  /// Declines what was asked for, or forgets what has ended.
  func forget(_ one: EncryptionReport.Verification) { encryption.perform(.verification(one.id, .cancel)) { _ in } }

  /// The ways in which this browser can be verified.
  func confirmYou() {
    app.dialogs.open(.more) { [self] frame in
      ConfirmYouDialog(
        in: frame, useDevice: { [self] in verifyOwn() },
        useKey: { [self] in enterKey() })
    }
  }

  private func enterKey() {
    app.dialogs.open(.more) { [app] frame in
      EnterKeyDialog(
        app.effects.encryption, in: frame, recovered: { app.notices.show(.recovered) },
        begin: { dialog in app.askToBeginAnew { dialog.took($0) } })
    }
  }

  private func open(_ start: VerificationDialog<D>.Start, with name: String) {
    app.dialogs.open(.more) { [self] frame in
      dialog = VerificationDialog(encryption, start, with: name, in: frame)
    }
  }

  /// Of the other person; nil if the ID is no user's.
  func name(of one: EncryptionReport.Verification) -> String? {
    guard let user = UserID(one.user) else { return nil }
    return RoomID(one.room).flatMap { app.client.room($0) }?.displayName(of: user).string ?? user.string
  }
}
