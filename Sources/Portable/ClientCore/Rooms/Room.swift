import JSON
import MatrixModel

/// One room, as views read it.
public struct Room: Sendable {
  public let id: RoomID
  /// What the syncs have told; as stored.
  @Boxed var state: RoomState
  /// Empty until the room was opened.
  public internal(set) var timeline: Timeline {
    get { live.wrappedValue }
    _modify { yield &live.wrappedValue }
  }
  private var live = Boxed(wrappedValue: Timeline())
  /// Those of other focuses that are open.
  var focused: [Boxed<Timeline>] = []
  /// The users who are typing, without the account's own.
  public internal(set) var typing: [UserID] = []
  /// What stands in the composers, by the root of the thread; nil for the room itself.
  var drafts: [EventID?: Draft] = [:]
  var draftMarks: [DraftMark] = []
  var reading = Reading()
  var ownTyping = OwnTyping()
  var typingTimer: TimerID?
  /// The whole list is on its way from the server.
  var isLoadingMembers = false
  var arrivingMembers: ArrivingMembers?
  /// The members that syncs reported after the list was requested.
  var toldMembers: Set<UserID> = []
  /// Those the store has are on their way.
  var peopleLoad: LoadID?
  /// Commands that want the whole list.
  var waitingForPeople: [CommandID] = []
  var isDroppingSegments = false
  // Room list
  var unreadMark: UnreadMark?
  /// Messages that the user removed from their own view. The server may not know yet.
  var removing: [EventID] = []
  var echo = RoomEcho()
  // Unread
  /// The newest segments are on their way, to be counted; and whether they have to be counted once more.
  var unreadLoad: LoadID?
  var wantsRecount = false
  /// Whether the sender of the last message is ignored, or the user removed it from their own view.
  public internal(set) var hidesPreview = false
  /// Segments before this one were dropped: nothing may be stored in front of them any more.
  var firstSegment: SegmentPosition?

  init(id: RoomID, state: Boxed<RoomState>) {
    self.id = id
    _state = state
  }

  public var membership: Membership { state.membership }
  /// Spec: "Calculating the display name for a room".
  public var name: RoomName { state.computedName }
  /// The room's avatar; without one that of the other member of a direct chat, or of a room of two without a name.
  public var avatar: MediaURI? { state.computedAvatar }
  public var topic: ByteString? { state.topic }
  public var canonicalAlias: RoomAlias? { state.canonicalAlias }
  public var isDirect: Bool { state.directUserID != nil }
  /// The other one of a direct chat.
  public var directUserID: UserID? { state.directUserID }
  public var isEncrypted: Bool { state.isEncrypted }
  /// The room that replaces this one.
  public var successor: RoomID? { state.successor }
  /// What is pinned in the room, in the order of the pins.
  public var pinnedEvents: [EventID] { state.pinned }
  /// The events of those devices that are in the room's call, as far as they do not have expired.
  public var callMembers: [[UInt8]] { state.call.events.map { $0.json } }
  /// Who sent them.
  public var callUsers: [UserID] { state.call.users }
  public var joinedMemberCount: Int { state.joinedCount }
  public var invitedMemberCount: Int { state.invitedCount }
  /// Who invited one, in invited rooms.
  public var inviter: UserID? { state.inviter }
  /// Whether all members are known (`PeopleCommand.loadMembers`).
  public var hasAllMembers: Bool { state.hasAllMembers }
  /// Everything before and at this event has been read.
  public var fullyRead: EventID? { reading.fullyRead ?? state.fullyRead }

  /// Unread messages that call for notice; none as soon as the user has read to the end. By threads where the room is encrypted or
  /// the server tells them apart.
  public var unreadCounts: UnreadCounts {
    let known = state.unreadCounts
    guard let ahead = reading.localCount, ahead.total.notifications < known.total.notifications else { return known }
    return ahead
  }
  /// All of them.
  public var notificationCount: Int { unreadCounts.total.notifications }
  /// Of these, the ones that name the reader.
  public var highlightCount: Int {
    let known = state.unreadCounts.total.highlights
    let shown = unreadCounts.total
    return min(shown.highlights, known, shown.notifications)
  }

  /// As the spec tells ambiguous names apart; the user ID of unknown members. Until the room is opened, or its members are
  /// asked for (`PeopleCommand.loadMembers`), only the members whose names the room's line in a list shows are known.
  public func displayName(of user: UserID) -> ByteString { state.members.displayName(of: user) }
  public func avatar(of user: UserID) -> MediaURI? { state.members[user]?.avatar }
  public func membership(of user: UserID) -> Membership? { state.members[user]?.membership }
  /// When that user last said how far they have read, in milliseconds since 1970; nil where nobody knows.
  public func readTime(of user: UserID) -> Int64? {
    state.receipts[user]?.compactMap { $0.timeMilliseconds }.max()
  }
  /// The members known so far that have joined or are invited, in user ID order. O(members · log members).
  public var members: [Member] { state.members.present() }
  /// The same, as they come. O(members).
  public var memberIDs: [UserID] { state.members.all.filter { $0.isPresent }.map { $0.userID } }
  /// Who asks to be let in, as far as they are known, in user ID order; why is `Member.reason`. O(members).
  public var knockingMembers: [Member] { state.members.members(.knock) }
  /// O(members).
  public var bannedMembers: [Member] { state.members.members(.ban) }
  /// Who may do what; nil where the events that say so are unknown: then the server is the one to decide.
  public var powerLevels: PowerLevels? { state.power.levels }
}

/// The last message of a room, for its line in the list.
public struct RoomPreview: Sendable {
  public let eventID: EventID?
  public let sender: UserID
  public let timestampMilliseconds: Int64
  /// Its text is `MessageContent.previewText`: after a restart there is no other.
  public let content: MessageContent?
  /// Whether its content is not known because its key is not there.
  public internal(set) var isUndecryptable = false
  /// How far it is on its way.
  public internal(set) var delivery = Delivery.received
  /// When the edit that is shown was made; 0 without one.
  var editedAt: Int64 = 0
  /// The edit, and what stood there before, for when it is redacted.
  var edit: EventID?
  var original: Original?
  /// Of an event that cannot be read: what stood here before, at most one. It may turn out to be none that is shown.
  var before: [RoomPreview] = []

  struct Original: Sendable {
    let kind: MessageContent.Kind
    let body: ByteString
  }
  /// Whether its content was removed or cannot be read.
  public var isUnreadable: Bool { content == nil }
}
