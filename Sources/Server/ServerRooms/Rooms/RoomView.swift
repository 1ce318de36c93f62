import Database
import MatrixModel
import RoomRules
import ServerAccounts

/// One room as one user may see it: which of its events, and its state as of when.
///
/// Spec: Client-Server API, "Room History Visibility", "Server behaviour".
package struct RoomView: Sendable {
  package let room: RoomSnapshot
  package let user: UserID
  package let membership: Membership?
  /// Of who was in the room and is out: the position where they went; what came later is not theirs to see but for what
  /// happened to their own membership (a ban, that it was lifted, a knock taken back, an invitation declined).
  package let leftAt: Int64?
  /// Messages older than this, in milliseconds since 1970, are gone. See `Rooms.expiry(of:)`.
  package let expiry: Int64

  /// What the past was, where the present does not tell it all: oldest first, each from its position on.
  private struct History: Sendable {
    var memberships: [(position: Int64, value: Membership)] = []
    var visibilities: [(position: Int64, value: HistoryVisibility)] = []

    /// Where the user, who is out now, went out; nil where they were never in.
    var endOfLastStay: Int64? {
      guard let last = memberships.lastIndex(where: { $0.value == .join }) else { return nil }
      return memberships[(last + 1)...].first?.position
    }
  }

  /// Whether every event is visible, which is the rule: to a member of a room whose visibility never changed.
  private let seesAll: Bool
  private let history: History
  /// Whose messages the user does not want to see; empty where the caller takes care of it.
  private let ignored: Set<UserID>

  package init(
    _ room: RoomSnapshot, user: UserID, ignoring ignored: Set<UserID> = [], in transaction: ReadTransaction, expiry: Int64
  ) throws {
    self.expiry = expiry
    self.ignored = ignored
    self.room = room
    self.user = user
    let member = room.members[user]
    membership = member?.membership
    let neverChanged = room[.historyVisibility]?.replaced == nil
    seesAll =
      membership == .join && neverChanged
      && (room.historyVisibility == .shared || room.historyVisibility == .worldReadable)
    let loader = RoomLoader(transaction: transaction)
    var history = History()
    if let member, member.event.replaced == nil {
      history.memberships = [(member.event.position, member.membership)]
    } else if member != nil {
      for entry in try loader.history(of: room.number, .member, user.text) {
        history.memberships.append((entry.position, Membership(entry.event.content["membership"]) ?? .leave))
      }
    }
    if !seesAll {
      for entry in try loader.history(of: room.number, .historyVisibility, "") {
        history.visibilities.append((entry.position, HistoryVisibility(entry.event.content["history_visibility"])))
      }
    }
    self.history = history
    leftAt = membership == .leave || membership == .ban ? history.endOfLastStay : nil
  }

  /// How the user stood to the room when the event had been sent. Spec: Client-Server API, `membership` of `UnsignedData`.
  package func membership(at event: StoredEvent) -> Membership {
    Self.value(history.memberships, at: event.position) ?? .leave
  }

  /// The position up to which the user may read: where they went out, nil for all there is. Who went out of a room that
  /// everyone may read reads on like everyone.
  package var end: Int64? { room.historyVisibility == .worldReadable ? nil : leftAt }

  package func canSee(_ event: StoredEvent) -> Bool {
    if event.stateKey == nil, ignored.contains(event.sender) { return false }
    if event.hasExpired(at: expiry) { return false }
    return canSee(at: event.position, isOwnMembership: event.type == .member && event.stateKey == user.text)
  }

  /// Whether the user may see a message that was sent there, at that time.
  package func canSee(messageAt position: Int64, sentAt timestamp: Int64) -> Bool {
    timestamp >= expiry && canSee(at: position, isOwnMembership: false)
  }

  /// Whether no event of the room is hidden from the user.
  package var seesEverything: Bool { seesAll && expiry == .min }

  private func canSee(at position: Int64, isOwnMembership: Bool) -> Bool {
    if seesAll { return true }
    // Of a user who is out: also that an invitation ended, when they never were in.
    if isOwnMembership, membership == .leave || membership == .ban, position > leftAt ?? 0 { return true }
    if let leftAt, position > leftAt {
      guard Self.value(history.visibilities, before: position) == .worldReadable else { return false }
    }
    let memberships = [Self.value(history.memberships, before: position), Self.value(history.memberships, at: position)]
    let visibilities = [Self.value(history.visibilities, before: position), Self.value(history.visibilities, at: position)]
    let joinsLater = history.memberships.contains { $0.position > position && $0.value == .join }
    return visibilities.contains { visibility in
      memberships.contains { Self.allows(visibility ?? .shared, $0, joinsLater: joinsLater) }
    }
  }

  /// The positions at which it changed what the user may see, in no order; empty where it never did.
  package var changes: [Int64] {
    seesAll ? [] : history.memberships.map(\.position) + history.visibilities.map(\.position)
  }

  /// Whether the user may read any of it now.
  package var canRead: Bool {
    membership == .join || leftAt != nil || room.historyVisibility == .worldReadable
  }

  private static func allows(_ visibility: HistoryVisibility, _ membership: Membership?, joinsLater: Bool) -> Bool {
    if visibility == .worldReadable || membership == .join { return true }
    switch visibility {
    case .shared: return joinsLater
    case .invited: return membership == .invite
    case .worldReadable, .joined: return false
    }
  }

  private static func value<Value>(_ history: [(position: Int64, value: Value)], at position: Int64) -> Value? {
    history.last { $0.position <= position }?.value
  }

  private static func value<Value>(_ history: [(position: Int64, value: Value)], before position: Int64) -> Value? {
    history.last { $0.position < position }?.value
  }
}

