import AdministrationCore
import ClientCore
import ClientHost
import EncryptionLink
import JSON
import MatrixModel
import Messenger
import PageWidgets
import WebHost

/// The program: owns the client and the screens. Inputs go to the client one at a time; its effects are carried out in order,
/// then the screens look at what changed. A screen asks by `ask`, which is one more input.
final class App<D: DOM> {
  let dom: D
  private(set) var client: Client
  let effects: EffectRunner
  /// What is on the screen: signing in, or the rooms.
  var signIn: SignInScreen<D>?
  var main: MainScreen<D>?
  lazy var dialogs = Dialogs(self)
  lazy var notices = Notices(self)
  lazy var saved = SavedMessages(self)
  lazy var verifications = Verifications(self)
  let emoji = EmojiShelf()
  var emoticons = Emoticons()
  /// Downloads under way.
  var fetches: [Fetch] = []

  /// Carries an effect out; replaced in tests.
  var perform: (Effect) -> Void
  private var inputs: [Input] = []
  private var isHandling = false
  private var lastCommand: CommandID = 0
  private var waiting: IDTable<(CommandResult) -> Void> = [:]
  var waitingQueries: IDTable<(QueryResult) -> Void> = [:]
  /// From a single sign-on that came back to this page; empty if this tab did not start one.
  var loginToken: ByteString?
  /// Called when the encryption has news for the page that shows it.
  var onEncryptionState: (() -> Void)?
  /// Called once, when the list of ignored users changes.
  var onIgnoredUsers: (() -> Void)?
  var shownTitle = ""
  var shownCount = 0
  /// Rooms of which a notification of the browser tells.
  var told: [RoomID] = []
  /// Whether nothing is left to be seen of messages that were deleted for everyone.
  var hidesDeleted = Host.setting(Settings.hideDeleted) != nil
  /// Whether IDs and sources of events are shown.
  var showsSources = Host.setting(Settings.developer) != nil
  /// Where the person wants to be.
  var place = Place.list
  /// Where to go as soon as somebody is signed in.
  var next: Destination?
  /// An invitation that the page's address has, until it is shown.
  var invite: InviteAddress?
  /// Invite links that this page has made.
  var keptLinks: [KeptLink] = []
  /// A message to go to once the room is there.
  var wanted: EventID?
  /// Servers that know a room one may not be in.
  var via: (room: RoomID, servers: [ServerName])?
  /// Which new rooms the server wants to be encrypted; nil until it has said so.
  var wishes: EncryptionWishes?
  /// Called when the connection is back.
  var onConnected: (() -> Void)?
  /// An account was created here a moment ago.
  var isNewcomer = false
  /// In the page of somebody else.
  var embedding: Embedding<D>?

  init(dom: D, effects: EffectRunner, seed: UInt64? = nil) {
    self.dom = dom
    self.effects = effects
    var random: UInt64 = 0
    for byte in Host.randomBytes(8) { random = random << 8 | UInt64(byte) }
    // Two devices of a kind are told apart by the day.
    let device = Host.browserName + ", " + Host.dayOfYearLabel(Host.wallClockMilliseconds())
    client = Client(
      randomSeed: seed ?? random,
      deviceDisplayName: ByteString(Host.browserName.utf8.isEmpty ? Strings[.product] : device))
    perform = { effects.run($0) }
    effects.answer = { [self] in take($0) }
    effects.outlives = { [self] in client.isPassedOn($0) }
    effects.encryption.ask = { [self] in ask($0, $1) }
    effects.encryption.askSurely = { [self] in askSurely($0, $1) }
    effects.encryption.onLost = { [self] in loseEncryption() }
    effects.encryption.onNew = { [self] in reviewEncryptedRooms() }
    effects.encryption.onState = { [self] in
      onEncryptionState?()
      main?.encryptionChanged()
      dom.flush()
    }
    effects.encryption.onVerifications = { [self] in verifications.changed() }
    effects.encryption.onNews = { [self] in verifications.heard($0) }
    wireHistories()
  }

