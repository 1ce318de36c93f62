import MatrixModel

/// Names of small settings kept by the browser.
enum Settings {
  static let privateReceipts = "private-receipts"
  static let privateTyping = "private-typing"
  /// The host reads it before the program runs.
  static let language = "language"
  /// The language was changed in the settings, which takes a new page.
  static let returnsToLanguage = "returns-to-language"
  static let theme = "theme"
  static let density = "density"
  static let figures = "figures"
  /// Event IDs and sources are shown.
  static let developer = "developer"
  static let hideDeleted = "hide-deleted"
  static let rich = "rich"
  static let notifications = "notifications"
  static let sound = "sound"
  /// Times of the day as `HH:MM`, of the account; the host reads them.
  static let quietFrom = "quiet-from"
  static let quietUntil = "quiet-until"
  /// Nobody is to be disturbed until then, in milliseconds since 1970.
  static let snoozedUntil = "snoozed-until"
  /// Also while no page is open: the key of the subscription, as soon as there is one. The host reads it.
  static let pushes = "pushes"
  /// Somebody is signed in. `Web/early.js` reads it before the program runs.
  static let signedIn = "signed-in"
  /// The device that is not to be asked to be verified.
  static let unconfirmed = "unconfirmed"
  /// `RecoveryAsk`.
  static let recoveryAsk = "recovery-ask"
  /// `NewSignIns`.
  static let newSignIns = "new-sign-ins"
  static let presence = "presence"
  /// The modifier behind emoji that have one.
  static let skinTone = "skin-tone"
  /// `EmojiHabits`.
  static let emojiPicks = "emoji-picks"
  /// What one says of it.
  static let status = "status"
  /// When it is taken back, in milliseconds since 1970.
  static let statusUntil = "status-until"
  /// An invitation, while its reader is at a provider of single sign-on.
  static let invite = "invite"
  /// The person does not want to encrypt that chat now.
  static func open(_ room: RoomID) -> String { "open/" + room.string }
  static func place(in room: RoomID) -> String { "place/" + room.string }
}
