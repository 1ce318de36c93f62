public import ClientCore
public import MatrixModel
public import Observation

/// A room for views.
@MainActor @Observable public final class RoomModel: Identifiable {
  public nonisolated let id: RoomID
  /// Whether the client knows the room; until then everything is empty.
  public private(set) var isKnown = false
  public private(set) var name = ""
  public private(set) var avatar: MediaURI?
  public private(set) var topic: String?
  public private(set) var membership = Membership.leave
  public private(set) var isDirect = false
  public private(set) var isEncrypted = false
  public private(set) var joinedMemberCount = 0
  public private(set) var invitedMemberCount = 0
  /// Names of those who are writing now, without oneself.
  public private(set) var typing: [String] = []
  /// Unread messages that call for notice, and those of them that name one.
  public private(set) var notificationCount = 0
  public private(set) var highlightCount = 0
  /// Those of them that were said in threads, by the thread's root, where they are told apart.
  public private(set) var threadCounts: [EventID: UnreadCounts.Count] = [:]
  /// Whether there are such, or it is marked as unread.
  public private(set) var isUnread = false
  public private(set) var isMarkedUnread = false
  public private(set) var isFavourite = false
  public private(set) var isLowPriority = false
  /// Whether there are messages that could not be sent.
  public private(set) var hasUnsent = false
  /// What stands in the composer.
  public private(set) var draft = ""
  /// Everything before and at this event has been read.
  public private(set) var fullyRead: EventID?
  /// The room that replaces this one.
  public private(set) var successor: RoomID?
  public private(set) var preview: RoomPreviewText?
  /// Since 1970.
  public private(set) var lastActivityMilliseconds: Int64 = 0
  public private(set) var notificationMode = NotificationMode.allMessages
  /// Who may do what; nil where the events that say so are unknown: then the server is the one to decide.
  public private(set) var powerLevels: PowerLevels?

  @ObservationIgnored private let feed: ModelFeed
  @ObservationIgnored private var ownUserID: UserID?

  init(_ feed: ModelFeed, _ id: RoomID, _ look: RoomLook?) {
    self.feed = feed
    self.id = id
    if let look { take(look, .all) }
  }

  /// The verbs of the room.
  public nonisolated var room: MatrixRoom { MatrixRoom(client: feed.client, id: id) }

  /// The live timeline; it closes when the model goes.
  public var timeline: TimelineModel { feed.timeline(.live(id)) }

  // MARK: Power

  /// Whether one may send events of that type. True where the rules are unknown.
  public func canSend(_ type: EventType = .message, isState: Bool = false) -> Bool {
    asks { $0.canSend(type, isState: isState, by: $1) }
  }

  public var canInvite: Bool { asks { $0.canInvite(by: $1) } }
  public var canNotifyRoom: Bool { asks { $0.canNotifyRoom(by: $1) } }
  public func canKick(_ user: UserID) -> Bool { asks { $0.canKick(user, by: $1) } }
  public func canBan(_ user: UserID) -> Bool { asks { $0.canBan(user, by: $1) } }
  public func canRedact(eventOf sender: UserID) -> Bool { asks { $0.canRedact(eventOf: sender, by: $1) } }

  private func asks(_ question: (PowerLevels, UserID) -> Bool) -> Bool {
    guard membership == .join, let ownUserID else { return false }
    return powerLevels.map { question($0, ownUserID) } ?? true
  }

  // MARK: Writing

  /// What stands in the composer; also drives the typing notification.
  public func setDraft(_ text: String) async throws(ClientError) {
    try await feed.client.setDraft(ByteString(text), in: id)
  }

  // MARK: News

  func take(_ look: RoomLook, _ aspects: RoomAspects) {
    if !isKnown { isKnown = true }
    if name != look.name { name = look.name }
    if avatar != look.avatar { avatar = look.avatar }
    if topic != look.topic { topic = look.topic }
    if membership != look.membership { membership = look.membership }
    if joinedMemberCount != look.joinedMemberCount { joinedMemberCount = look.joinedMemberCount }
    if invitedMemberCount != look.invitedMemberCount { invitedMemberCount = look.invitedMemberCount }
    if typing != look.typing { typing = look.typing }
    if draft != look.draft { draft = look.draft }
    if preview != look.preview { preview = look.preview }
    if lastActivityMilliseconds != look.lastActivityMilliseconds { lastActivityMilliseconds = look.lastActivityMilliseconds }
    takeReading(look)
    takeSettings(look, aspects)
  }

  private func takeReading(_ look: RoomLook) {
    if notificationCount != look.notificationCount { notificationCount = look.notificationCount }
    if highlightCount != look.highlightCount { highlightCount = look.highlightCount }
    if threadCounts != look.threadCounts { threadCounts = look.threadCounts }
    if isUnread != look.isUnread { isUnread = look.isUnread }
    if isMarkedUnread != look.isMarkedUnread { isMarkedUnread = look.isMarkedUnread }
    if hasUnsent != look.hasUnsent { hasUnsent = look.hasUnsent }
    if fullyRead != look.fullyRead { fullyRead = look.fullyRead }
  }

  private func takeSettings(_ look: RoomLook, _ aspects: RoomAspects) {
    if isDirect != look.isDirect { isDirect = look.isDirect }
    if isFavourite != look.isFavourite { isFavourite = look.isFavourite }
    if isLowPriority != look.isLowPriority { isLowPriority = look.isLowPriority }
    if isEncrypted != look.isEncrypted { isEncrypted = look.isEncrypted }
    if successor != look.successor { successor = look.successor }
    if notificationMode != look.notificationMode { notificationMode = look.notificationMode }
    ownUserID = look.ownUserID
    // They cannot be compared, but they come seldom.
    if aspects.contains(.settings) { powerLevels = look.powerLevels }
  }
}
