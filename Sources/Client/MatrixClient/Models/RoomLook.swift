import ClientCore
import MatrixModel

/// The data for a room's model.
struct RoomLook: Sendable {
  let id: RoomID
  let name: String
  let avatar: MediaURI?
  let topic: String?
  let membership: Membership
  let isDirect: Bool
  let isEncrypted: Bool
  let joinedMemberCount: Int
  let invitedMemberCount: Int
  let typing: [String]
  let notificationCount: Int
  let highlightCount: Int
  let threadCounts: [EventID: UnreadCounts.Count]
  let isUnread: Bool
  let isMarkedUnread: Bool
  let isFavourite: Bool
  let isLowPriority: Bool
  let hasUnsent: Bool
  let draft: String
  let fullyRead: EventID?
  let successor: RoomID?
  let preview: RoomPreviewText?
  let lastActivityMilliseconds: Int64
  let notificationMode: NotificationMode
  let ownUserID: UserID?
  let powerLevels: PowerLevels?

  init(_ room: Room, in core: Client) {
    id = room.id
    name = room.name.english.string
    avatar = room.avatar
    topic = room.topic?.string
    membership = room.membership
    isDirect = room.isDirect
    isEncrypted = room.isEncrypted
    joinedMemberCount = room.joinedMemberCount
    invitedMemberCount = room.invitedMemberCount
    typing = room.typing.map { room.displayName(of: $0).string }
    notificationCount = room.notificationCount
    highlightCount = room.highlightCount
    threadCounts = room.unreadCounts.threads
    isUnread = room.isUnread
    isMarkedUnread = room.isMarkedUnread
    isFavourite = room.isFavourite
    isLowPriority = room.isLowPriority
    hasUnsent = room.hasUnsent
    draft = room.draft.string
    fullyRead = room.fullyRead
    successor = room.successor
    preview = room.preview.map { RoomPreviewText($0, in: room) }
    lastActivityMilliseconds = room.lastActivityMilliseconds
    notificationMode = core.notificationMode(of: room.id)
    ownUserID = core.session?.userID
    powerLevels = room.powerLevels
  }
}

/// The last message of a room, for its row in a list.
public struct RoomPreviewText: Sendable, Hashable {
  public let sender: UserID
  public let senderName: String
  /// The text; nil if the message was redacted or cannot be decrypted.
  public let body: String?
  public let kind: MessageContent.Kind?
  /// Milliseconds since 1970.
  public let timestampMilliseconds: Int64

  init(_ preview: RoomPreview, in room: Room) {
    sender = preview.sender
    senderName = room.displayName(of: preview.sender).string
    body = preview.content?.body.string
    kind = preview.content?.kind
    timestampMilliseconds = preview.timestampMilliseconds
  }
}