  func start() {
    if let embedding { return embedding.start() }
    if let address = AdministrationAddress(fragment: ByteString(Host.fragment)) { place = .administration(address) }
    if !followInvite(Host.fragment) { next = Destination(fragment: Host.fragment) }
    loginToken = SingleSignOnButtons<D>.loginToken(in: Host.query, word: Host.keptWord)
    takeKeptInvite(isBack: loginToken != nil)
    if loginToken != nil {
      Host.clearQuery()
      Host.keep(word: "")
    }
    effects.open { [self] in begin() }
  }

  /// The store is there.
  func begin() {
    let state = Host.pageState
    take(.networkChanged(isOnline: state.contains(.online)))
    take(.attentionChanged(isVisible: state.contains(.visible), isFocused: state.contains(.focused)))
    client.reportsCalls = Host.canCall
    client.syncsDrafts = true
    // Each page would be another device, or would have lost the keys of the one before it.
    setEncrypts(effects.isLasting)
    client.encryptsFiles = true
    followArrivals()
    take(.presenceWanted(true))
    take(.start)
  }

  /// No chats are made in the page of somebody else.
  func setEncrypts(_ encrypts: Bool) {
    client.encrypts = encrypts
    client.encryptsNewChats = encrypts && embedding == nil
  }

  /// Another tab goes on: saves what is not saved, then lets go of everything. A call ends, and its other side is told.
  func stop() {
    main?.leaving()
    main?.calls.close()
    if let room = place.room { ask(.timeline(.closeRoom(room))) }
    effects.stop()
    main = nil
    Host.authorizeImages(prefix: "", token: "")
    dom.releaseChildren(of: .root)
    dom.flush()
  }

  // MARK: Inputs

  func take(_ input: Input) {
    inputs.append(input)
    guard !isHandling else { return }
    isHandling = true
    while !inputs.isEmpty {
      let done = client.handle(inputs.removeFirst(), now: Host.wallClockMilliseconds())
      var changes: [Change] = []
      var queries: [(CommandID, QueryResult)] = []
      for effect in done {
        switch effect {
        case .change(let change): changes.append(change)
        case .queryEnded(let id, let result): queries.append((id, result))
        default: perform(effect)
        }
      }
      followEncryption(changes)
      if !changes.isEmpty, !effects.isStopped { show(changes) }
      for (id, result) in queries { queryEnded(id, result) }
    }
    isHandling = false
    dom.flush()
  }

  /// Asks the client for something; `then` hears how it ended.
  func ask(_ command: Command, _ then: ((CommandResult) -> Void)? = nil) {
    var id: CommandID = 0
    if let then {
      id = nextCommand()
      waiting[id] = then
    }
    prepare(command) { [self] in
      if let command = $0 { take(.command(command, id: id)) } else { finished(id, .failed(.cancelled)) }
    }
  }

  func nextCommand() -> CommandID {
    lastCommand &+= 1
    return lastCommand
  }

  func reportArrivals(_ isWanted: Bool) { client.reportsArrivals = isWanted }

  func finished(_ id: CommandID, _ result: CommandResult) {
    waiting.removeValue(forKey: id)?(result)
  }

  func pageChanged(_ change: PageChange) {
    let state = Host.pageState
    switch change {
    case .online:
      take(.networkChanged(isOnline: state.contains(.online)))
      if state.contains(.online) { effects.encryption.networkIsBack() }
    case .attention:
      if !state.contains(.visible) { main?.leaving() }
      take(.attentionChanged(isVisible: state.contains(.visible), isFocused: state.contains(.focused)))
    case .fragment: if !followInvite(Host.fragment) { followAddress() }
    case .colourScheme: break
    case .quickSwitch: search()
    case .shortcuts: openShortcuts()
    case .escape: markAsRead()
    case .leaving:
      main?.leaving()
      // Closing writes the draft now instead of in a moment; who comes back finds the room open.
      if let room = place.room {
        ask(.timeline(.closeRoom(room)))
        ask(.timeline(.openRoom(room)))
      }
    }
  }

