import JSON
import MatrixModel

extension Client {
  // MARK: Commands

  mutating func send(_ message: OutgoingMessage, to roomID: RoomID, _ command: CommandID) {
    guard let user = session?.userID, rooms[roomID]?.membership == .join else {
      return finish(command, .failed(.unknownRoom))
    }
    guard outbox.entries.count < Limits.outboxEntries else { return finish(command, .failed(.outboxIsFull)) }
    let content: MessageContent
    var replyTo: EventID?
    var isText = false
    switch message {
    case .text(let text, let style, let target):
      guard !text.isEmpty else { return finish(command, .done) }
      content = MessageContent(kind: style.kind, body: text)
      replyTo = target
      isText = true
    case .attachment(let kind, let attachment):
      guard kind.hasFile, kind != .sticker, attachment.blob != nil else {
        return finish(command, .failed(.attachmentIsGone))
      }
      content = MessageContent(kind: kind, body: attachment.fileName, attachment: attachment)
    }
    var entry = OutboxEntry(
      id: outbox.nextID(), roomID: roomID, transactionID: random.transactionID(at: now), createdAt: now,
      content: content,
      replyTo: replyTo, phase: .storing)
    entry.itemID = itemIDs.next()
    outbox.append(entry)
    showEcho(entry, user)
    var operations: [StoreOperation] = [.put(key: StoreKey.outbox(entry.id), value: entry.record)]
    if isText { clearDraft(roomID, &operations) }
    finish(command, .done)
    write(operations, .outbox(entry.id))
  }

  mutating func retry(_ item: ItemID, in room: RoomID, _ command: CommandID) {
    guard var entry = outbox.entry(ofItem: item, in: room), case .failed = entry.phase else {
      return finish(command, .done)
    }
    entry.phase = .storing
    outbox[entry.id] = entry
    showProgress(of: entry)
    finish(command, .done)
    write([.put(key: StoreKey.outbox(entry.id), value: entry.record)], .outbox(entry.id))
  }

  mutating func cancel(_ item: ItemID, in room: RoomID, _ command: CommandID) {
    defer { finish(command, .done) }
    guard let entry = outbox.entry(ofItem: item, in: room), !entry.isDelivered else { return }
    switch entry.phase {
    case .sending, .sent: return
    case .uploading(let request): cancelRequest(request)
    case .storing, .queued, .failed: break
    }
    // A try before may have reached the server though its answer did not: then the event comes with the next sync.
    drop(entry)
    changeTimeline(room) { timeline, _ in timeline.removeEcho(item) }
    write([.delete(key: StoreKey.outbox(entry.id))])
    pump(room)
  }

  // MARK: Queue

  mutating func pumpOutbox() {
    for room in outbox.waitingRooms { pump(room) }
  }

  /// Starts the first message of the room that waits, unless one is under way: that keeps the order.
  mutating func pump(_ room: RoomID) {
    guard sessionState == .signedIn, isOnline, outbox.timers[room] == nil, var entry = outbox.first(in: room) else {
      return
    }
    guard case .queued = entry.phase else { return }
    if let attachment = entry.content.attachment, attachment.source == nil {
      guard let blob = attachment.blob else { return fail(entry, .attachmentIsGone) }
      entry.phase = .uploading(
        upload(blob, mimeType: attachment.mimeType, fileName: attachment.fileName, for: .upload(entry.id)))
    } else {
      entry.phase = .sending(requestSend(entry))
    }
    outbox[entry.id] = entry
    showProgress(of: entry)
  }

  private mutating func requestSend(_ entry: OutboxEntry) -> RequestID {
    var writer = JSONWriter()
    entry.content.write(to: &writer, replyTo: entry.replyTo)
    return request(
      .sendMessage, Endpoint.sendMessage.path(entry.roomID.text, EventType.message.text, entry.transactionID.text),
      body: writer.bytes, for: .send(entry.id))
  }

  mutating func outboxWritten(_ id: OutboxEntry.ID) {
    guard var entry = outbox[id], case .storing = entry.phase else { return }
    entry.phase = .queued
    outbox[id] = entry
    pump(entry.roomID)
  }

  mutating func outboxTimerFired(_ room: RoomID) {
    outbox.timers[room] = nil
    pump(room)
  }

