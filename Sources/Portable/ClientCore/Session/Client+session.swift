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
    completePushRules()
  }

  mutating func logOut(_ id: CommandID) {
    stopSession()
    guard hasNetwork else {
      endSession(keepingData: false)
      return finish(id, .done)
    }
    request(.logout, Endpoint.logout.path(), for: .logOut(id))
  }

  /// On every device of the account. Where the server says no, everything stays as it is.
  mutating func logOutEverywhere(_ id: CommandID) {
    request(.logoutAll, Endpoint.logoutAll.path(), for: .logOutEverywhere(id))
  }

  mutating func loggedOutEverywhere(_ answer: Answer, _ id: CommandID) {
    if let error = answer.error {
      sendSuspended()
      return finish(id, .failed(error))
    }
    endSession(keepingData: false)
    finish(id, .done)
  }

  /// Goes on with a login made elsewhere, also in the place of an older one of the same device. It does not ask the server; `Query.whoAmI()` does.
  mutating func restore(_ session: Session, _ id: CommandID) {
    let isSameDevice = self.session?.userID == session.userID && self.session?.deviceID == session.deviceID
    if sessionState == .signedIn, isSameDevice {
      stopSession()
    } else if sessionState != .signedOut, sessionState != .softLoggedOut {
      return finish(id, .failed(signInRefusal))
    }
    var session = session
    if session.homeserver == nil { session.homeserver = homeserver }
    begin(session, id)
  }

  /// - Parameter purpose: of the request that showed that the session is over.
  mutating func endSession(keepingData: Bool, failing purpose: RequestPurpose? = nil) {
    guard session != nil else { return }
    stopSession()
    endAwaitedSends()
    if let id = purpose?.commandID { finish(id, .failed(.notSignedIn)) }
    if keepingData {
      outbox.suspend()
      return setSessionState(.softLoggedOut)
    }
    forgetData()
    session = nil
    setSessionState(.signedOut)
  }

  /// No request and no timer is left; writes go on.
  mutating func stopSession() {
    endRequests(with: .notSignedIn) { _ in false }
    refresh = TokenRefresh()
  }

  /// No timer is left and no request but those that are kept. Who waits for one learns that it ended with that error.
  mutating func endRequests(with error: ClientError, except isKept: (RequestPurpose) -> Bool) {
    endQueries(with: error)
    var requests = pending.requests
    requests.removeAll { isKept($0.purpose) }
    for id in requests.keys { cancelRequest(id) }
    for (_, command) in syncLoop.deferredMembers { finish(command, .failed(error)) }
    for id in pending.timers.keys { emit(.cancelTimer(id)) }
    for purpose in pending.timers.values {
      if case .members(_, let command) = purpose { finish(command, .failed(error)) }
    }
    pending.timers = [:]
    var ended: Set<CommandID> = []
    for waiting in requests.values where ended.insert(waiting.purpose.commandID).inserted {
      finish(waiting.purpose.commandID, .failed(error))
    }
    for (_, purpose) in syncLoop.deferredAnswers { finish(purpose.commandID, .failed(error)) }
    syncLoop.stop()
    syncFilter.request = nil
    drafts.timer = nil
    drafts.passed.timer = nil
    expiryTimer = nil
    interruptedPages.timer = nil
    endListChanges()
    endEventLoads(with: error)
    endUnreadEvidence(with: error)
    endPushRuleChanges()
    endLearning()
    endArriving()
    markingRead = [:]
    for id in Array(rooms.keys) { rooms[id]?.stopTimers() }
    setConnection(.idle)
  }

  /// Everything about this account, here and in the store.
  mutating func forgetData() {
    for entry in outbox.entries {
      for file in entry.payload.files { emit(.releaseBlob(file.blob)) }
    }
    write([.deleteAll(prefix: "")])
    pending.loads = [:]
    pending.writes = [:]
    keptTimelines = []
    openRooms = []
    interruptedPages = InterruptedPages()
    outbox = Outbox()
    syncFilter = SyncFilter()
    eventSources = EventSources()
    drafts.unstored = []
    drafts.passed = PassedDrafts()
    drafts.orphans = [:]
    ownProfile = OwnProfile()
    breadcrumbs = Breadcrumbs()
    encryptedRooms = []
    forgetSynced()
  }

  /// What the syncs have brought, in memory.
  mutating func forgetSynced() {
    rooms = [:]
    keptPeople = []
    roomsMarking = []
    storedEvents.count = 0
    storedEvents.limit = storedEvents.bound
    storedEvents.quietRooms = []
    directRooms = DirectRooms()
    pushRuleState = PushRuleState()
    notificationWishes = NotificationWishes()
    ignoredUsers = IgnoredUsers()
    presences = [:]
    syncLoop = SyncLoop()
    sortRooms()
  }

  mutating func networkChanged(_ isOnline: Bool) {
    guard hasNetwork != isOnline else { return }
    hasNetwork = isOnline
    guard sessionState == .signedIn, !isPaused else { return }
    if isOnline {
      retrySyncNow()
      retryOutboxNow()
      retryPagesNow()
    } else {
      setConnection(.offline)
    }
  }

  mutating func setConnection(_ state: ConnectionState) {
    switch (connection, state) {
    case (.idle, .idle), (.connecting, .connecting), (.running, .running), (.offline, .offline): return
    case (.firstSync(let old), .firstSync(let new)) where old == new: return
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
    if reading.request != nil { reading.isDirty = true }
    reading.request = nil
    typingTimer = nil
    typing = []
    ownTyping = OwnTyping()
    isLoadingMembers = false
    arrivingMembers = nil
    timeline.stopLoading()
    for i in focused.indices { focused[i].wrappedValue.stopLoading() }
  }
}
