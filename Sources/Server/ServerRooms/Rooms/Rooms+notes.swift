import Database
import MatrixModel
import ServerCore

/// What rooms in memory make of notes. What commands of this node did is staged in memory and is shown as it is; what another node did is
/// read from the rows, of rooms that are in memory.
extension Rooms: NoteFollower {
  /// New events that are shown, until those who wait are woken.
  struct Shown {
    var own: [StoredEvent] = []
    var others: [StoredEvent] = []
    /// Everything up to it that this node did is shown: a batch shows a room at its first note.
    var ownPosition: Int64 = 0
  }

  package func apply(_ note: Note, _ rows: CommittedRows) throws {
    switch note {
    case .room(let news): try show(news, rows)
    case .purged(let room): cache.removed(room)
    default: break
    }
  }

  package func wake(_ note: Note) {
    guard case .room(let news) = note else { return }
    let (own, others) = shown.withLock { shown in
      defer { (shown.own, shown.others) = ([], []) }
      return (shown.own, shown.others)
    }
    notifier.wake(news.number)
    for user in news.members { notifier.wake(user) }
    for event in own {
      stopTyping(event)
      // Presence belongs to the node at which the device acts.
      if let origin = event.origin, origin.delayID == nil { presence.active(event.sender, origin.deviceID) }
    }
    for event in others { stopTyping(event) }
    for observer in observers { observer.published(news) }
  }

  package func reload(_ rows: CommittedRows) {
    cache.removeAll()
    memberships.removeAll()
  }

  // MARK: Showing

  private func show(_ news: Note.RoomNews, _ rows: CommittedRows) throws {
    // What no event says is read at each node.
    var readsMembers = news.count == 0
    if let staged = cache.publish(news.number) {
      for event in staged.events where event.type == .member { enter(event) }
      shown.withLock { shown in
        shown.own += staged.events
        shown.ownPosition = max(shown.ownPosition, staged.room.position)
      }
    } else if news.reload {
      if let room = try rows.read({ try RoomLoader(transaction: $0).snapshot(of: news.number) }) { cache.replace(room) }
    } else if news.count > 0, news.upTo > shown.withLock({ $0.ownPosition }) {
      try readEvents(of: news, rows)
      readsMembers = true
    }
    if readsMembers, !news.members.isEmpty {
      try rows.read { transaction in
        for user in news.members {
          enter(try memberships.reread(user, in: news.number, at: news.upTo, transaction), of: user, in: news.number)
        }
      }
    }
    notifier.raise(news.number, to: news.upTo)
  }

  /// Adds the events of another node to the room that is in memory.
  private func readEvents(of news: Note.RoomNews, _ rows: CommittedRows) throws {
    guard var room = cache.cachedSnapshot(of: news.number), news.count <= RoomSnapshot.tailLimit else {
      return cache.drop(news.number, before: news.upTo)
    }
    try rows.read { transaction in
      let loader = RoomLoader(transaction: transaction)
      let events = try loader.events(in: news.number, before: news.upTo + 1, limit: news.count)
      // A reader may have loaded the room after the commit.
      for event in events.reversed() where event.position > room.position { room.append(event) }
      for position in news.replaced { if let event = try loader.event(at: position) { room.replace(event) } }
      shown.withLock { $0.others += events.reversed() }
    }
    if news.hasRelation { room.noteRelation() }
    cache.replace(room)
  }

  /// Shows what a member event of this node says.
  private func enter(_ event: StoredEvent) {
    guard let key = event.stateKey else { return }
    let membership = Membership(event.content["membership"]) ?? .leave
    let entry = Memberships.Entry(membership: membership, position: event.position, isForgotten: forgets(membership))
    memberships.publish(entry, of: UserID(trusted: key), in: event.room)
    enter(entry, of: UserID(trusted: key), in: event.room)
  }

  private func enter(_ entry: Memberships.Entry, of user: UserID, in room: RoomNumber) {
    // Before the room is raised: a sync that does not find the room among those of the user any more must find why.
    notifier.raise(user, entry.membership == .join, in: room, to: entry.position)
  }

  /// Ends the typing of a user who has sent the message or has left.
  private func stopTyping(_ event: StoredEvent) {
    guard let key = event.stateKey else { return typing.stop(event.sender, in: event.room) }
    guard event.type == .member, Membership(event.content["membership"]) != .join else { return }
    typing.stop(UserID(trusted: key), in: event.room)
  }
}
