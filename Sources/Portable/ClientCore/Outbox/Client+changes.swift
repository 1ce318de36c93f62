import JSON
import MatrixModel

/// Edits, reactions and redactions: of what the server has by an entry of their own, of what it has not seen yet in place.
extension Client {
  // MARK: Edits

  mutating func edit(_ target: SendTarget, in room: RoomID, _ text: FormattedText, _ command: CommandID) {
    guard let user = session?.userID else { return }
    guard let target = resolve(target, in: room) else { return finish(command, .failed(.unknownEvent)) }
    if var entry = entry(of: target, in: room), entry.payload.kind == .event {
      entry.payload.setText(text, own: user)
      return change(entry, command)
    }
    guard let original = message(target, in: room) else {
      return replace(target, in: room, .message, FormattedText.textContent(text, own: user), command)
    }
    guard original.sender == user else { return finish(command, .failed(.notAllowed)) }
    replace(target, in: room, .message, original.content.content(with: text, own: user), command)
  }

  mutating func replace(
    _ target: SendTarget, in room: RoomID, with message: OutgoingMessage, _ command: CommandID
  ) {
    guard let user = session?.userID else { return }
    guard let target = resolve(target, in: room) else { return finish(command, .failed(.unknownEvent)) }
    let content: OutgoingContent
    do throws(ClientError) { content = try message.content(own: user, now: now) } catch {
      return finish(command, .failed(error))
    }
    guard content.files.isEmpty else { return finish(command, .failed(.invalidContent)) }
    if var entry = entry(of: target, in: room), entry.payload.kind == .event {
      guard entry.payload.type == content.type else { return finish(command, .failed(.invalidContent)) }
      entry.payload.content = content.bytes
      return change(entry, command)
    }
    if let original = self.message(target, in: room), original.sender != user { return finish(command, .failed(.notAllowed)) }
    replace(target, in: room, content.type, content.bytes, command)
  }

  /// `changed` is an entry with its new content: in place where the server has not seen it, else by an edit.
  private mutating func change(_ changed: OutboxEntry, _ command: CommandID) {
    guard changed.payload.content.count <= ContentLimits.contentBytes else {
      return finish(command, .failed(.tooLarge(limitBytes: Int64(ContentLimits.contentBytes))))
    }
    guard changed.isUnseen, let user = session?.userID else {
      let target = changed.eventID.map { OutboxPayload.Target.event($0) } ?? .entry(changed.id)
      return replace(target, in: changed.roomID, changed.payload.type, changed.payload.filledContent, command)
    }
    var entry = changed
    switch entry.phase {
    case .queued, .encrypting: entry.phase = .storing
    default: break
    }
    entry.payload.ciphertext = nil
    outbox[entry.id] = entry
    if let item = entry.item(sender: user) {
      changeTimeline(entry.roomID) { timeline, _ in
        timeline.updateEcho(item.id) {
          $0.content = item.content
          $0.delivery = item.delivery
        }
      }
    }
    finish(command, .queued(entry.id))
    store([entry.id], in: entry.roomID)
  }

  private mutating func replace(
    _ target: OutboxPayload.Target, in room: RoomID, _ type: EventType, _ content: [UInt8], _ command: CommandID
  ) {
    guard 2 * content.count <= ContentLimits.contentBytes else {
      return finish(command, .failed(.tooLarge(limitBytes: Int64(ContentLimits.contentBytes / 2))))
    }
    var payload = OutboxPayload(.edit, type)
    payload.content = content
    payload.target = target
    payload.newMentions = newMentions(content, than: target, in: room)
    var operations: [StoreOperation] = []
    if case .event(let event) = target, canEnqueue(payload, in: room) == nil {
      clearDraft(editing: event, in: room, &operations)
    }
    enqueue(payload, in: room, also: operations, command)
  }

