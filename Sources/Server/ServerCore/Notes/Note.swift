import Database
import JSON
import MatrixModel

/// What changed with a commit, for everything in memory that was made of the rows: every node of a cluster applies the same notes in the same
/// order. A note names what is to be read again; it carries no content of users.
package enum Note: Sendable, Equatable {
  /// A room has changed.
  case room(RoomNews)
  /// A room is deleted.
  case purged(RoomNumber)
  /// Receipts of users in a room have moved, the last at a position. All members may see them.
  case receipts(RoomNumber, of: [UserID], upTo: Int64)
  /// There is something for each of the users at a position.
  case news([UserID], position: Int64)
  /// There is something in a room for one of its members alone: a receipt that nobody else may see.
  case onlyFor(UserID, in: RoomNumber, position: Int64)
  /// A user's push rules have changed.
  case rules(UserID)
  /// Sessions of a user have ended or changed: those of the devices, or all if none is named.
  case sessions(UserID, devices: [DeviceID])
  /// What a user wrote up to a position is erased.
  case erased(UserID, position: Int64)
  /// A pusher is set or gone.
  case pusher(PusherNews)
  /// A project of the call server is made, changed or gone.
  case project(ByteString)
  /// The content of a media ID is there.
  case media(ByteString)
  /// Events to be sent later are new or moved.
  case delayed
  /// A worker of that name has something to do.
  case work(ByteString)
  /// A room is used by a chapter that remembers which rooms it need not look at.
  case inUse(Chapter, RoomNumber)
  /// There are messages for devices of a user.
  case toDevice(UserID, [DeviceID])

  package struct RoomNews: Sendable, Equatable {
    package var number: RoomNumber
    /// Of the newest event.
    package var upTo: Int64
    /// The number of new events, the last at `upTo`.
    package var count = 0
    /// Users whose membership has changed, or who have forgotten the room.
    package var members: [UserID] = []
    /// Positions of older events that are others now: they are redacted.
    package var replaced: [Int64] = []
    /// Whether a new event relates to another.
    package var hasRelation = false
    package var hasPowerLevels = false
    /// Whether the room is to be read anew as a whole.
    package var reload = false

    package init(number: RoomNumber, upTo: Int64) {
      self.number = number
      self.upTo = upTo
    }
  }

  package struct PusherNews: Sendable, Equatable {
    package var user: UserID
    package var appID: ByteString
    package var pushkey: ByteString
    /// Events after it are for the pusher.
    package var position: Int64

    package init(user: UserID, appID: ByteString, pushkey: ByteString, position: Int64) {
      self.user = user
      self.appID = appID
      self.pushkey = pushkey
      self.position = position
    }
  }

  package enum Chapter: UInt8, Sendable { case hidden, delayed }

  /// Numbers of the bytes, never used for something else.
  package enum Kind: UInt8, Sendable, CaseIterable {
    case room = 1
    case purged, receipts, news, onlyFor, rules, sessions, erased, pusher, project, media, delayed, work, inUse, toDevice
  }

  package var kind: Kind {
    switch self {
    case .room: .room
    case .purged: .purged
    case .receipts: .receipts
    case .news: .news
    case .onlyFor: .onlyFor
    case .rules: .rules
    case .sessions: .sessions
    case .erased: .erased
    case .pusher: .pusher
    case .project: .project
    case .media: .media
    case .delayed: .delayed
    case .work: .work
    case .inUse: .inUse
    case .toDevice: .toDevice
    }
  }
}
