import ClientCore
import MatrixModel

/// What has happened since the models of a `ModelFeed` last looked. The client keeps it and rings once, however much comes before
/// they look.
struct ModelMail: Sendable {
  private let bell: AsyncStream<Void>.Continuation
  /// What they show from the beginning counts as news.
  private var hasAccountNews = true
  private var hasOrderNews = true
  private var isAboutAllRooms = true
  private var rooms: [RoomID: RoomAspects] = [:]
  private var timelines: [TimelineKey: [TimelineChange]] = [:]
  /// Members with other names, in rooms whose timelines are watched.
  private var members: [RoomID: Set<UserID>] = [:]
  /// Watched timelines whose state may be different.
  private var touched: Set<TimelineKey> = []
  private var watched: Set<TimelineKey> = []

  /// Steps of one timeline that are kept; beyond them it comes whole.
  static let stepsLimit = 200

  init(_ bell: AsyncStream<Void>.Continuation) {
    self.bell = bell
    bell.yield()
  }

  /// The timeline comes whole, then by steps.
  mutating func watch(_ key: TimelineKey, _ items: [TimelineItem]) {
    watched.insert(key)
    timelines[key] = [.reset(items)]
    touched.insert(key)
    bell.yield()
  }

  mutating func unwatch(_ key: TimelineKey) {
    watched.remove(key)
    timelines[key] = nil
    touched.remove(key)
  }

  mutating func take(_ change: Change) {
    switch change {
    case .session, .connection, .profile: hasAccountNews = true
    case .roomOrder: hasOrderNews = true
    case .room(let id, let aspects):
      rooms[id, default: []].formUnion(aspects)
      for key in watched where key.room == id { touched.insert(key) }
    case .members(let id, let users):
      rooms[id, default: []].formUnion([.name, .typing, .preview])
      if watched.contains(where: { $0.room == id }) { members[id, default: []].formUnion(users) }
    case .timeline(let key, let steps):
      guard watched.contains(key) else { return }
      timelines[key, default: []] += steps
      touched.insert(key)
    case .pushRules: isAboutAllRooms = true
    case .readCounts, .commandFinished, .sending, .storeFailed, .roomList, .breadcrumbs, .spaces, .spaceCounts, .ignoredUsers,
      .presence, .arrived, .receipts, .accountData:
      return
    }
    bell.yield()
  }

  func close() { bell.finish() }

  /// Hands over the news, with what there is to see of them now.
  mutating func collect(_ core: Client) -> ModelBatch {
    var batch = ModelBatch()
    if hasAccountNews { batch.account = AccountLook(core) }
    if hasOrderNews { batch.order = core.roomIDs }
    if isAboutAllRooms { for id in core.roomIDs { rooms[id] = .all } }
    for (id, aspects) in rooms {
      if let room = core.room(id) { batch.rooms.append((RoomLook(room, in: core), aspects)) }
    }
    for key in touched {
      guard let timeline = core.timeline(key) else { continue }
      var steps = timelines[key] ?? []
      if steps.count > ModelMail.stepsLimit { steps = [.reset(timeline.items)] }
      let named = Set(steps.flatMap { $0.senders }).union(members[key.room] ?? [])
      batch.timelines.append(
        TimelineNews(key: key, steps: steps, look: TimelineLook(timeline), senders: core.senders(named, in: key.room)))
    }
    for (id, users) in members {
      for key in watched where key.room == id && !touched.contains(key) {
        guard let timeline = core.timeline(key) else { continue }
        batch.timelines.append(
          TimelineNews(key: key, steps: [], look: TimelineLook(timeline), senders: core.senders(users, in: id)))
      }
    }
    forgetNews()
    return batch
  }

  private mutating func forgetNews() {
    hasAccountNews = false
    hasOrderNews = false
    isAboutAllRooms = false
    rooms = [:]
    timelines = [:]
    members = [:]
    touched = []
  }
}

/// What the models are to show, taken at one moment.
struct ModelBatch: Sendable {
  var account: AccountLook?
  var order: [RoomID]?
  var rooms: [(look: RoomLook, aspects: RoomAspects)] = []
  var timelines: [TimelineNews] = []
}

struct TimelineNews: Sendable {
  let key: TimelineKey
  let steps: [TimelineChange]
  let look: TimelineLook
  let senders: [UserID: Sender]
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

  init(_ timeline: Timeline) {
    loadState = timeline.loadState
    backState = timeline.backState
    forwardState = timeline.forwardState
  }
}

/// A member as a message shows its sender.
public struct Sender: Sendable, Hashable {
  public let name: String
  public let avatar: MediaURI?
}

extension TimelineChange {
  fileprivate var senders: [UserID] {
    switch self {
    case .inserted(_, let items), .reset(let items): items.map { $0.sender }
    case .updated(_, let item): [item.sender]
    case .removed: []
    }
  }
}

extension Client {
  fileprivate func senders(_ users: Set<UserID>, in id: RoomID) -> [UserID: Sender] {
    guard let room = room(id) else { return [:] }
    var senders: [UserID: Sender] = [:]
    for user in users { senders[user] = Sender(name: room.displayName(of: user).string, avatar: room.avatar(of: user)) }
    return senders
  }
}