  /// The `m.mentions` of an edit: only users that the original did not mention. nil if that is unknown.
  private func newMentions(_ content: [UInt8], than target: OutboxPayload.Target, in room: RoomID) -> [UInt8]? {
    guard let user = session?.userID, let old = mentions(of: target, in: room),
      let new = Mentions(Answer.parse(content)?["m.mentions"])
    else { return nil }
    var writer = JSONWriter()
    new.subtracting(old).write(to: &writer, without: user)
    return writer.bytes
  }

  private func mentions(of target: OutboxPayload.Target, in room: RoomID) -> Mentions? {
    guard let entry = entry(of: target, in: room) else { return message(target, in: room)?.content.mentions }
    return Mentions(Answer.parse(entry.payload.content)?["m.mentions"])
  }

  /// The message and who sent it, where it is in memory.
  private func message(_ target: OutboxPayload.Target, in room: RoomID) -> (content: MessageContent, sender: UserID)? {
    guard case .event(let event) = target, let item = rooms[room]?.shown({ $0.index(of: event) }),
      case .message(let content) = item.content
    else { return nil }
    return (content, item.sender)
  }

  // MARK: Reactions

  mutating func toggleReaction(_ key: ByteString, to target: SendTarget, in room: RoomID, _ command: CommandID) {
    guard let user = session?.userID else { return }
    guard !key.isEmpty, key.count <= Limits.reactionBytes else { return finish(command, .failed(.invalidContent)) }
    guard let target = resolve(target, in: room) else { return finish(command, .failed(.unknownEvent)) }
    if let last = lastToggle(key, of: target, in: room) {
      // Not seen by the server: as if it had never been asked for.
      if last.isUnseen {
        remove([last.id], in: room)
        return finish(command, .done)
      }
      guard last.payload.kind == .reaction else { return react(key, to: target, in: room, command) }
      let reaction = last.eventID.map { OutboxPayload.Target.event($0) } ?? .entry(last.id)
      return takeBack(reaction, key, of: target, in: room, command)
    }
    if case .event(let event) = target, let own = rooms[room]?.reaction(key, to: event, by: user) {
      return takeBack(.event(own), key, of: target, in: room, command)
    }
    react(key, to: target, in: room, command)
  }

  /// The last thing on its way that reacts so or takes that back.
  private func lastToggle(_ key: ByteString, of target: OutboxPayload.Target, in room: RoomID) -> OutboxEntry? {
    outbox.entries.last { entry in
      guard entry.roomID == room, entry.payload.key == key else { return false }
      return entry.payload.kind == .reaction ? entry.payload.target == target : entry.payload.reactedTo == target
    }
  }

  private mutating func react(
    _ key: ByteString, to target: OutboxPayload.Target, in room: RoomID, _ command: CommandID
  ) {
    var payload = OutboxPayload(.reaction, .reaction)
    payload.target = target
    payload.key = key
    enqueue(payload, in: room, command)
  }

  private mutating func takeBack(
    _ reaction: OutboxPayload.Target, _ key: ByteString, of target: OutboxPayload.Target, in room: RoomID,
    _ command: CommandID
  ) {
    var payload = OutboxPayload(.redaction, .redaction)
    payload.target = reaction
    payload.key = key
    payload.reactedTo = target
    enqueue(payload, in: room, command)
  }

  // MARK: Redactions

  mutating func redact(
    _ target: SendTarget, in room: RoomID, reason: ByteString?, relationTypes: [ByteString], _ command: CommandID
  ) {
    guard let target = resolve(target, in: room) else { return finish(command, .failed(.unknownEvent)) }
    if let entry = entry(of: target, in: room), entry.isUnseen {
      remove([entry.id] + outbox.dependants(of: entry.id), in: room)
      return finish(command, .done)
    }
    var writer = JSONWriter()
    writer.object { writer in
      if let reason { writer.member("reason", reason) }
      guard !relationTypes.isEmpty else { return }
      // MSC3912, by the name in the proposal and by the one that servers in use know.
      for key in ["with_rel_types", "org.matrix.msc3912.with_relations"] as [StaticString] {
        writer.key(key)
        writer.array { writer in for type in relationTypes { writer.write(type) } }
      }
    }
    guard writer.bytes.count <= ContentLimits.contentBytes else {
      return finish(command, .failed(.tooLarge(limitBytes: Int64(ContentLimits.contentBytes))))
    }
    var payload = OutboxPayload(.redaction, .redaction)
    payload.content = writer.bytes
    payload.target = target
    enqueue(payload, in: room, isAwaited: true, command)
  }

