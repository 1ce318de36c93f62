import JSON
import MatrixModel

/// The queue: one entry of a room at a time is sent, each stored before its request goes out; files of those behind it are uploaded meanwhile.
extension Client {
  // MARK: Starting

  mutating func pumpOutbox() {
    for room in outbox.waitingRooms { pump(room) }
  }

  /// Starts the room's first waiting entry, unless another is being sent. That keeps the order.
  mutating func pump(_ room: RoomID) {
    guard sessionState == .signedIn, isOnline, outbox.timers[room] == nil, outbox.isEnabled(in: room) else { return }
    startUploads(in: room)
    guard var entry = outbox.first(in: room), case .queued = entry.phase else { return }
    guard let membership = rooms[room]?.membership else {
      // No sync has told of the room yet: it may be encrypted.
      if syncLoop.isRunning, syncLoop.position.isComplete { fail(entry.id, .unknownRoom) }
      return
    }
    // The user left the room before the entry's turn. They can send it again after a new join.
    if membership != .join { return fail(entry.id, .unknownRoom) }
    if isRefused(entry.payload, in: room) { return fail(entry.id, .encryptedRoom) }
    guard entry.hasAllFiles else { return }
    if entry.payload.needsEncryption {
      guard knowsEncryption(of: room) else { return }
      outbox.unencryptedRooms.remove(room)
      if rooms[room]?.isEncrypted ?? false, entry.payload.ciphertext == nil { return encrypt(entry) }
    }
    guard let request = requestSend(entry) else { return fail(entry.id, .unknownEvent) }
    entry.phase = .sending(request)
    entry.wasTried = true
    entry.heldUntil = nil
    outbox[entry.id] = entry
    showProgress(of: entry)
  }

  private mutating func requestSend(_ entry: OutboxEntry) -> RequestID? {
    let payload = entry.payload
    if let ciphertext = payload.ciphertext {
      let path = Endpoint.sendMessage.path(entry.roomID.text, EventType.encrypted.text, entry.transactionID.text)
      return request(.sendMessage, path, body: ciphertext, for: .send(entry.id))
    }
    guard let body = payload.body else { return nil }
    switch payload.kind {
    case .redaction:
      guard case .event(let event)? = payload.target else { return nil }
      let path = Endpoint.redactEvent.path(entry.roomID.text, event.text, entry.transactionID.text)
      return request(.redactEvent, path, body: body, for: .send(entry.id))
    case .state:
      let path = Endpoint.setRoomStateWithKey.path(entry.roomID.text, payload.type.text, payload.stateKey ?? "")
      return request(.setRoomStateWithKey, path, body: body, for: .send(entry.id))
    default:
      let path = Endpoint.sendMessage.path(entry.roomID.text, payload.type.text, entry.transactionID.text)
      return request(.sendMessage, path, body: body, for: .send(entry.id))
    }
  }

  // MARK: Storing

  /// The entries as they are, in one batch; the room goes on when it is durable.
  mutating func store(_ ids: [OutboxEntry.ID], in room: RoomID, also operations: [StoreOperation] = []) {
    var operations = operations
    for id in ids {
      guard let entry = outbox[id], !entry.isDelivered else { continue }
      operations.append(.put(key: StoreKey.outbox(id), value: entry.record))
    }
    outbox.writes[room, default: 0] += 1
    write(operations, .outboxEntries(room, ids))
  }

  mutating func outboxWritten(_ ids: [OutboxEntry.ID], in room: RoomID) {
    let left = (outbox.writes[room] ?? 1) - 1
    outbox.writes[room] = left > 0 ? left : nil
    for id in ids { if case .storing? = outbox[id]?.phase { outbox[id]?.phase = .queued } }
    pump(room)
  }

  mutating func outboxWritten(_ id: OutboxEntry.ID) {
    guard let entry = outbox[id] else { return }
    if case .storing = entry.phase { outbox[id]?.phase = .queued }
    pump(entry.roomID)
  }

  // MARK: Waiting

  mutating func outboxTimerFired(_ room: RoomID) {
    outbox.timers[room] = nil
    pump(room)
  }

  /// The connection is back: no use in waiting on, but for what the server asked for.
  mutating func retryOutboxNow() {
    for (room, timer) in outbox.timers {
      if outbox.entries.contains(where: { $0.roomID == room && $0.isWaiting && $0.heldUntil ?? 0 > now }) { continue }
      var timer: TimerID? = timer
      cancelTimer(&timer)
      outbox.timers[room] = nil
    }
    pumpOutbox()
  }

  mutating func setSending(_ isEnabled: Bool, in room: RoomID?, _ command: CommandID) {
    if let room {
      if isEnabled { outbox.pausedRooms.remove(room) } else { outbox.pausedRooms.insert(room) }
    } else {
      outbox.isPaused = !isEnabled
    }
    finish(command, .done)
    if isEnabled { pumpOutbox() }
  }

  // MARK: Answers

