@_exported public import EventContent
@_exported public import ServerQueries
import JSON
import MatrixModel

/// One account as a state machine: inputs in, effects out, no I/O, no clock, no randomness of its own.
///
///     var client = Client(randomSeed: seed, deviceDisplayName: "Martlet Web")
///     for effect in client.handle(.start, now: milliseconds) { host.carryOut(effect) }
///
/// The host carries the effects out in order and answers each as `Effect` says. A sync is prepared, written in one batch
/// together with its token, and shown only when the write is acknowledged; a local echo is shown at once and its request
/// goes out once the outbox record is written. Views read the properties and follow `Effect.change`.
public struct Client: Sendable {
  // MARK: Session

  public internal(set) var sessionState = SessionState.loading
  public internal(set) var session: Session?
  public internal(set) var signIn = SignIn()
  var registering: Registering?
  var refresh = TokenRefresh()
  /// Where the homeserver is, as the host found it; kept with a login.
  package var homeserver: ServerURL?
  let deviceDisplayName: ByteString
  var extensions = KnownExtensions()
  public var ownDisplayName: ByteString? { ownProfile.displayName }
  public var ownAvatar: MediaURI? { ownProfile.avatar }
  var ownProfile = OwnProfile()

  // MARK: Sync

  public internal(set) var connection = ConnectionState.idle
  /// How far the first sync is; see `ConnectionState.firstSync`.
  public var syncProgress: SyncProgress { syncLoop.progress }
  var syncLoop = SyncLoop()
  var syncFilter = SyncFilter()
  var syncMode = SyncMode.v3
  var pacesSyncs = true
  var slidingChapter: SlidingChapter?

  // MARK: Rooms

  /// Invited rooms first, then the joined ones, the one with the latest message first; left rooms are not among them.
  public internal(set) var roomIDs: [RoomID] = []
  var rooms: [RoomID: Room] = [:]
  var roomOrder = RoomOrder()
  var directRooms = DirectRooms()
  /// Rooms that are encrypted, those of earlier syncs among them: no server takes that back.
  var encryptedRooms: Set<RoomID> = []
  /// Rooms whose members are in memory, the one used last at the end.
  var keptPeople: [RoomID] = []
  /// Rooms with an `unreadMark`.
  var roomsMarking: [RoomID] = []

  // MARK: Room list and spaces

  var roomLists = RoomLists()
  var directChanges = AccountListChanges<DirectChange>()
  var ignoreChanges = AccountListChanges<IgnoreChange>()
  /// Rooms visited last, the last one first. They follow the account.
  public internal(set) var breadcrumbs = Breadcrumbs()
  /// The spaces the user is in, and what is in them.
  public internal(set) var spaces = SpaceGraph()

  // MARK: Timelines

  /// Whether what is said in threads stands in live timelines too, beside the thread itself. Set before rooms are opened.
  public var showsThreadsInline = false
  /// Rooms whose timeline is kept, the one used last at the end, and which of them are on the screen.
  var keptTimelines: [RoomID] = []
  var openRooms: [RoomID] = []
  var eventSources = EventSources()
  var interruptedPages = InterruptedPages()
  var expiryTimer: (timer: TimerID, at: Int64)?
  var itemIDs = ItemIDs()

  // MARK: Sending

  /// Whether others are told that one is writing (`SendingCommand.setTypingNotices`).
  public internal(set) var sendsTypingNotices = true
  /// Whether drafts follow the account from device to device, unencrypted in its data.
  public var syncsDrafts = false
  /// Whether the host encrypts (`Effect.encrypt`). If not, nothing goes to encrypted rooms.
  public var encrypts = false
  /// Whether it also encrypts files (`Effect.uploadEncrypted`).
  public var encryptsFiles = false
  /// Whether new direct chats (`RoomCommand.openDirectChat`) are encrypted, if the server wishes it and the other user has a device with keys; and
  /// new rooms for which nobody has decided (`NewRoom.isEncrypted`), if the server wishes it.
  public var encryptsNewChats = false
  var drafts = Drafts()
  var outbox = Outbox()

  // MARK: Receipts

  /// Whether others see how far one has read (`ReadingCommand.setPublicReceipts`).
  public internal(set) var sendsPublicReceipts = true
  var delivery = DeliveryReceipts()
  /// Rooms that commands for several have still to mark as read.
  var markingRead: [CommandID: Int] = [:]

  // MARK: People

