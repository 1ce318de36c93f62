/// Bounds and intervals of the client, each in one place.
enum Limits {
  /// How long the server may hold a sync without news.
  static let longPollMilliseconds: Int64 = 30_000
  /// What a sync may take beyond that; a first sync may take all of it.
  static let syncGraceMilliseconds: Int64 = 90_000
  static let requestTimeoutMilliseconds: Int64 = 30_000
  static let uploadTimeoutMilliseconds: Int64 = 600_000
  static let backoffFirstMilliseconds: Int64 = 1_000
  static let backoffLastMilliseconds: Int64 = 30_000
  /// Longest wait that a server's `retry_after_ms` is followed to.
  static let retryAfterMilliseconds: Int64 = 600_000
  /// What members of a room may have to wait between two messages. Documentation/Extensions.md, `martlet.slow_mode`.
  static let slowModeMilliseconds: Int64 = 21_600_000
  /// Events of a room's timeline that one sync brings.
  static let syncEvents = 20
  /// Rooms that a sliding sync tells first, and how many more it tells at most with each further answer.
  static let firstRooms = 20
  static let furtherRooms = 500
  /// Rooms that a sliding sync tells at all.
  static let listedRooms = 1_000_000
  /// Events of a room in the list, and of one whose timeline is in memory.
  static let listedRoomEvents = 10
  static let subscribedRoomEvents = 50
  static let subscribedRooms = 20
  static let pageEvents = 50
  /// Pages without anything to show that are followed by the next one at once.
  static let emptyPages = 10
  /// Between two syncs on the average; see `SyncPace`.
  static let syncPaceMilliseconds: Int64 = 50
  /// Syncs that may follow at once.
  static let syncBurst: Int64 = 10
  /// Places of timelines where a page is asked for again.
  static let interruptedPages = 16
  /// How often that is done after failures in a row, about three minutes long; then the connection's return is waited for.
  static let pageRetries = 10
  /// Events of a room that stay in the store, and of all rooms.
  static let storedEvents = 20_000
  static let storedEventsInAll = 2_000_000
  /// Events that a room keeps when others need its place.
  static let storedEventsOfQuietRoom = 200
  /// Segments read at a time: from the end of a timeline, and to be dropped.
  static let loadedSegments = 20
  static let droppedSegments = 200
  /// Items a page from the store brings, if there are so many.
  static let storedPageItems = 50
  /// Timelines in memory besides the open ones.
  static let keptTimelines = 4
  /// Items of a timeline that is kept without being open.
  static let keptItems = 2_000
  /// Items of a room on the screen beyond which the older ones leave the memory once the reader is at its end.
  static let openItems = 3_000
  /// More of them at once are sorted with all others.
  static let roomsPlacedOneByOne = 32
  /// Rooms whose members stay in memory besides those whose timeline does.
  static let keptPeople = 16
  /// Members that a room's name is made of.
  static let namedMembers = 5
  /// Members that a server names to stand for a room.
  static let heroes = 20
  /// Member lists beyond this are not stored whole.
  static let storedMembers = 1_000
  /// Of a server's list of members, taken in at a time: some milliseconds of a page on a phone.
  static let membersAtOnce = 500
  /// "10-second fuse": someone who went away without a word stops writing.
  static let typingFuseMilliseconds: Int64 = 10_000
  /// While text goes in, the server hears about it this often, and forgets after the second figure.
  static let typingRefreshMilliseconds: Int64 = 8_000
  /// Readers of encrypted rooms are looked at again after so long while somebody writes.
  static let prepareMilliseconds: Int64 = 30_000
  static let typingTimeoutMilliseconds: Int64 = 12_000
  /// Who writes in a room at a time.
  static let typingUsers = 100
  static let receiptIntervalMilliseconds: Int64 = 1_000
  static let draftDelayMilliseconds: Int64 = 500
  static let draftSyncMilliseconds: Int64 = 3_000
  /// Of a draft that follows the account.
  static let passedDraftBytes = 24_000
  /// Of one room.
  static let passedDrafts = 500
  /// Messages of a room that an account has removed for itself: 60 KB of account data.
  static let removedEvents = 1_000
  /// Of one tag in a room.
  static let taggedEvents = 1_000
  /// Files of one room that are uploaded at a time.
  static let uploadsInRoom = 3
  /// Messages waiting in the outbox.
  static let outboxEntries = 1_000

  // Contents
  /// Devices in the call of a room, and bytes of what each says.
  static let callMembers = 200
  static let callMemberBytes = 4_096
  /// Calls of a room whose ends are remembered, invitations of one, and the length of their IDs.
  static let calls = 1_000
  static let invitesOfCall = 4
  /// Comings and goings of a room's calls, of one timeline.
  static let callStays = 500
  /// How long a membership is good that does not say so itself. MSC4143.
  static let callMembershipMilliseconds: Int64 = 14_400_000
  static let callIDBytes = 255
  /// Events that refer to one, as kept.
  static let references = 1_000
  /// Events by which a verification goes on, as kept.
  static let verificationSigns = 20
  /// Last positions of a live location.
  static let liveLocationPositions = 100
  /// Last beginnings and ends of a person's live locations in a room.
  static let liveLocationShares = 50
  /// Events around one that is opened by a link.
  static let contextEvents = 40
  /// Events kept that were asked for by their ID, and their bytes together.
  static let eventSources = 1_000
  static let eventSourceBytes = 4 << 20

  // Room list
  static let roomTags = 100
  /// Spec: "Room Tagging".
  static let tagBytes = 255
  static let breadcrumbs = 20

  // Spaces
  /// Children of a space, and spaces that a room says it is in.
  static let spaceChildren = 10_000
  static let spaceParents = 100
  /// Servers that the client writes into a link between room and space.
  static let spaceServersChosen = 3
  /// Members whose servers are looked at for that.
  static let spaceServerMembers = 100
  static let spaceBranches = 10_000
  static let spaceDepth = 64

  // People
  /// Members of rooms in which servers keep receipts for delivery.
  static let deliveryMembers = 100
  /// Users whose presence is kept.
  static let presences = 10_000

  // Queries and tokens
  /// How long a query waits in all where the server says `M_LIMIT_EXCEEDED`, and the least that it waits at a time.
  static let queryWaitMilliseconds: Int64 = 60_000
  static let queryPauseMilliseconds: Int64 = 100
  /// An access token is refreshed so long before it expires, but never in the first three quarters of its life.
  static let refreshMarginMilliseconds: Int64 = 60_000
  /// How often a request goes out once more because the server does not know its token.
  static let tokenRefusals = 2

  // Sending
  /// The number of bytes of a reaction's key, for own reactions and those of others.
  static let reactionBytes = 1_024

  // Notifications
  static let keywordBytes = 255
  /// Segments in which unread events are looked for, threads of a room with a figure of their own, own receipts kept of a room.
  static let countedSegments = 50
  static let countedThreads = 200
  static let ownReceipts = 200
}