  // MARK: Places

  func goTo(_ place: Place, isAddressSet: Bool = false, replacing: Bool = false) {
    let place = embedding?.allowed(place) ?? place
    if !isAddressSet, place != self.place { Host.setFragment(place.fragment, replacing: replacing) }
    self.place = place
    wanted = nil
    dialogs.closeAll()
    main?.show(place)
    dom.flush()
  }

  /// To the box above the list; on a phone the list comes first.
  func search() {
    guard let main, !dialogs.isOpen, embedding == nil else { return }
    let isBehind = Host.pageState.contains(.narrow) ? place != .list : place.isAdministration
    if isBehind { goTo(.list) }
    main.takeSearchFocus()
    dom.flush()
  }

  func openShortcuts() {
    guard main != nil, !dialogs.isOpen else { return }
    need(.more) { [self] in if !dialogs.isOpen { ShortcutsDialog(self) } }
  }

  private func markAsRead() {
    guard !dialogs.isOpen, let room = place.room.flatMap({ client.room($0) }), room.isUnread else { return }
    markAsRead(room)
  }

  func markAsRead(_ room: Room) {
    askOrSay(.reading(.markRead(room.id)))
    if room.isMarkedUnread { askOrSay(.reading(.markUnread(room.id, false))) }
  }

  // MARK: What several screens want to know

  var userID: UserID? { client.session?.userID }

  /// Address of a small square picture for an avatar.
  func avatarSource(_ uri: MediaURI?) -> String? {
    uri.map { effects.server.base + client.thumbnail($0, width: 96, height: 96, crops: true).target }
  }

  func mediaSource(_ uri: MediaURI) -> String { effects.server.base + client.download(uri).target }

  /// Address of a file; of one of an encrypted room with what decrypts it behind a `#` (`Web/sealed-files.js`), which goes to no server.
  func mediaSource(_ file: Attachment) -> String? {
    if let encrypted = file.encrypted { return mediaSource(encrypted, type: file.mimeType) }
    return file.source.map { mediaSource($0) }
  }

  /// The same for a smaller picture of it, where there is one.
  func thumbnailSource(_ file: Attachment) -> String? {
    if let small = file.encryptedThumbnail { return mediaSource(small, type: "image/jpeg") }
    return file.thumbnail.map { thumbnailSource($0) }
  }

  private func mediaSource(_ file: EncryptedFile, type: ByteString?) -> String {
    let words = [file.keys.key, file.keys.counter, file.keys.digest, type ?? ""].map { PercentEncoding.encode($0) }
    return mediaSource(file.source) + "#" + words.joined(separator: "&")
  }

  /// Address of a picture that stands in a line of text.
  func emojiSource(_ uri: MediaURI) -> String {
    effects.server.base + client.thumbnail(uri, width: 64, height: 64, crops: false).target
  }

  /// Address of a picture in a grid.
  func tileSource(_ uri: MediaURI) -> String {
    effects.server.base + client.thumbnail(uri, width: 320, height: 240, crops: false).target
  }

  func thumbnailSource(_ uri: MediaURI) -> String {
    effects.server.base + client.thumbnail(uri, width: 800, height: 600, crops: false).target
  }

  /// Whether nobody shall see how far one has read; kept over restarts.
  var keepsReceiptsPrivate: Bool {
    get { !client.sendsPublicReceipts }
    set {
      Host.setSetting(Settings.privateReceipts, newValue ? "1" : nil)
      tellPrivacy()
    }
  }
}

extension App {
  /// Tells the session who gets receipts and typing notices. Each session has to be told, because it knows nothing of settings.
  func tellPrivacy() {
    let isPublic = Host.setting(Settings.privateReceipts) == nil
    ask(.reading(.setPublicReceipts(isPublic)))
    ask(.reading(.setDeliveryReceipts(isPublic)))
    ask(.sending(.setTypingNotices(Host.setting(Settings.privateTyping) == nil)))
  }
}
