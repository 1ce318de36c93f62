public import ClientCore
public import MatrixModel
public import Observation

/// The model of a room for views.
@MainActor @Observable public final class RoomModel: Identifiable {
  public nonisolated let id: RoomID
  /// Whether the client knows the room. Until then, the other properties are empty.
  public private(set) var isKnown = false
  public private(set) var name = ""
  public private(set) var avatar: MediaURI?
  public private(set) var topic: String?
  public private(set) var membership = Membership.leave
  public private(set) var isDirect = false
  public private(set) var isEncrypted = false
  public private(set) var joinedMemberCount = 0
  public private(set) var invitedMemberCount = 0
  /// The names of the other users who are typing now.
  public private(set) var typing: [String] = []
  /// The number of unread messages that notify the user. `highlightCount` is the number of those that mention the user.
  public private(set) var notificationCount = 0
  public private(set) var highlightCount = 0
  /// The counts of unread messages in threads, by thread root, if the client counts threads separately.
  public private(set) var threadCounts: [EventID: UnreadCounts.Count] = [:]
  /// Whether there are unread messages that notify the user, or the room is marked as unread.
  public private(set) var isUnread = false
  public private(set) var isMarkedUnread = false
  public private(set) var isFavourite = false
  public private(set) var isLowPriority = false
  /// Whether the room has messages that could not be sent.
  public private(set) var hasUnsent = false
  /// The text in the composer.
  public private(set) var draft = ""
  /// The fully-read marker: the user has read this event and everything before it.
  public private(set) var fullyRead: EventID?
  /// The room that replaces this one.
  public private(set) var successor: RoomID?
  public private(set) var preview: RoomPreviewText?
  /// Milliseconds since 1970.
  public private(set) var lastActivityMilliseconds: Int64 = 0
  public private(set) var notificationMode = NotificationMode.allMessages
  /// The power levels; nil if their events are unknown. Then only the server can decide what the user is allowed to do.
  public private(set) var powerLevels: PowerLevels?

  @ObservationIgnored private let feed: ModelFeed
  @ObservationIgnored private var ownUserID: UserID?

  init(_ feed: ModelFeed, _ id: RoomID, _ look: RoomLook?) {
    self.feed = feed
    self.id = id
    if let look { take(look, .all) }
  }

  /// The handle of the room, with its functions.
  public nonisolated var room: MatrixRoom { MatrixRoom(client: feed.client, id: id) }

  /// The model of the live timeline. The timeline closes when nothing holds the model.
  public var timeline: TimelineModel { feed.timeline(.live(id)) }

  // MARK: Power

  /// Returns whether the user can send events of a type. True if the power levels are unknown.
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

  /// Sets the text in the composer, and sends typing notifications.
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
