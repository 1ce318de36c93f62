import JSON
import MatrixModel

/// What a batch of events did to a room, for the records and the views.
struct RoomDelta: Sendable {
  var aspects: RoomAspects = []
  /// Members whose record is different.
  var members: [UserID] = []
  /// Members whose shown name or avatar is different.
  var shownMembers: [UserID] = []
  var receipts: [UserID] = []
  /// Whether the room has reached somebody's device further.
  var isDelivered = false
  /// Whether it says how the room is marked, the same as before or not.
  var isMarkTold = false
}

extension RoomState {
  /// Takes a state event, full or stripped, into account.
  mutating func apply(_ event: Event, _ delta: inout RoomDelta, ownUserID: UserID) {
    guard let stateKey = event.stateKey else { return }
    if event.type == .member {
      guard let user = UserID(stateKey) else { return }
      return applyMember(event, user, &delta, ownUserID: ownUserID)
    }
    if space.take(event, stateKey) { delta.aspects.insert(.space) }
    if call.take(event, stateKey) { delta.aspects.insert(.call) }
    guard stateKey.isEmpty else { return }
    if settings.take(event) { delta.aspects.insert(.settings) }
    if event.type == .create {
      power.take(create: event)
      delta.aspects.insert(.settings)
      lastActivity = max(lastActivity, event.originServerTimestamp ?? 0)
    } else {
      origins.set(event.eventID, of: event.type)
      if event.type == .encryption, encryptedAt == nil { encryptedAt = event.originServerTimestamp }
      take(event.content, of: event.type, &delta)
    }
  }

  /// What a redaction takes away. Spec: "Redactions".
  mutating func apply(redactionOf event: EventID, _ delta: inout RoomDelta) {
    guard let type = origins.remove(event) else { return }
    take(nil, of: type, &delta)
  }

  private mutating func take(_ content: JSON?, of type: EventType, _ delta: inout RoomDelta) {
    switch type {
    case .name:
      name = ShownName.read(content?["name"])
      delta.aspects.insert(.name)
    case .canonicalAlias:
      canonicalAlias = RoomAlias(content?["alias"])
      delta.aspects.insert(.name)
    case .avatar:
      avatar = MediaURI(content?["url"])
      delta.aspects.insert(.avatar)
    case .topic:
      topic = content?["topic"]?.text.flatMap { $0.isEmpty ? nil : $0 }
      delta.aspects.insert(.topic)
    case .encryption:
      isEncrypted = true
      delta.aspects.insert(.settings)
    case .powerLevels:
      if let content { power.take(levels: content) }
      delta.aspects.insert(.settings)
    case .tombstone:
      successor = RoomID(content?["replacement_room"])
      delta.aspects.insert(.settings)
    case .pinnedEvents:
      pinned = content.map { StateChange.events($0) } ?? []
      delta.aspects.insert(.settings)
    default: break
    }
  }

  private mutating func applyMember(_ event: Event, _ user: UserID, _ delta: inout RoomDelta, ownUserID: UserID) {
    guard let membership = Membership(event.content["membership"]) else { return }
    let isGone = membership == .leave || membership == .ban
    var member = Member(
      userID: user, membership: membership,
      displayName: ShownName.read(event.content["displayname"]),
      avatar: MediaURI(event.content["avatar_url"]))
    if membership == .knock || membership == .ban { member.reason = ShownName.read(event.content["reason"]) }
    // A leave event seldom repeats the name; old messages still want it.
    if isGone, member.displayName == nil {
      let before = event.unsigned?["prev_content"]
      member.displayName = members[user]?.displayName ?? ShownName.read(before?["displayname"])
      member.avatar = members[user]?.avatar ?? MediaURI(before?["avatar_url"])
    }
    if user == ownUserID {
      if membership == .invite, let sender = event.sender {
        inviter = sender
        isDirectInvite = event.content.bool("is_direct") ?? false
        lastActivity = max(lastActivity, event.originServerTimestamp ?? 0)
      }
      // Sync reports both in the same way, as for rooms that the user has left.
      if isGone, self.membership != membership, self.membership == .leave || self.membership == .ban {
        self.membership = membership
        delta.aspects.insert(.membership)
      }
    }
    let old = members[user]
    if let old, old.membership == member.membership, old.displayName == member.displayName, old.avatar == member.avatar,
      old.reason == member.reason
    {
      return
    }
    if old?.membership != membership { delta.aspects.insert(.members) }
    delta.members.append(user)
    delta.shownMembers += members.set(member)
    delta.aspects.insert(.name)
    delta.aspects.insert(.avatar)
    if isGone, receipts[user] != nil || !hasPeople {
      receipts[user] = nil
      delta.receipts.append(user)
    }
  }

  /// Spec: "Sync": `summary`. What it leaves out has not changed.
  mutating func apply(summary: JSON, _ delta: inout RoomDelta) {
    take(
      joined: summary["m.joined_member_count"]?.count32, invited: summary["m.invited_member_count"]?.count32, &delta)
    if let listed = summary["m.heroes"], listed.isArray {
      heroes = listed.elements.prefix(Limits.heroes).compactMap { UserID($0) }
      delta.aspects.insert(.name)
    }
  }

  /// nil where it has not changed.
  mutating func take(joined: Int?, invited: Int?, _ delta: inout RoomDelta) {
    guard joined ?? joinedCount != joinedCount || invited ?? invitedCount != invitedCount else { return }
    joinedCount = joined ?? joinedCount
    invitedCount = invited ?? invitedCount
    delta.aspects.formUnion([.memberCounts, .name])
  }

  /// Spec: `m.receipt`. Of others, receipts of threads other than the main one are left out.
  mutating func apply(receipts content: JSON, _ delta: inout RoomDelta, ownUserID: UserID) {
    for entry in content.members {
      guard let event = EventID(entry.key) else { continue }
      if let reached = entry.value["martlet.delivered"] { apply(delivered: reached, event, &delta, ownUserID: ownUserID) }
      for kind in entry.value.members where kind.isKey("m.read") || kind.isKey("m.read.private") {
        let isPrivate = kind.isKey("m.read.private")
        for reader in kind.value.members {
          guard let user = UserID(reader.key) else { continue }
          let thread = reader.value["thread_id"]
          if user == ownUserID {
            _ = ownReceipts.set(OwnReceipts.Receipt(isPrivate: isPrivate, thread: thread?.text, event: event))
          }
          if let thread, !thread.isString("main") { continue }
          let receipt = ReadReceipt(
            user: user, kind: ReadReceipt.Kind(isPrivate: isPrivate, isOfMainThread: thread != nil), event: event,
            timeMilliseconds: reader.value.integer("ts"))
          if receipts[user, default: []].set(receipt) { delta.receipts.append(user) }
        }
      }
    }
  }
}