  // MARK: Once more, and never

  mutating func retry(_ target: SendTarget, in room: RoomID, _ command: CommandID) {
    let own = entry(of: target, in: room).map { [$0.id] } ?? []
    retryFailed(own + changes(of: target, in: room))
    finish(command, .done)
  }

  mutating func retryAll(in room: RoomID?, _ command: CommandID) {
    retryFailed(outbox.entries.filter { room == nil || $0.roomID == room }.map { $0.id })
    finish(command, .done)
  }

  private mutating func retryFailed(_ ids: [SendID]) {
    var changed: [RoomID: [SendID]] = [:]
    for id in ids {
      for id in [id] + outbox.dependants(of: id) where outbox[id].map({ $0.isFailed && !$0.isDelivered }) ?? false {
        // What it speaks of has not been tried again.
        let isBlocked = outbox[id]?.payload.targets.contains { target in
          if case .entry(let target) = target { outbox[target]?.isFailed ?? true } else { false }
        }
        if isBlocked ?? true { continue }
        outbox[id]?.backoff.reset()
        setPhase(of: id, .storing)
        if let room = outbox[id]?.roomID { changed[room, default: []].append(id) }
      }
    }
    for (room, ids) in changed { store(ids, in: room) }
  }

  mutating func cancel(_ target: SendTarget, in room: RoomID, _ command: CommandID) {
    // What changes an entry depends on it and goes with it.
    let ids = entry(of: target, in: room).map { [$0.id] } ?? changes(of: target, in: room)
    for id in ids { cancel(id) }
    finish(command, .done)
  }

  private mutating func cancel(_ id: SendID) {
    guard let entry = outbox[id], !entry.isDelivered else { return }
    switch entry.phase {
    case .sending, .sent: return
    case .storing, .queued, .encrypting, .uploading, .failed: break
    }
    // A try before may have reached the server though its answer did not: then the event comes with the next sync.
    remove([id] + outbox.dependants(of: id), in: entry.roomID)
  }

  /// The entry that a target names, or whose item it names.
  private func entry(of target: SendTarget, in room: RoomID) -> OutboxEntry? {
    switch target {
    case .sending(let id): outbox[id].flatMap { $0.roomID == room ? $0 : nil }
    case .item(let item): outbox.entry(ofItem: item, in: room)
    case .event: nil
    }
  }

  /// Edits and redactions of an item or event that are on their way.
  private func changes(of target: SendTarget, in room: RoomID) -> [SendID] {
    if case .sending = target { return [] }
    guard let changed = resolve(target, in: room) else { return [] }
    return outbox.entries.filter { entry in
      entry.roomID == room && entry.payload.target == changed
        && (entry.payload.kind == .edit || entry.payload.kind == .redaction)
    }
    .map { $0.id }
  }

  /// They are gone, from the store as well.
  mutating func remove(_ ids: [SendID], in room: RoomID) {
    var operations: [StoreOperation] = []
    for id in ids {
      guard let entry = outbox[id] else { continue }
      if case .sending(let request) = entry.phase { cancelRequest(request) }
      endUploads(of: id)
      finish(entry.command, .failed(.targetFailed))
      forget(entry)
      notify(.sending(entry.roomID, id, .cancelled))
      operations.append(.delete(key: StoreKey.outbox(id)))
    }
    if !operations.isEmpty { store([], in: room, also: operations) }
  }
}

extension FormattedText {
  /// An `m.text` that says this.
  static func textContent(_ text: FormattedText, own: UserID) -> [UInt8] {
    MessageContent(kind: .text, body: text.body).content(with: text, own: own)
  }
}
