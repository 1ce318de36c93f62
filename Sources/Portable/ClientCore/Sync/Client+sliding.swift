import JSON
import MatrixModel

/// The answers of simplified sliding sync. Spec: MSC4186; both its last names and those of the unstable path are read.
extension Client {
  /// nil where the answer is not what the proposal says.
  func prepareSliding(_ json: JSON, ownUserID: UserID) -> PreparedSync? {
    guard let token = json.text("pos"), !token.isEmpty,
      let count = json["lists"]?[SlidingRequest.listName]?["count"]?.count32
    else { return nil }
    var sync = PreparedSync(position: syncLoop.position, number: syncLoop.started)
    sync.position.token = token
    let extensions = json["extensions"]
    if let next = extensions?["to_device"]?.text("next_batch") { sync.position.toDevice = next }
    for event in (extensions?["account_data"]?["global"]).map({ Array($0.elements) }) ?? [] {
      prepare(accountData: event, ownUserID, &sync)
    }
    let news = slidingNews(json, ownUserID)
    if news.contains(where: { $0.notifications ?? 0 > 0 }) { sync.position.countsUnread = true }
    for news in news { prepare(news, ownUserID, &sync) }
    settleActivity(&sync)
    sync.roomCount = min(count, Limits.listedRooms)
    finish(&sync, isComplete: syncLoop.window >= min(count, Limits.listedRooms), ownUserID)
    return sync
  }

  /// Rooms of which something is told, with what the extensions tell of them.
  private func slidingNews(_ json: JSON, _ ownUserID: UserID) -> [RoomNews] {
    var news: [RoomNews] = []
    var places: [RoomID: Int] = [:]
    for member in json["rooms"]?.members.map({ $0 }) ?? [] {
      guard let id = RoomID(member.key), member.value.isObject, places[id] == nil else { continue }
      places[id] = news.count
      news.append(RoomNews(sliding: member.value, id, ownUserID, known: rooms[id]?.membership))
    }
    /// Of rooms that are not known nothing can be told.
    func place(_ key: ByteString) -> Int? {
      guard let id = RoomID(key) else { return nil }
      if places[id] == nil, let room = rooms[id] {
        places[id] = news.count
        news.append(RoomNews(id: id, membership: room.membership))
      }
      return places[id]
    }
    let extensions = json["extensions"]
    for section in [extensions?["receipts"]?["rooms"], extensions?["typing"]?["rooms"]] {
      for member in section?.members.map({ $0 }) ?? [] {
        if let i = place(member.key) { news[i].ephemeral.append(member.value) }
      }
    }
    for member in extensions?["account_data"]?["rooms"]?.members.map({ $0 }) ?? [] {
      if let i = place(member.key) { news[i].accountData += Array(member.value.elements) }
    }
    return news
  }

  /// Rooms whose last message is further back than what was told of them stand where the server has them: not above the rooms with a
  /// higher `bump_stamp`.
  private func settleActivity(_ sync: inout PreparedSync) {
    let unsettled = sync.rooms.indices.filter { sync.rooms[$0].wantsPlace }
    if unsettled.isEmpty { return }
    // The highest stamp first, each with the oldest message of those so far.
    var others: [(stamp: Int64, activity: Int64)] = []
    for room in sync.rooms where room.state.preview != nil { others.append(room.state.place) }
    for (id, room) in rooms where room.state.preview != nil && !sync.contains(id) { others.append(room.state.place) }
    others = others.ordered { $0.stamp > $1.stamp }
    for i in others.indices.dropFirst() { others[i].activity = min(others[i].activity, others[i - 1].activity) }
    for i in unsettled {
      let state = sync.rooms[i].state
      var limit = sync.rooms[i].oldestEventMilliseconds ?? 0
      let above = others.countBefore { $0.stamp <= state.told.bumpStamp }
      if above > 0 { limit = min(limit, others[above - 1].activity &- 1) }
      sync.settle(i, activity: max(state.lastActivity, limit))
    }
  }
}

extension PreparedRoom {
  /// Whether no message says where it stands in the list.
  fileprivate var wantsPlace: Bool {
    oldestEventMilliseconds != nil && state.preview == nil && state.told.bumpStamp > 0
  }
}

extension RoomState {
  fileprivate var place: (stamp: Int64, activity: Int64) { (told.bumpStamp, lastActivity) }
}

extension Array {
  /// How many elements stand before the first one of that kind, behind which all are. O(log n).
  fileprivate func countBefore(_ isBehind: (Element) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

extension RoomNews {
  init(sliding json: JSON, _ id: RoomID, _ ownUserID: UserID, known: Membership?) {
    let stripped = json["invite_state"] ?? json["stripped_state"]
    self.init(
      id: id, membership: Self.membership(json, stripped, ownUserID) ?? (stripped == nil ? known ?? .join : .invite),
      isWhole: json.bool("initial") ?? false)
    state = [json["required_state"], stripped].compactMap { $0 }
    if let events = json["timeline"] ?? json["timeline_events"] {
      timeline = Timeline(
        events: events, isLimited: json.bool("limited") ?? false, previousBatch: json.text("prev_batch"),
        liveCount: json["num_live"]?.count32 ?? (isWhole ? 0 : nil),
        isExpanded: json.bool("unstable_expanded_timeline") ?? json.bool("expanded_timeline") ?? false)
    } else if json.bool("limited") ?? false {
      timeline = Timeline(events: nil, isLimited: true, previousBatch: json.text("prev_batch"))
    }
    joined = json["joined_count"]?.count32
    invited = json["invited_count"]?.count32
    // A room that has a name may be told without them.
    heroes = json["heroes"]
    notifications = json["notification_count"]?.count32
    highlights = json["highlight_count"]?.count32
    bumpStamp = json.integer("bump_stamp")
  }

  /// As it says, or else as the newest of the own member events in it does; nil without one.
  private static func membership(_ json: JSON, _ stripped: JSON?, _ user: UserID) -> Membership? {
    if let membership = Membership(json["membership"]) { return membership }
    for events in [json["required_state"], stripped, json["timeline"]] {
      for event in (events.map { Array($0.elements) } ?? []).reversed() {
        guard let type = event["type"], type.isString("m.room.member"), event.text("state_key") == user.text,
          let membership = Membership(event["content"]?["membership"])
        else { continue }
        return membership
      }
    }
    return nil
  }
}

extension RoomState {
  /// The members that stand for the room, with the names they have. Members that are known already keep what else is known.
  mutating func apply(heroes listed: JSON, _ delta: inout RoomDelta) {
    guard listed.isArray else { return }
    heroes = []
    delta.aspects.insert(.name)
    for json in listed.elements.prefix(Limits.heroes) {
      guard let user = UserID(json["user_id"]) else { continue }
      heroes.append(user)
      let old = members[user]
      // Those who have gone stand for a room where nobody else is.
      var member = old ?? Member(userID: user, membership: joinedCount + invitedCount > 1 ? .join : .leave)
      member.displayName = ShownName.read(json["displayname"])
      member.avatar = MediaURI(json["avatar_url"])
      guard old == nil || old?.displayName != member.displayName || old?.avatar != member.avatar else { continue }
      delta.shownMembers += members.set(member)
      delta.aspects.insert(.avatar)
      // One who is not in memory may be in the store, where more is known.
      if old != nil || hasPeople { delta.members.append(user) }
    }
  }
}
