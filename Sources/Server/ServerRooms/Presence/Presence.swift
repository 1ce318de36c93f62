import Database
import EventLoop
import JSON
import MatrixModel
import ServerAccounts
import ServerCore
import Synchronization

/// Who is online, idle or away: in memory, told by the counter that typing uses, so that sync tokens have one part for both.
///
/// A change is told to those who share a room, a moment later and together with the other changes of that moment: a wave of
/// reconnecting clients wakes everybody once. The user's own devices are told at once. Only the status message is written to disk.
///
/// Spec: Client-Server API, "Presence".
package final class Presence: Sendable {
  /// One user's newest change, at a value of the counter.
  struct Change: Sendable {
    let version: Int64
    let user: UserID
  }

  private struct State {
    var records: [UserID: PresenceRecord] = [:]
    /// Users who are not offline.
    var present: Set<UserID> = []
    /// In order of their versions; those a newer one of the same user has replaced are dropped now and then.
    var changes: [Change] = []
    var newest: [UserID: Int64] = [:]
    /// Changed, and not told yet.
    var waiting: Set<UserID> = []
    /// Changed, and other nodes are not told yet.
    var waitingForNodes: Set<UserID> = []
    var sweeps = 0
    var flushIsScheduled = false
    var sweepIsScheduled = false
  }

  /// Users remembered; beyond it those who are offline are forgotten, but for what is on disk.
  static let recordsLimit = 100_000
  /// How long changes are collected before they are told.
  static let flushMilliseconds: Int64 = 250
  /// How often it is looked who has become idle or has gone.
  static let sweepSeconds: Int64 = 5
  /// After so many sweeps other nodes are told of all who are here: some may have begun meanwhile, or missed something.
  static let sweepsUntilToldAgain = 6
  /// Bytes of a status message.
  package static let statusMessageBytesLimit = 1_024

  package let isEnabled: Bool
  private let state = Mutex(State())
  private let database: Database
  private let memberships: Memberships
  private let counter: EphemeralCounter
  private let notifier: Notifier
  private let observers: [any RoomObserver]
  private let clock: WallClock

  /// - Parameter counter: that of typing.
  init(
    isEnabled: Bool, database: Database, memberships: Memberships, counter: EphemeralCounter, notifier: Notifier,
    observers: [any RoomObserver], clock: WallClock
  ) {
    self.isEnabled = isEnabled
    self.database = database
    self.memberships = memberships
    self.counter = counter
    self.notifier = notifier
    self.observers = observers
    self.clock = clock
    if isEnabled { database.listenToNodes(about: .presence) { [weak self] in self?.hear(&$0) } }
  }

  // MARK: What happens

  /// A sync of a device begins and says how its user is; `ended` follows. Nothing where the client wants to go unseen.
  package nonisolated(nonsending) func began(_ user: UserID, _ device: DeviceID, _ presence: PresenceState) async throws {
    guard isEnabled, presence != .offline else { return }
    try await load(user)
    change(user) { $0.began(device, presence, at: $1) }
  }

  package func ended(_ user: UserID, _ device: DeviceID, _ presence: PresenceState) {
    guard isEnabled, presence != .offline else { return }
    change(user) { $0.ended(device, at: $1) }
  }

  /// The user did something: sent a message, read, typed. Costs a look into memory.
  func active(_ user: UserID, _ device: DeviceID?) {
    guard isEnabled, state.withLock({ $0.present.contains(user) }) else { return }
    change(user) { $0.active(device, at: $1) }
  }

  /// What a user says of themselves. Spec: `PUT /presence/{userId}/status`. Throws `M_TOO_LARGE`.
  ///
  /// - Parameter statusMessage: nil takes away the one there is.
  package func set(
    _ presence: PresenceState, _ statusMessage: ByteString?, of user: UserID, _ device: DeviceID
  ) async throws {
    guard (statusMessage?.count ?? 0) <= Self.statusMessageBytesLimit else {
      throw MatrixError.tooLarge("A status message has at most \(Self.statusMessageBytesLimit) bytes.")
    }
    guard isEnabled else { return }
    try await load(user)
    let now = clock.now()
    if state.withLock({ $0.records[user]?.statusMessage }) != statusMessage {
      try await database.write { transaction in
        try transaction.execute(
          """
          INSERT INTO presence(user_id, status_msg, last_active) VALUES ($1, $2, $3)
          ON CONFLICT(user_id) DO UPDATE SET status_msg = excluded.status_msg, last_active = excluded.last_active
          """, user, statusMessage, now)
      }
    }
    change(user, isByHand: true) { record, now in
      record.statusMessage = statusMessage
      record.set(device, presence, at: now)
    }
    // At once, so that another node at which the user syncs meanwhile tells the state together with the message.
    tellNodes()
  }

  // MARK: What is told

  /// Spec: `GET /presence/{userId}/status`. Where presence is switched off everyone is offline.
  ///
  /// Throws `M_FORBIDDEN` where the two share no room.
  package func status(of user: UserID, for reader: UserID) async throws -> PresenceStatus {
    guard isEnabled else { return PresenceStatus() }
    let isVisible = try await database.read { [memberships] transaction in
      let ignored = try IgnoredUsers.of(reader, in: transaction)
      return try user == reader || !ignored.contains(user) && memberships.share(user, reader, in: transaction)
    }
    guard isVisible else { throw MatrixError.forbidden("You share no room with this user.") }
    try await load(user)
    let now = clock.now()
    return state.withLock { $0.records[user]?.status(at: now) } ?? PresenceStatus()
  }

  /// The users who are not offline, with what they show.
  package func present() -> [(user: UserID, status: PresenceStatus)] {
    state.withLock { state in state.present.compactMap { user in state.records[user].map { (user, $0.shown) } } }
  }

  package func shown(of user: UserID) -> PresenceStatus? { state.withLock { $0.records[user]?.shown } }

  /// Who changed after `version`, up to and with `end`: first the reader, then the others, newest first.
  package func changes(after version: Int64, upTo end: Int64, for reader: UserID) -> [(user: UserID, status: PresenceStatus)] {
    state.withLock { state in
      var changes: [(UserID, PresenceStatus)] = []
      if let own = state.records[reader], own.ownVersion > version, own.ownVersion <= end {
        changes.append((reader, own.shown))
      }
      for change in state.changes.reversed() {
        if change.version <= version { break }
        guard change.version <= end, change.user != reader, state.newest[change.user] == change.version,
          let record = state.records[change.user]
        else { continue }
        changes.append((change.user, record.shown))
      }
      return changes
    }
  }

  /// How many of a room's members are online and how many idle. O(the fewer of members and users present).
  func counts(in room: RoomSnapshot) -> (online: Int, unavailable: Int) {
    state.withLock { state in
      var online = 0
      var unavailable = 0
      func count(_ user: UserID) {
        switch state.records[user]?.shown.state {
        case .online: online += 1
        case .unavailable: unavailable += 1
        default: break
        }
      }
      if state.present.count < room.members.count {
        for user in state.present where room.isJoined(user) { count(user) }
      } else {
        for (user, member) in room.members where member.membership == .join && state.present.contains(user) { count(user) }
      }
      return (online, unavailable)
    }
  }

  // MARK: Changing

  private func change(
    _ user: UserID, isByHand: Bool = false, _ body: (inout PresenceRecord, _ now: Int64) -> Void
  ) {
    let now = clock.now()
    let (flushes, sweeps, ownVersion) = state.withLock { state in
      let change = state.records[user, default: PresenceRecord()].change(at: now, body)
      let isNews = Self.show(change, of: user, &state)
      let isNewsElsewhere = database.isNode && Self.hasNewsForNodes(user, at: now, &state)
      let ownVersion = noteOwn(change, of: user, isByHand: isByHand, &state)
      if isByHand { state.waiting.insert(user) }
      if state.records.count > Self.recordsLimit { state.records = state.records.filter { state.present.contains($0.key) } }
      let flushes = (isNews || isByHand || isNewsElsewhere) && !state.flushIsScheduled
      let sweeps = !state.present.isEmpty && !state.sweepIsScheduled
      if flushes { state.flushIsScheduled = true }
      if sweeps { state.sweepIsScheduled = true }
      return (flushes, sweeps, ownVersion)
    }
    if let ownVersion { notifier.note(presence: ownVersion, of: user) }
    if flushes { _ = Notifier.loop?.schedule(after: .milliseconds(Self.flushMilliseconds)) { [weak self] in self?.flush() } }
    if sweeps { scheduleSweep() }
  }

  /// Takes note of what others are shown of a user. Answers whether they have to be told.
  private static func show(
    _ change: (old: PresenceStatus, new: PresenceStatus), of user: UserID, _ state: inout State
  ) -> Bool {
    let (old, new) = change
    if new.state == .offline {
      if old.state != .offline { state.present.remove(user) }
    } else if old.state == .offline {
      state.present.insert(user)
    }
    let isNews = new.differs(from: old)
    if isNews { state.waiting.insert(user) }
    return isNews
  }

  /// Counts a change that the user's own devices are told, and returns its number: another state, another status message or
  /// what the user said by hand. Whether the user is active is for others: each message would end its sender's own syncs.
  ///
  /// It is told at once, so that an answer has the change of its own request, and its token comes after it.
  private func noteOwn(
    _ change: (old: PresenceStatus, new: PresenceStatus), of user: UserID, isByHand: Bool, _ state: inout State
  ) -> Int64? {
    guard isByHand || change.new.hasOtherState(than: change.old) else { return nil }
    let version = counter.next()
    state.records[user]?.ownVersion = version
    return version
  }

  /// Looks who has become idle or has gone meanwhile.
  func sweep() {
    let now = clock.now()
    let (flushes, sweeps, ownVersions) = state.withLock { state in
      var ownVersions: [(user: UserID, version: Int64)] = []
      for user in state.present {
        let change = state.records[user]?.change(at: now) { record, now in record.forgetAway(at: now) }
        guard let change else { continue }
        _ = Self.show(change, of: user, &state)
        if let version = noteOwn(change, of: user, isByHand: false, &state) { ownVersions.append((user, version)) }
        if database.isNode { _ = Self.hasNewsForNodes(user, at: now, &state) }
      }
      state.sweeps += 1
      if database.isNode, state.sweeps.isMultiple(of: Self.sweepsUntilToldAgain) {
        state.waitingForNodes.formUnion(state.present.filter { state.records[$0]?.told.state != .offline })
      }
      state.sweepIsScheduled = !state.present.isEmpty
      return (!(state.waiting.isEmpty && state.waitingForNodes.isEmpty), state.sweepIsScheduled, ownVersions)
    }
    for (user, version) in ownVersions { notifier.note(presence: version, of: user) }
    if flushes { flush() }
    if sweeps { scheduleSweep() }
  }

  private func scheduleSweep() {
    _ = Notifier.loop?.schedule(after: .seconds(Self.sweepSeconds)) { [weak self] in self?.sweep() }
  }

  /// Tells what has changed to those who share a room.
  func flush() {
    tellNodes()
    let (version, users) = state.withLock { state -> (Int64, Set<UserID>) in
      state.flushIsScheduled = false
      let users = state.waiting
      state.waiting = []
      var version: Int64 = 0
      for user in users {
        version = counter.next()
        state.changes.append(Change(version: version, user: user))
        state.newest[user] = version
      }
      if state.changes.count > 2 * state.newest.count + 64 {
        let newest = state.newest
        state.changes.removeAll { newest[$0.user] != $0.version }
      }
      return (version, users)
    }
    guard !users.isEmpty else { return }
    var concerned: Set<RoomNumber> = []
    for user in users {
      for (room, entry) in memberships.cachedRooms(of: user) ?? [:] where entry.membership == .join {
        concerned.insert(room)
      }
    }
    for observer in observers { observer.presenceChanged(of: users) }
    notifier.note(presence: version, in: concerned)
  }

  // MARK: Other nodes

  /// Takes note of users whose devices here are not as other nodes were told.
  private static func hasNewsForNodes(_ user: UserID, at now: Int64, _ state: inout State) -> Bool {
    guard let record = state.records[user] else { return false }
    let here = record.statusHere(at: now)
    guard here.differs(from: record.told), !(here.state == .offline && record.told.state == .offline) else { return false }
    state.waitingForNodes.insert(user)
    return true
  }

  private func tellNodes() {
    let now = clock.now()
    let news = state.withLock { state in
      let users = state.waitingForNodes
      state.waitingForNodes = []
      return users.compactMap { user -> (UserID, PresenceStatus)? in
        guard let here = state.records[user]?.statusHere(at: now) else { return nil }
        state.records[user]?.told = here
        return (user, here)
      }
    }
    for (user, status) in news {
      var message = NoteWriter()
      message.write(user)
      message.write(count: Int(status.state.rawValue))
      message.write(status.lastActive)
      message.write(status.statusMessage.map { Array($0.utf8) } ?? [])
      message.write(DeviceID(trusted: ByteString("node \(database.run)")))
      database.tellNodes(message, about: .presence)
    }
  }

  private func hear(_ message: inout NoteReader) {
    guard let user: UserID = message.identifier(), let number = message.number(),
      let state = UInt8(exactly: number).flatMap(PresenceState.init(rawValue:)), let lastActive = message.integer(),
      let statusMessage = message.text(), let node: DeviceID = message.identifier()
    else { return }
    let status = PresenceStatus(
      state: state, statusMessage: statusMessage.isEmpty ? nil : statusMessage, lastActive: lastActive)
    Task {
      do {
        try await load(user)
        change(user) { $0.heard(status, from: node, at: $1) }
      } catch {
        // It is said again.
      }
    }
  }

  // MARK: Rows

  /// Loads a user's record once, with their rooms, which say who must be told.
  private nonisolated(nonsending) func load(_ user: UserID) async throws {
    if state.withLock({ $0.records[user] != nil }) { return }
    let stored = try await database.read { [memberships] transaction in
      _ = try memberships.rooms(of: user, in: transaction)
      return try transaction.first("SELECT status_msg, last_active FROM presence WHERE user_id = $1", user) { row in
        (row.optionalText(0).map { ByteString($0) }, row.integer(1))
      }
    }
    state.withLock { state in
      guard state.records[user] == nil else { return }
      var record = PresenceRecord()
      if let stored {
        record.statusMessage = stored.0
        record.lastActive = stored.1
        record.shown.statusMessage = stored.0
        record.shown.lastActive = stored.1
      }
      state.records[user] = record
    }
  }
}

extension Memberships {
  /// Whether two users are in a room together. O(rooms of either).
  func share(_ user: UserID, _ other: UserID, in transaction: ReadTransaction) throws -> Bool {
    Self.share(try rooms(of: user, in: transaction), try rooms(of: other, in: transaction))
  }

  package static func share(_ rooms: Rooms, _ others: Rooms) -> Bool {
    let (fewer, more) = rooms.count < others.count ? (rooms, others) : (others, rooms)
    return fewer.contains { $0.value.membership == .join && more[$0.key]?.membership == .join }
  }
}

extension Rooms {
  /// How many members of a room are there. `martlet.online`. Throws `M_FORBIDDEN` where the user is not in the room.
  package func onlineCounts(
    in roomID: RoomID, for user: UserID
  ) async throws -> (online: Int, unavailable: Int, joined: Int) {
    let room = try await joinedRoom(roomID, of: user)
    let counts = presence.counts(in: room)
    return (counts.online, counts.unavailable, room.joinedCount)
  }
}
