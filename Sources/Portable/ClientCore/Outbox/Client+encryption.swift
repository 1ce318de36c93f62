import JSON
import MatrixModel

/// Clear text never goes into an encrypted room. Spec: "m.room.encryption": once a room is encrypted it stays so.
///
/// Every event that a room's members would expect to be encrypted goes through the host (`Effect.encrypt`): messages, stickers, polls, votes, edits,
/// positions, the signalling of calls (whose session descriptions name the keys of the media) and events of unknown types. Files are encrypted while
/// they are uploaded (`Effect.uploadEncrypted`), each time with a new key: a key that encrypts two contents gives both away, and the file may have changed.
/// Where the host does not encrypt, they are refused (`ClientError.encryptedRoom`). Reactions, redactions and state are not encrypted by any client;
/// `m.room.encrypted` is ciphertext that the app made.
///
/// A room may have become encrypted while nobody was listening. Before something goes out while no sync runs, the server is asked
/// (`GET …/state/m.room.encryption`), once for each event.
extension Client {
  /// Whether that would put clear text into a room that is known to be encrypted.
  func isRefused(_ payload: OutboxPayload, in room: RoomID) -> Bool {
    payload.needsEncryption && rooms[room]?.isEncrypted ?? false && !encrypts(payload)
  }

  private func encrypts(_ payload: OutboxPayload) -> Bool { encrypts && (encryptsFiles || payload.files.isEmpty) }

  /// Whether it is known now whether the room is encrypted; if not, the server is asked, and the room goes on with its answer.
  mutating func knowsEncryption(of room: RoomID) -> Bool {
    if rooms[room]?.isEncrypted ?? false { return true }
    // Nobody is asked: it goes on when a sync brings the room.
    if encryptedRooms.contains(room) { return false }
    if syncLoop.isRunning, syncLoop.position.isComplete { return true }
    if outbox.unencryptedRooms.contains(room) { return true }
    if outbox.encryptionRequests.insert(room).inserted {
      let path = Endpoint.getRoomStateWithKey.path(room.text, EventType.encryption.text, "")
      request(.getRoomStateWithKey, path, for: .encryption(room))
    }
    return false
  }

  mutating func encryptionAnswered(_ answer: Answer, of room: RoomID) {
    // A sync that is being stored brings the room's state as it was before.
    guard syncLoop.prepared == nil else { return syncLoop.deferredAnswers.append((answer, .encryption(room))) }
    outbox.encryptionRequests.remove(room)
    switch answer {
    case .success:
      rooms[room]?.state.isEncrypted = true
      if encryptedRooms.insert(room).inserted { write([StoreSchema.putEncrypted(room)]) }
      notify(.room(room, .settings))
      refuseClearText(in: room)
    case .refused(let error, _) where error.status == 404:
      outbox.unencryptedRooms.insert(room)
    default:
      // Not allowed to know, or no answer: it is not sent.
      guard let entry = outbox.entries(in: room).first(where: { $0.isWaiting && $0.payload.needsEncryption }) else { break }
      return sendAnswered(answer, entry.id)
    }
    pump(room)
  }

  /// The room is encrypted now: what waits in clear text and cannot be encrypted stays where it is, as failed. The server keeps none of its files.
  mutating func refuseClearText(in room: RoomID) {
    for entry in outbox.entries(in: room) where entry.isWaiting {
      guard isRefused(entry.payload, in: room) else {
        forgetClearFiles(of: entry)
        continue
      }
      // A request that is under way cannot be taken back.
      if case .sending = entry.phase { continue }
      fail(entry.id, .encryptedRoom)
    }
  }

  /// Uploads that are under way end, and those that are over are repeated: encrypted this time.
  mutating func forgetClearFiles(of entry: OutboxEntry) {
    guard entry.payload.files.contains(where: { $0.isClear }) else { return }
    switch entry.phase {
    case .uploading, .queued: break
    case .storing, .encrypting, .sending, .sent, .failed: return
    }
    endUploads(of: entry.id)
    outbox[entry.id]?.payload.forgetClearFiles()
    outbox[entry.id]?.phase = .queued
    store([entry.id], in: entry.roomID)
  }

  // MARK: Encrypting

