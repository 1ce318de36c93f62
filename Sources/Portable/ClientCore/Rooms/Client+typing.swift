import JSON
import MatrixModel

extension Client {
  // MARK: Others

  /// A list from the server is whole and lights the fuse anew; whoever has sent a message has stopped writing.
  mutating func commitTyping(_ prepared: PreparedRoom) -> Bool {
    guard let old = rooms[prepared.id]?.typing else { return false }
    var typing = prepared.typing ?? old
    if prepared.typing == nil { typing.removeAll { prepared.senders.contains($0) } }
    rooms[prepared.id]?.typing = typing
    if prepared.typing != nil || typing.isEmpty {
      var timer = rooms[prepared.id]?.typingTimer
      cancelTimer(&timer)
      if !typing.isEmpty { timer = startTimer(Limits.typingFuseMilliseconds, .typingFuse(prepared.id)) }
      rooms[prepared.id]?.typingTimer = timer
    }
    return typing != old
  }

  mutating func typingFuseBurned(_ id: RoomID) {
    rooms[id]?.typingTimer = nil
    guard let typing = rooms[id]?.typing, !typing.isEmpty else { return }
    rooms[id]?.typing = []
    notify(.room(id, .typing))
  }

  // MARK: Oneself

  mutating func setDraft(_ text: ByteString, in id: RoomID, _ command: CommandID) {
    defer { finish(command, .done) }
    guard let room = rooms[id], room.draft != text else { return }
    rooms[id]?.draft = text
    notify(.room(id, .draft))
    if !dirtyDrafts.contains(id) { dirtyDrafts.append(id) }
    if draftTimer == nil { draftTimer = startTimer(Limits.draftDelayMilliseconds, .drafts) }
    if text.isEmpty { stopTyping(id) } else { tellTyping(id) }
  }

  private mutating func tellTyping(_ id: RoomID) {
    guard let room = rooms[id], room.membership == .join, isOnline else { return }
    if room.ownTyping.isTyping, now - room.ownTyping.toldAt < Limits.typingRefreshMilliseconds { return }
    rooms[id]?.ownTyping = OwnTyping(isTyping: true, toldAt: now)
    requestTyping(id, true)
  }

  mutating func stopTyping(_ id: RoomID) {
    guard rooms[id]?.ownTyping.isTyping ?? false else { return }
    rooms[id]?.ownTyping.isTyping = false
    if isOnline { requestTyping(id, false) }
  }

  private mutating func requestTyping(_ id: RoomID, _ isTyping: Bool) {
    guard let user = session?.userID, sessionState == .signedIn else { return }
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("typing", isTyping)
      if isTyping { writer.member("timeout", Limits.typingTimeoutMilliseconds) }
    }
    request(.setTyping, Endpoint.setTyping.path(id.text, user.text), body: writer.bytes, for: .forgettable)
  }

  // MARK: Drafts

  mutating func writeDrafts() {
    var timer = draftTimer
    cancelTimer(&timer)
    draftTimer = nil
    let operations: [StoreOperation] = dirtyDrafts.compactMap { id in
      guard let text = rooms[id]?.draft else { return nil }
      return text.isEmpty
        ? .delete(key: StoreKey.draft(id))
        : .put(key: StoreKey.draft(id), value: DraftRecord(room: id, text: text).record)
    }
    dirtyDrafts = []
    if !operations.isEmpty { write(operations) }
  }

  /// The draft has become a message, in one batch with it.
  mutating func clearDraft(_ id: RoomID, _ operations: inout [StoreOperation]) {
    dirtyDrafts.removeAll { $0 == id }
    stopTyping(id)
    guard let room = rooms[id], !room.draft.isEmpty else { return }
    rooms[id]?.draft = ""
    operations.append(.delete(key: StoreKey.draft(id)))
    notify(.room(id, .draft))
  }
}
