import ClientCore
public import MatrixModel

/// The data for the models, of one moment.
struct ModelBatch: Sendable {
  var account: AccountLook?
  var order: [RoomID]?
  var rooms: [(look: RoomLook, aspects: RoomAspects)] = []
  var lists: [RoomListNews] = []
  var timelines: [TimelineNews] = []
}

struct TimelineNews: Sendable {
  let key: TimelineKey
  let steps: [TimelineChange]
  let look: TimelineLook
  /// nil if they have not changed.
  let readers: [ItemID: [UserID]]?
  let members: [UserID: TimelineMember]
}

struct AccountLook: Sendable {
  let sessionState: SessionState
  let userID: UserID?
  let connection: ConnectionState
  let displayName: String?
  let avatar: MediaURI?

  init(_ core: Client) {
    sessionState = core.sessionState
    userID = core.session?.userID
    connection = core.connection
    displayName = core.ownDisplayName?.string
    avatar = core.ownAvatar
  }
}

struct TimelineLook: Sendable {
  let loadState: Timeline.LoadState
  let backState: Timeline.BackState
  let forwardState: Timeline.ForwardState
  /// The number of members who can read messages; nil if the user is not in the room.
  let joinedMemberCount: Int?
  let ownUserID: UserID?

  init(_ timeline: Timeline, _ room: Room?, _ core: Client) {
    loadState = timeline.loadState
    backState = timeline.backState
    forwardState = timeline.forwardState
    joinedMemberCount = room.flatMap { $0.membership == .join ? $0.joinedMemberCount : nil }
    ownUserID = core.session?.userID
  }
}

/// A member who sent or has read an item of a timeline.
public struct TimelineMember: Sendable, Hashable {
  public let name: String
  public let avatar: MediaURI?
}