  /// Once it is known who is to read it.
  mutating func encrypt(_ entry: OutboxEntry) {
    guard let readers = readers(in: entry.roomID) else { return }
    guard let content = entry.payload.body else { return fail(entry.id, .unknownEvent) }
    outbox[entry.id]?.phase = .encrypting
    encrypt(entry.id, entry.payload.type, content, for: readers)
  }

  mutating func encrypt(_ id: SendID, _ type: EventType, _ content: [UInt8], for readers: MessageReaders) {
    emit(
      .encrypt(
        id,
        UnencryptedMessage(
          room: readers.room, users: readers.users, sharesHistory: readers.sharesHistory, type: type, content: content)))
  }

  /// Somebody begins to write: the readers can have the key before the message goes.
  mutating func prepareEncryption(in id: RoomID) {
    guard encrypts, isOnline, let room = rooms[id], room.isEncrypted, room.membership == .join,
      room.ownTyping.preparedAt.map({ now - $0 >= Limits.prepareMilliseconds }) ?? true, let readers = readers(in: id)
    else { return }
    rooms[id]?.ownTyping.preparedAt = now
    emit(.prepareEncryption(readers))
  }

  /// nil while not all members are known: they are asked for, and the room goes on with them (`goOnEncrypting`).
  mutating func readers(in id: RoomID) -> MessageReaders? {
    guard let state = rooms[id]?.state else { return nil }
    guard state.hasPeople, state.hasAllMembers else {
      if outbox.waitingForMembers.insert(id).inserted { loadMembers(id, 0) }
      return nil
    }
    var users: [UserID] = []
    let visibility = state.settings.historyVisibility ?? .shared
    for member in state.members.all {
      if member.membership == .join || member.membership == .invite && visibility != .joined { users.append(member.userID) }
    }
    return MessageReaders(
      room: id, users: users.ordered(), sharesHistory: visibility == .shared || visibility == .worldReadable)
  }

  /// The list of a room's members has come, or will not for now.
  mutating func goOnEncrypting(in room: RoomID, _ answer: Answer? = nil) {
    guard outbox.waitingForMembers.remove(room) != nil else { return }
    encryptQueries(in: room, answer)
    if let answer, answer.error != nil, let entry = outbox.first(in: room), case .queued = entry.phase {
      return sendAnswered(answer, entry.id)
    }
    pump(room)
  }

  mutating func encrypted(_ id: SendID, _ content: [UInt8]) {
    if let query = query(encrypting: id) { return encrypted(query: query, content) }
    // What was taken back or changed meanwhile is encrypted anew, or not at all.
    guard let entry = outbox[id], case .encrypting = entry.phase else { return }
    outbox[id]?.payload.ciphertext = content
    outbox[id]?.phase = .queued
    store([id], in: entry.roomID)
  }

  mutating func notEncrypted(_ id: SendID, _ error: ClientError) {
    if let query = query(encrypting: id) { return endQuery(query, .failed(error)) }
    fail(id, error)
  }

  // MARK: Late keys

  /// Keeps the places and the identities of what stands there already.
  mutating func decrypted(_ events: [JSON], in id: RoomID) {
    guard let room = rooms[id], let user = session?.userID else { return }
    let late = events.compactMap { TimelineEvent($0) }
    if room.hasTimeline {
      changeTimeline(id) { timeline, _ in late.flatMap { timeline.disclose($0, ownUserID: user) } }
    }
    for event in late {
      guard let preview = room.state.preview, preview.eventID == event.eventID, preview.isUndecryptable else { continue }
      switch event.kind {
      case .item(.message(let message), _):
        rooms[id]?.state.preview = RoomPreview(
          eventID: event.eventID, sender: event.sender, timestampMilliseconds: event.timestampMilliseconds, content: message)
      case .item(.undecryptable, _): continue
      // A part of a call, or something else that the list does not show.
      default: rooms[id]?.state.preview = preview.before.first
      }
      settlePreview(id)
      notify(.room(id, .preview))
      // A sync that is being stored writes the room as well.
      if syncLoop.prepared == nil, let state = rooms[id]?.state {
        write([.put(key: StoreKey.room(id), value: state.record(of: id))])
      }
    }
    if room.state.countsUnread { recountUnread(id) }
  }
}

extension OutboxPayload {
  /// Whether it has to be encrypted in an encrypted room.
  var needsEncryption: Bool {
    switch kind {
    case .event, .edit, .reference: type != .encrypted && type != .reaction && type != .redaction
    case .reaction, .redaction, .state: false
    }
  }
}
