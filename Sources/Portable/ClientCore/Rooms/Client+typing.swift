import JSON
import MatrixModel

extension Client {
  // MARK: Others

  /// Takes the whole list of typing users from the server and restarts their timeout. A user whose message has come no longer types.
  mutating func commitTyping(_ prepared: PreparedRoom) -> Bool {
    guard let old = rooms[prepared.id]?.typing else { return false }
    var typing = prepared.typing ?? old
    typing.removeAll { ignoredUsers.contains($0) }
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

  // MARK: The account's user

  mutating func tellTyping(_ id: RoomID) {
    prepareEncryption(in: id)
    guard sendsTypingNotices, let room = rooms[id], room.membership == .join, isOnline else { return }
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
}