  /// The connection is back: no use in waiting on.
  mutating func retryOutboxNow() {
    for (_, timer) in outbox.timers {
      var timer: TimerID? = timer
      cancelTimer(&timer)
    }
    outbox.timers = [:]
    pumpOutbox()
  }

  // MARK: Answers

  mutating func uploadMoved(_ id: RequestID, sentBytes: Int64, totalBytes: Int64) {
    guard case .upload(let entryID)? = pending.requests[id]?.purpose, let entry = outbox[entryID] else { return }
    changeTimeline(entry.roomID) { timeline, _ in
      timeline.updateEcho(entry.itemID) { $0.delivery = .uploading(sentBytes: sentBytes, totalBytes: totalBytes) }
    }
  }

  mutating func uploadAnswered(_ answer: Answer, _ id: OutboxEntry.ID) {
    guard var entry = outbox[id] else { return }
    guard case .success(let json) = answer else { return failed(entry, answer) }
    guard let source = MediaURI(json["content_uri"]) else { return fail(entry, .badAnswer) }
    entry.content.attachment?.source = source
    entry.phase = .storing
    outbox[id] = entry
    // Written first: after a restart the file is not sent a second time.
    write([.put(key: StoreKey.outbox(id), value: entry.record)], .outbox(id))
  }

  mutating func sendAnswered(_ answer: Answer, _ id: OutboxEntry.ID) {
    guard var entry = outbox[id] else { return }
    guard case .success(let json) = answer else { return failed(entry, answer) }
    guard let event = EventID(json["event_id"]) else { return fail(entry, .badAnswer) }
    entry.phase = .sent(event, afterSync: syncLoop.started)
    outbox[id] = entry
    if entry.isDelivered { return pump(entry.roomID) }
    // Already here under no transaction ID of ours (a sync that left it out): the echo has done its work.
    if let timeline = rooms[entry.roomID]?.timeline, timeline.itemOfEvent[event] != nil {
      drop(entry)
      changeTimeline(entry.roomID) { timeline, _ in timeline.removeEcho(entry.itemID) }
      write([.delete(key: StoreKey.outbox(id))])
    } else {
      showProgress(of: entry)
      write([.put(key: StoreKey.outbox(id), value: entry.record)])
    }
    pump(entry.roomID)
  }

  private mutating func failed(_ entry: OutboxEntry, _ answer: Answer) {
    guard answer.isTransient else { return fail(entry, answer.error ?? .badAnswer) }
    var entry = entry
    entry.phase = .queued
    let delay = entry.backoff.next(&random, retryAfterMilliseconds: answer.retryAfterMilliseconds)
    outbox[entry.id] = entry
    showProgress(of: entry)
    outbox.timers[entry.roomID] = startTimer(delay, .outbox(entry.roomID))
  }

  /// For good: it stays where it is and the messages behind it go on.
  private mutating func fail(_ entry: OutboxEntry, _ error: ClientError) {
    var entry = entry
    entry.phase = .failed(error)
    outbox[entry.id] = entry
    showProgress(of: entry)
    if !entry.isDelivered { write([.put(key: StoreKey.outbox(entry.id), value: entry.record)]) }
    pump(entry.roomID)
  }

  /// Takes the entry out; its record and its echo are the caller's.
  mutating func drop(_ entry: OutboxEntry) {
    outbox[entry.id] = nil
    if let blob = entry.content.attachment?.blob { effects.append(.releaseBlob(blob)) }
  }

  // MARK: Views

  mutating func showEcho(_ entry: OutboxEntry, _ user: UserID) {
    changeTimeline(entry.roomID) { timeline, _ in
      timeline.loadState == .unloaded ? [] : timeline.appendEcho(entry.item(sender: user))
    }
  }

  private mutating func showProgress(of entry: OutboxEntry) {
    changeTimeline(entry.roomID) { timeline, _ in
      timeline.updateEcho(entry.itemID) { item in
        item.delivery = entry.delivery
        if case .sent(let event, _) = entry.phase { item.eventID = event }
      }
    }
  }
}

extension OutgoingMessage.Style {
  var kind: MessageContent.Kind {
    switch self {
    case .text: .text
    case .emote: .emote
    case .notice: .notice
    }
  }
}
