import JSON
import MatrixModel

/// A room as one record. A field that is missing is nil, empty or zero; a record that lacks `id` or `membership` is corrupt.
extension RoomState {
  func record(of id: RoomID) -> [UInt8] {
    var writer = JSONWriter(capacity: 512)
    writer.object { writer in
      writer.member("id", id)
      writer.member("membership", Int(membership.rawValue))
      if let name { writer.member("name", name) }
      if let canonicalAlias { writer.member("alias", canonicalAlias) }
      if let avatar { writer.member("avatar", avatar) }
      if let topic { writer.member("topic", topic) }
      if isEncrypted { writer.member("encrypted", true) }
      if let encryptedAt { writer.member("encrypted_at", encryptedAt) }
      if let successor { writer.member("successor", successor) }
      if !pinned.isEmpty {
        writer.key("pinned")
        writer.array { writer in for event in pinned { writer.write(event) } }
      }
      power.write(to: &writer)
      settings.write(to: &writer)
      origins.write(to: &writer)
      if let inviter { writer.member("inviter", inviter) }
      if isDirectInvite { writer.member("direct_invite", true) }
      writer.member("joined", joinedCount)
      writer.member("invited", invitedCount)
      writer.key("heroes")
      writer.array { writer in for hero in heroes { writer.write(hero) } }
      writer.key("named")
      writer.array { writer in for user in named { members.writeNamed(user, to: &writer) } }
      if storesAllMembers { writer.member("all_members", true) }
      writer.member("notifications", notificationCount)
      writer.member("highlights", highlightCount)
      writeUnread(to: &writer)
      writeDelivered(to: &writer)
      if let fullyRead { writer.member("fully_read", fullyRead) }
      if let preview { writer.member("preview", raw: preview.record) }
      writer.member("activity", lastActivity)
      marks.write(to: &writer)
      space.write(to: &writer)
      call.write(to: &writer)
      writer.member("history", raw: history.record)
      writer.member("told", raw: told.record)
    }
    return writer.bytes
  }

  init?(record: JSON) {
    guard let number = record.integer("membership"),
      let membership = UInt8(exactly: number).flatMap(Membership.init(rawValue:)),
      let history = record["history"].map({ StoredHistory(record: $0) }) ?? StoredHistory()
    else {
      return nil
    }
    self.init(membership: membership)
    self.history = history
    if let record = record["told"] { told = ToldRoom(record: record) }
    hasPeople = false
    if let listed = record["named"] { for json in listed.elements { readNamed(json) } }
    name = record.text("name")
    canonicalAlias = RoomAlias(record["alias"])
    avatar = MediaURI(record["avatar"])
    topic = record.text("topic")
    isEncrypted = record.bool("encrypted") ?? false
    encryptedAt = record.integer("encrypted_at")
    successor = RoomID(record["successor"])
    pinned = StateChange.events(record)
    power = RoomPower(record: record)
    settings = RoomSettings(record: record)
    origins = StateOrigins(record: record)
    inviter = UserID(record["inviter"])
    isDirectInvite = record.bool("direct_invite") ?? false
    joinedCount = record["joined"]?.count32 ?? 0
    invitedCount = record["invited"]?.count32 ?? 0
    heroes = record["heroes"]?.elements.compactMap { UserID($0) } ?? []
    storesAllMembers = record.bool("all_members") ?? false
    hasAllMembers = storesAllMembers
    notificationCount = record["notifications"]?.count32 ?? 0
    highlightCount = record["highlights"]?.count32 ?? 0
    readUnread(record)
    readDelivered(record)
    fullyRead = EventID(record["fully_read"])
    preview = record["preview"].flatMap { RoomPreview(record: $0) }
    lastActivity = record.integer("activity") ?? 0
    marks = RoomMarks(record: record)
    space = SpaceState(record: record)
    call = CallMembers(record: record)
  }

  private mutating func readNamed(_ json: JSON) {
    guard let user = UserID(json["user"]) else { return }
    named.append(user)
    guard let member = Member(record: json) else { return }
    _ = members.set(member)
    if json.bool("ambiguous") ?? false { members.markAmbiguous(user) }
  }
}

extension Members {
  /// Only the ID of one who is not known.
  fileprivate func writeNamed(_ user: UserID, to writer: inout JSONWriter) {
    writer.object { writer in
      guard let member = self[user] else { return writer.member("user", user) }
      member.writeMembers(to: &writer)
      if isAmbiguous(user) { writer.member("ambiguous", true) }
    }
  }
}

extension RoomPreview {
  var record: [UInt8] {
    var writer = JSONWriter(capacity: 128)
    writer.object { writer in
      if let eventID { writer.member("event", eventID) }
      writer.member("sender", sender)
      writer.member("time", timestampMilliseconds)
      if editedAt != 0 { writer.member("edited", editedAt) }
      if let edit { writer.member("edit", edit) }
      if let original {
        writer.member("original_kind", Int(original.kind.rawValue))
        writer.member("original_body", original.body)
      }
      if isUndecryptable { writer.member("undecryptable", true) }
      if let before = before.first { writer.member("before", raw: before.record) }
      if let content {
        writer.member("kind", Int(content.kind.rawValue))
        writer.member("body", content.previewText)
      }
    }
    return writer.bytes
  }

  init?(record: JSON) {
    guard let sender = UserID(record["sender"]) else { return nil }
    var content: MessageContent?
    if let kind = MessageContent.Kind(record: record["kind"]) {
      content = MessageContent(kind: kind, body: record.text("body") ?? "")
    }
    let original = MessageContent.Kind(record: record["original_kind"]).map {
      Original(kind: $0, body: record.text("original_body") ?? "")
    }
    self.init(
      eventID: EventID(record["event"]), sender: sender, timestampMilliseconds: record.integer("time") ?? 0,
      content: content,
      editedAt: record.integer("edited") ?? 0, edit: EventID(record["edit"]), original: original)
    isUndecryptable = record.bool("undecryptable") ?? false
    // Not further back than it is written: what stands there has none of its own.
    if isUndecryptable, let before = record["before"], before["before"] == nil {
      self.before = RoomPreview(record: before).map { [$0] } ?? []
    }
  }
}

extension MessageContent.Kind {
  init?(record: JSON?) {
    guard let number = record?.integer, let known = UInt8(exactly: number).flatMap(Self.init(rawValue:)) else {
      return nil
    }
    self = known
  }
}