  public internal(set) var ignoredUsers = IgnoredUsers()
  /// Whether syncs bring who is there (`Change.presence`), by `Input.presenceWanted`.
  public internal(set) var observesPresence = false
  var presences: [UserID: UserPresence] = [:]
  var ownPresence = Presence.online

  // MARK: Notifications

  var pushRuleState = PushRuleState()
  public internal(set) var notificationWishes = NotificationWishes()

  // MARK: Arrivals

  /// Whether `Change.arrived` and `Change.accountData` tell of what syncs bring.
  public var reportsArrivals = false
  /// Whether events of calls (`m.call.…`) are told likewise, where other arrivals are not.
  public var reportsCalls = false
  var arriving = ArrivingRooms()

  // MARK: Store

  var storedEvents = StoredEvents()
  var isStoreBroken = false

  // MARK: Host

  var hasNetwork = true
  var isPaused = false
  var isVisible = true
  var isFocused = true
  /// What the input that is being handled has led to so far.
  var effects: [Effect] = []
  /// When it came.
  var now: Int64 = 0
  var random: RandomSource
  var pending = Pending()
  var queries: IDTable<OngoingQuery> = [:]

  // MARK: Use

  /// - Parameters:
  ///   - randomSeed: from the host's cryptographic source; transaction IDs and jitter grow from it.
  ///   - homeserver: is kept with the session, so that a host can find it again (`Session.homeserver`).
  public init(randomSeed: UInt64, deviceDisplayName: ByteString, homeserver: ServerURL? = nil) {
    self.homeserver = homeserver
    random = RandomSource(seed: randomSeed)
    self.deviceDisplayName = deviceDisplayName
  }

  /// The room, also a left one; nil where it is not known.
  public func room(_ id: RoomID) -> Room? { rooms[id] }

  /// Whether rooms are kept that one is not in (`RoomListSection.left`, `knocks`). O(1).
  public var hasLeftRooms: Bool { rooms.count > roomIDs.count }

  /// nil where it is not open; the live one of a known room always is there, empty until the room is opened.
  public func timeline(_ key: TimelineKey) -> Timeline? { rooms[key.room]?.timeline(key.focus) }

  /// Unread rooms' messages in sum, for the title of the window.
  public var notificationCount: Int {
    roomIDs.reduce(0) { $0 &+ (rooms[$1]?.notificationCount ?? 0) }
  }

  /// Takes one input and returns what is to be done, in order.
  /// - Parameter now: milliseconds since 1970.
  public mutating func handle(_ input: Input, now: Int64) -> [Effect] {
    self.now = now
    switch input {
    case .start: startFromStore()
    case .loaded(let id, let records): loaded(id, records)
    case .written(let id, let isStored): written(id, isStored)
    case .inboxChanged: loadInbox()
    case .response(let id, let response): answered(id, response)
    case .uploadProgress(let id, let sent, let total):
      if case .query(let query)? = pending.requests[id]?.purpose {
        emit(.queryProgress(query, sentBytes: sent, totalBytes: total))
      } else {
        uploadMoved(id, sentBytes: sent, totalBytes: total)
      }
    case .encrypted(let id, let content): encrypted(id, content)
    case .notEncrypted(let id, let error): notEncrypted(id, error)
    case .fileEncrypted(let id, let keys): fileEncrypted(id, keys)
    case .decrypted(let room, let events): decrypted(events, in: room)
    case .timerFired(let id): timerFired(id)
    case .networkChanged(let isOnline): networkChanged(isOnline)
    case .attentionChanged(let isVisible, let isFocused):
      if isVisible, !self.isVisible { becameVisible() }
      self.isVisible = isVisible
      self.isFocused = isFocused
      if hasAttention { readWhatIsViewed() }
    case .presenceWanted(let isWanted): observePresence(isWanted)
    case .command(let command, let id): handle(command, id)
    case .query(let request, let id): ask(request, id)
    case .cancel(let id): cancel(id)
    }
    settleEchoes()
    settleLists()
    let done = effects
    effects = []
    return done
  }

  /// Whether requests may go out.
  var isOnline: Bool { hasNetwork && !isPaused }

  /// Whether what is on the screen is being read.
  var hasAttention: Bool { isVisible && isFocused }

  // Calls in the page's program too, all three, for there are many who have something to tell.

  @inline(never)
  mutating func notify(_ change: Change) {
    noteForLists(change)
    emit(.change(change))
  }

  @inline(never)
  mutating func emit(_ effect: Effect) { effects.append(effect) }

  @inline(never)
  mutating func finish(_ id: CommandID, _ result: CommandResult) {
    if id != 0 { notify(.commandFinished(id, result)) }
  }
}
