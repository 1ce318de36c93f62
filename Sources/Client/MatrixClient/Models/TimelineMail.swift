import ClientCore
import MatrixModel

/// What has happened in a timeline that models show.
struct TimelineMail: Sendable {
  private var steps: [TimelineChange]
  /// Members with other names.
  private var members: Set<UserID> = []
  private var isTouched = true
  private var hasReaderNews = true
  /// Readers whose names the models have.
  private var namedReaders: Set<UserID> = []

  /// Steps that are kept; beyond them the timeline comes whole.
  static let stepsLimit = 200

  init(_ items: [TimelineItem]) { steps = [.reset(items)] }

  /// Its state may be different.
  mutating func touch() { isTouched = true }

  mutating func take(_ new: [TimelineChange]) {
    steps += new
    isTouched = true
    // A user who writes has read.
    hasReaderNews = true
  }

  mutating func take(_ users: [UserID]) { members.formUnion(users) }

  mutating func takeReaders() { hasReaderNews = true }

  /// nil where there is nothing new.
  mutating func collect(_ key: TimelineKey, _ core: Client) -> TimelineNews? {
    guard isTouched || hasReaderNews || !members.isEmpty, let timeline = core.timeline(key) else { return nil }
    if steps.count > TimelineMail.stepsLimit { steps = [.reset(timeline.items)] }
    var named = members.union(steps.flatMap { $0.senders })
    var readers: [ItemID: [UserID]]?
    if hasReaderNews {
      let new = timeline.readersByItem
      let users = Set(new.values.joined())
      named.formUnion(users.subtracting(namedReaders))
      namedReaders = users
      readers = new
    }
    defer { forgetNews() }
    return TimelineNews(
      key: key, steps: steps, look: TimelineLook(timeline, core.room(key.room), core), readers: readers,
      members: core.timelineMembers(named, in: key.room))
  }

  private mutating func forgetNews() {
    steps = []
    members = []
    isTouched = false
    hasReaderNews = false
  }
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

extension Timeline {
  /// `readers(at:)` of the items that have any.
  fileprivate var readersByItem: [ItemID: [UserID]] {
    var all: [ItemID: [UserID]] = [:]
    for item in items {
      let readers = readers(at: item.id)
      if !readers.isEmpty { all[item.id] = readers }
    }
    return all
  }
}

extension Client {
  fileprivate func timelineMembers(_ users: Set<UserID>, in id: RoomID) -> [UserID: TimelineMember] {
    guard let room = room(id) else { return [:] }
    var members: [UserID: TimelineMember] = [:]
    for user in users {
      members[user] = TimelineMember(name: room.displayName(of: user).string, avatar: room.avatar(of: user))
    }
    return members
  }
}