extension RoomView {
  /// The event, where it is in the room and the user may see it.
  func event(_ eventID: EventID, in transaction: ReadTransaction) throws -> StoredEvent? {
    guard let event = try RoomLoader(transaction: transaction).event(eventID), event.room == room.number, canSee(event)
    else { return nil }
    return event
  }
}

extension StoredEvent {
  /// Whether it is a message older than `expiry`. State does not age.
  package func hasExpired(at expiry: Int64) -> Bool { stateKey == nil && timestamp < expiry }
}

extension Rooms {
  /// The room as of the last commit. Throws `M_FORBIDDEN` where the user is not joined.
  package func joinedRoom(_ roomID: RoomID, of user: UserID) async throws -> RoomSnapshot {
    let cached = cache.cachedSnapshot(of: roomID)
    let room = if let cached { cached } else { try await database.read { try self.cache.snapshot(of: roomID, in: $0) } }
    guard let room, room.isJoined(user) else { throw MatrixError.forbidden("You are not in this room.") }
    return room
  }

  /// The room as `user` sees it, for reading.
  ///
  /// - Parameter hidesIgnored: whether messages of users that the reader ignores are left out.
  /// Throws `M_FORBIDDEN` where the user was never in the room, nor may everyone read it, nor does it exist.
  package func view(
    of roomID: RoomID, for user: UserID, in transaction: ReadTransaction, hidesIgnored: Bool = true
  ) throws -> RoomView {
    guard let room = try cache.snapshot(of: roomID, in: transaction) else {
      throw MatrixError.forbidden("You are not in this room.")
    }
    let ignored = hidesIgnored ? try IgnoredUsers.of(user, in: transaction) : []
    let view = try RoomView(room, user: user, ignoring: ignored, in: transaction, expiry: expiry(of: room))
    guard view.canRead else { throw MatrixError.forbidden("You are not in this room.") }
    if view.leftAt != nil, try memberships.rooms(of: user, in: transaction)[room.number]?.isForgotten ?? false {
      throw MatrixError.forbidden("You have left and forgotten this room.")
    }
    return view
  }
}