  mutating func sendAnswered(_ answer: Answer, _ id: OutboxEntry.ID) {
    guard var entry = outbox[id] else { return }
    guard case .success(let json) = answer else { return failed(entry, answer) }
    guard let event = EventID(json["event_id"]) else { return fail(id, .badAnswer) }
    entry.phase = .sent(event, afterSync: syncLoop.started)
    entry.eventID = event
    finish(entry.command, .done)
    entry.command = 0
    outbox[id] = entry
    if entry.isDelivered {
      notify(.sending(entry.roomID, id, .sent(event)))
      return pump(entry.roomID)
    }
    let resolved = resolve(id, as: event)
    // Already here under no transaction ID of ours (a sync that left it out): the echo has done its work.
    if let timeline = rooms[entry.roomID]?.timeline, timeline.itemOfEvent[event] != nil {
      notify(.sending(entry.roomID, id, .sent(event)))
      forget(entry)
      store(resolved, in: entry.roomID, also: [.delete(key: StoreKey.outbox(id))])
    } else {
      showProgress(of: entry)
      store([id] + resolved, in: entry.roomID)
    }
  }

  private mutating func failed(_ entry: OutboxEntry, _ answer: Answer) {
    guard answer.isTransient else { return fail(entry.id, answer.error ?? .badAnswer) }
    var entry = entry
    entry.phase = entry.uploads > 0 ? .uploading : .queued
    var delay = entry.backoff.next(&random, retryAfterMilliseconds: answer.retryAfterMilliseconds)
    // A slow room may want longer than is waited at a time.
    if let asked = answer.retryAfterMilliseconds { entry.heldUntil = now + max(delay, min(asked, Limits.slowModeMilliseconds)) }
    // It may take long: who waits for the end learns that it waits.
    finish(entry.command, .queued(entry.id))
    entry.command = 0
    outbox[entry.id] = entry
    showProgress(of: entry)
    // Another of the room may have failed just before, or has to wait for longer.
    for other in outbox.entries where other.roomID == entry.roomID && other.isWaiting {
      if let until = other.heldUntil { delay = max(delay, min(until - now, Limits.retryAfterMilliseconds)) }
    }
    var timer = outbox.timers[entry.roomID]
    cancelTimer(&timer)
    outbox.timers[entry.roomID] = startTimer(delay, .outbox(entry.roomID))
  }

  /// For good: it stays where it is, with what waits for it, and what stands behind goes on. A refused reaction is gone.
  mutating func fail(_ id: OutboxEntry.ID, _ error: ClientError) {
    guard let entry = outbox[id] else { return }
    finish(entry.command, .failed(error))
    outbox[id]?.command = 0
    // It was written for those who were in the room. Others may be there when it is sent again, or the key never went out.
    outbox[id]?.payload.ciphertext = nil
    endUploads(of: id)
    if entry.payload.isDroppedWhenRefused, !entry.isDelivered {
      notify(.sending(entry.roomID, id, .failed(error)))
      return remove([id] + outbox.dependants(of: id), in: entry.roomID)
    }
    var changed = [id]
    // The server has said that it does not have it.
    if case .refused = error { outbox[id]?.wasTried = false }
    setPhase(of: id, .failed(error))
    for dependant in outbox.dependants(of: id) where outbox[dependant]?.isWaiting ?? false {
      endUploads(of: dependant)
      setPhase(of: dependant, .failed(.targetFailed))
      changed.append(dependant)
    }
    store(changed, in: entry.roomID)
  }

  mutating func setPhase(of id: OutboxEntry.ID, _ phase: OutboxEntry.Phase) {
    outbox[id]?.phase = phase
    if let entry = outbox[id] { showProgress(of: entry) }
  }

  /// Nobody will hear of the end in this session.
  mutating func endAwaitedSends() {
    for entry in outbox.entries where entry.command != 0 {
      finish(entry.command, .failed(.notSignedIn))
      outbox[entry.id]?.command = 0
    }
  }

  // MARK: Delivery

  /// The server has it: what waited for it now speaks of its event. Returns the entries that are different.
  private mutating func resolve(_ id: OutboxEntry.ID, as event: EventID) -> [OutboxEntry.ID] {
    var changed: [OutboxEntry.ID] = []
    for entry in outbox.entries where entry.payload.dependsOn(id) {
      outbox[entry.id]?.payload.resolve(id, as: event)
      if case .failed(.targetFailed) = entry.phase { outbox[entry.id]?.phase = .queued }
      if !entry.isDelivered { changed.append(entry.id) }
      if let entry = outbox[entry.id] { showAgain(entry) }
    }
    return changed
  }

  /// A sync that is about to be stored, or a page, has brought their events. Returns what goes into the same batch.
  mutating func noteDelivered(_ events: [OutboxEntry.ID: EventID]) -> [StoreOperation] {
    var changed: [OutboxEntry.ID] = []
    for (id, event) in events.ordered(by: { $0.key < $1.key }) {
      outbox[id]?.isDelivered = true
      outbox[id]?.eventID = event
      changed += resolve(id, as: event)
    }
    var operations: [StoreOperation] = []
    for id in changed where events[id] == nil {
      guard let entry = outbox[id] else { continue }
      operations.append(.put(key: StoreKey.outbox(id), value: entry.record))
    }
    return operations
  }

  /// Its event is on the screen. The record is the caller's.
  mutating func finishDelivered(_ entry: OutboxEntry) {
    endUploads(of: entry.id)
    if case .sending(let request) = entry.phase { pending.requests[request] = nil }
    finish(entry.command, .done)
    if case .sent = entry.phase {} else if let event = entry.eventID { notify(.sending(entry.roomID, entry.id, .sent(event))) }
    forget(entry)
    pump(entry.roomID)
  }
}
