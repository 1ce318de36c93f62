import ClientCore
public import MatrixModel

/// What the models are to show, taken at one moment.
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
  /// nil where they are the same.
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
  /// Who can read what is said; nil where one is not in the room.
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

/// A member as a timeline shows who wrote an item or has read it.
public struct TimelineMember: Sendable, Hashable {
  public let name: String
  public let avatar: MediaURI?
}
