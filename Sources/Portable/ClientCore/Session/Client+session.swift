import JSON
import MatrixModel

extension Client {
  /// Signed in and the data in place: send what waits and sync.
  mutating func startSession() {
    startSync()
    pumpOutbox()
    if let user = session?.userID {
      request(.getUserProfile, Endpoint.getUserProfile.path(user.text), for: .ownProfile)
    }
  }

  mutating func logOut(_ id: CommandID) {
    stopSession()
    guard isOnline else {
      endSession(keepingData: false)
      return finish(id, .done)
    }
    request(.logout, Endpoint.logout.path(), for: .logOut(id))
  }

  mutating func endSession(keepingData: Bool) {
    guard session != nil else { return }
    stopSession()
    endAwaitedSends()
    if keepingData {
      outbox.suspend()
      return setSessionState(.softLoggedOut)
    }
    forgetData()
    session = nil
    setSessionState(.signedOut)
  }

  /// No request and no timer is left; writes go on.
  private mutating func stopSession() {
    for id in pending.requests.keys.sorted() { effects.append(.cancelRequest(id)) }
    for id in pending.timers.keys.sorted() { effects.append(.cancelTimer(id)) }
    pending.requests = [:]
    pending.timers = [:]
    syncLoop.stop()
    draftTimer = nil
    for id in Array(rooms.keys) { rooms[id]?.stopTimers() }
    setConnection(.idle)
  }

  /// Everything about this account, here and in the store.
  mutating func forgetData() {
    for entry in outbox.entries {
      for file in entry.payload.files { effects.append(.releaseBlob(file.blob)) }
    }
    write([.deleteAll(prefix: "")])
    pending.loads = [:]
    pending.writes = [:]
    rooms = [:]
    roomIDs = []
    keptTimelines = []
    openRooms = []
    directRooms = DirectRooms()
    outbox = Outbox()
    syncLoop = SyncLoop()
    dirtyDrafts = []
    ownDisplayName = nil
    ownAvatar = nil
    notify(.roomOrder)
  }

  mutating func networkChanged(_ isOnline: Bool) {
    guard self.isOnline != isOnline else { return }
    self.isOnline = isOnline
    guard sessionState == .signedIn else { return }
    if isOnline {
      retrySyncNow()
      retryOutboxNow()
    } else {
      setConnection(.offline)
    }
  }

  mutating func setConnection(_ state: ConnectionState) {
    switch (connection, state) {
    case (.idle, .idle), (.connecting, .connecting), (.running, .running), (.offline, .offline): return
    default: break
    }
    connection = state
    notify(.connection)
  }
}

extension Room {
  /// Their timers and requests are gone with the session.
  mutating func stopTimers() {
    reading.timer = nil
    reading.request = nil
    typingTimer = nil
    typing = []
    ownTyping = OwnTyping()
    isLoadingMembers = false
    timeline.stopLoading()
  }
}
