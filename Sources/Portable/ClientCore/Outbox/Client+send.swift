import JSON
import MatrixModel

/// What a person asks for, as entries of the outbox.
extension Client {
  // MARK: Messages

  mutating func send(_ message: OutgoingMessage, to room: RoomID, _ command: CommandID) {
    guard let user = session?.userID else { return }
    if case .text(let text, _) = message.body, text.body.isEmpty { return finish(command, .done) }
    let content: OutgoingContent
    do throws(ClientError) { content = try message.content(own: user, now: now) } catch {
      return finish(command, .failed(error))
    }
    // The server would read both, the file and its key.
    if content.namesFileKeys, !(rooms[room]?.isEncrypted ?? false) { return finish(command, .failed(.invalidContent)) }
    let files = content.files.map { OutboxFile($0) }
    if let error = tooLarge(files) { return finish(command, .failed(error)) }
    var payload = OutboxPayload(.event, content.type)
    payload.content = content.bytes
    payload.files = files
    guard setRelation(of: message, in: room, &payload) else { return finish(command, .failed(.unknownEvent)) }
    var operations: [StoreOperation] = []
    if case .text = message.body, canEnqueue(payload, in: room) == nil {
      var thread: EventID?
      if case .event(let root)? = payload.target { thread = root }
      clearDraft(DraftPlace(room: room, thread: thread), &operations)
    }
    enqueue(payload, in: room, also: operations, command)
  }

  /// False where something it answers is not known.
  private func setRelation(of message: OutgoingMessage, in room: RoomID, _ payload: inout OutboxPayload) -> Bool {
    if let reply = message.replyTo {
      guard let target = resolve(reply, in: room) else { return false }
      payload.replyTo = target
    }
    if let root = message.threadRoot {
      guard let target = resolve(root, in: room) else { return false }
      payload.target = target
      if payload.replyTo == nil {
        payload.replyTo = message.threadLatest.map { .event($0) } ?? target
        payload.isFallingBack = true
      }
    }
    return true
  }

  /// nil where it is not known.
  func resolve(_ target: SendTarget, in room: RoomID) -> OutboxPayload.Target? {
    switch target {
    case .event(let event): return .event(event)
    case .sending(let id): return outbox[id].flatMap { $0.roomID == room ? self.target(of: $0) : nil }
    case .item(let item):
      if let entry = outbox.entry(ofItem: item, in: room) { return self.target(of: entry) }
      return rooms[room]?.shown { $0.index(of: item) }?.eventID.map { .event($0) }
    }
  }

  private func target(of entry: OutboxEntry) -> OutboxPayload.Target {
    entry.eventID.map { .event($0) } ?? .entry(entry.id)
  }

  /// The entry that a target is or was.
  func entry(of target: OutboxPayload.Target, in room: RoomID) -> OutboxEntry? {
    switch target {
    case .entry(let id): outbox[id]
    case .event(let event): outbox.entries.first { $0.roomID == room && $0.eventID == event }
    }
  }

  /// nil where there is nothing against it.
  func canEnqueue(_ payload: OutboxPayload, in room: RoomID) -> ClientError? {
    if rooms[room]?.membership != .join { return .unknownRoom }
    if isRefused(payload, in: room) { return .encryptedRoom }
    return outbox.entries.count < Limits.outboxEntries ? nil : .outboxIsFull
  }

  /// - Parameter isAwaited: the command ends when the server has it, not when it waits.
  mutating func enqueue(
    _ payload: OutboxPayload, in room: RoomID, isAwaited: Bool = false, also operations: [StoreOperation] = [],
    _ command: CommandID
  ) {
    guard let user = session?.userID else { return }
    if let error = canEnqueue(payload, in: room) { return finish(command, .failed(error)) }
    var entry = OutboxEntry(
      id: outbox.nextID(at: now), roomID: room, transactionID: random.transactionID(at: now), createdAt: now, payload: payload,
      phase: .storing)
    if entry.hasItem { entry.itemID = itemIDs.next() }
    if isAwaited, isOnline { entry.command = command }
    // What speaks of something that has failed waits with it.
    for target in payload.targets {
      if case .entry(let id) = target, outbox[id]?.isFailed ?? true { entry.phase = .failed(.targetFailed) }
    }
    outbox.append(entry)
    showEcho(entry, user)
    if entry.command == 0 { finish(command, .queued(entry.id)) }
    store([entry.id], in: room, also: operations)
  }

  // MARK: Polls and places

  mutating func vote(_ answers: [ByteString], in poll: SendTarget, of room: RoomID, _ command: CommandID) {
    guard answers.count <= ContentLimits.pollAnswers else { return finish(command, .failed(.invalidContent)) }
    refer(to: poll, in: room, .unstablePollResponse, command) { writer in
      writer.key("org.matrix.msc3381.poll.response")
      writer.object { writer in
        writer.key("answers")
        writer.array { writer in for answer in answers { writer.write(answer) } }
      }
    }
  }

  mutating func endPoll(_ poll: SendTarget, in room: RoomID, _ text: ByteString, _ command: CommandID) {
    refer(to: poll, in: room, .unstablePollEnd, command) { writer in
      writer.key("org.matrix.msc3381.poll.end")
      writer.object { _ in }
      writer.member("org.matrix.msc1767.text", text)
    }
  }

  mutating func sendBeacon(
    _ info: SendTarget, in room: RoomID, _ geoURI: ByteString, _ description: ByteString?, _ command: CommandID
  ) {
    let now = now
    refer(to: info, in: room, .unstableBeacon, command) { writer in
      writeLocation(geoURI, description, to: &writer)
      writer.member("org.matrix.msc3488.ts", now)
    }
  }

  mutating func setBeacon(_ beacon: BeaconInfo, in room: RoomID, _ command: CommandID) {
    guard let user = session?.userID else { return }
    guard beacon.timeoutMilliseconds > 0 else { return finish(command, .failed(.invalidContent)) }
    var writer = JSONWriter()
    beacon.write(to: &writer, now: now)
    var payload = OutboxPayload(.state, .unstableBeaconInfo)
    payload.content = writer.bytes
    payload.stateKey = user.text
    enqueue(payload, in: room, command)
  }

  private mutating func refer(
    to target: SendTarget, in room: RoomID, _ type: EventType, _ command: CommandID, _ members: (inout JSONWriter) -> Void
  ) {
    guard let target = resolve(target, in: room) else { return finish(command, .failed(.unknownEvent)) }
    var writer = JSONWriter()
    writer.object { members(&$0) }
    guard writer.bytes.count <= ContentLimits.contentBytes else {
      return finish(command, .failed(.tooLarge(limitBytes: Int64(ContentLimits.contentBytes))))
    }
    var payload = OutboxPayload(.reference, type)
    payload.content = writer.bytes
    payload.target = target
    enqueue(payload, in: room, command)
  }
}
