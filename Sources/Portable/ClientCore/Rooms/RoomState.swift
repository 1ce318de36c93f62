import JSON
import MatrixModel

/// What the syncs have told about a room. A sync works on a copy, which takes the place of the old one once it is stored.
struct RoomState: Sendable {
  var membership: Membership
  var name: ByteString?
  var canonicalAlias: RoomAlias?
  var avatar: MediaURI?
  var topic: ByteString?
  var isEncrypted = false
  /// When that was first said, in milliseconds since 1970 by the sender's server; nil if it is not known.
  var encryptedAt: Int64?
  var successor: RoomID?
  var pinned: [EventID] = []
  var power = RoomPower()
  var settings = RoomSettings()
  var origins = StateOrigins()
  var inviter: UserID?
  /// Whether the invitation says that it is to a direct chat.
  var isDirectInvite = false
  /// The other one of a direct chat, from `m.direct`.
  var directUserID: UserID?

  var joinedCount = 0
  var invitedCount = 0
  var heroes: [UserID] = []
  /// All members known, or, without `hasPeople`, those the room's line in the list names.
  var members = Members()
  /// Whether `members` and `receipts` hold what the store does. A room that is new has nobody there.
  var hasPeople = true
  /// Members that the room's line names: those its name and avatar come from, the sender of the preview.
  var named: [UserID] = []
  var hasAllMembers = false
  /// Whether the store has them too.
  var storesAllMembers = false

  var notificationCount = 0
  var highlightCount = 0
  /// Of the server, where it tells those of threads apart; the others are of the main timeline then.
  var threadCounts: [EventID: UnreadCounts.Count] = [:]
  /// Counted here; nil where the server's count holds.
  var unread: UnreadCounts?
  /// Whether it has to be counted anew, which a kill may have prevented.
  var isMiscounted = false
  var ownReceipts = OwnReceipts()
  var fullyRead: EventID?
  /// Without `hasPeople` only those of the last syncs.
  var receipts: [UserID: [ReadReceipt]] = [:]
  /// How far the room has reached devices of others (`martlet.delivered`).
  var delivered: [UserID: EventID] = [:]

  var preview: RoomPreview?
  var lastActivity: Int64 = 0

  // Calls
  var call = CallMembers()

  // Room list
  var marks = RoomMarks()
  var space = SpaceState()

  var history = StoredHistory()
  var told = ToldRoom()

  var computedName = RoomName.empty(formerly: [])
  var computedAvatar: MediaURI?

  init(membership: Membership) { self.membership = membership }
}
