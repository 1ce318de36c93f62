import JSON
import MatrixModel

/// Where the sync stands: at most one of request, timer and prepared batch is there.
struct SyncLoop: Sendable {
  /// Of the last batch that was stored.
  var position = SyncPosition()
  var request: RequestID?
  var timer: TimerID?
  var prepared: PreparedSync?
  var backoff = Backoff()
  var pace = SyncPace()
  /// Whether a sync of this run has succeeded since the last failure.
  var isRunning = false
  /// How many sync requests have gone out, and the number of the one under way or being stored.
  var started = 0
  /// Answers that change what a batch being stored also changes: they wait for it.
  var deferredAnswers: [(Answer, RequestPurpose)] = []
  /// Rooms whose list of members goes on then.
  var deferredMembers: [(RoomID, CommandID)] = []
  /// Records, likewise.
  var deferredRecords: [(LoadID, [StoreRecord], LoadPurpose)] = []
  var offer = Offer.unknown

  /// What is known in this run of the kinds of sync that the server offers.
  enum Offer: Sendable {
    /// It is asked for where nothing is stored.
    case unknown
    /// It is asked for in any case.
    case wanted
    case known
  }

  var progress = SyncProgress()
  // Sliding sync
  /// How many rooms from the top are asked for.
  var window = Limits.firstRooms
  /// Rooms that the request under way subscribes to.
  var subscriptions: [RoomID] = []
  /// Whether the request under way is one that the server holds until there are news.
  var isHeld = false
  /// Positions that the server has forgotten one after the other.
  var lostPositions = Backoff()

  mutating func stop() {
    request = nil
    timer = nil
    isRunning = false
    isHeld = false
    deferredAnswers = []
    deferredMembers = []
  }

  /// From the beginning, with what is stored.
  mutating func beginAnew(_ kind: SyncPosition.Kind) {
    position = position.anew(kind)
    window = Limits.firstRooms
  }

  mutating func goOn(from stored: SyncPosition) {
    position = stored
    if position.isComplete { grow() }
  }

  /// The next rooms: four times as many, as long as that is not too much for one answer.
  mutating func grow() {
    window = position.isComplete ? Limits.listedRooms : min(window * 4, window + Limits.furtherRooms, Limits.listedRooms)
  }
}

extension Client {
  mutating func startSync() {
    guard sessionState == .signedIn, isOnline, syncLoop.request == nil, syncLoop.timer == nil, syncLoop.prepared == nil
    else {
      if sessionState == .signedIn, !isOnline { setConnection(isPaused ? .idle : .offline) }
      return
    }
    if !syncLoop.isRunning, syncLoop.backoff.failures == 0 { setConnection(.connecting) }
    let delay = pacesSyncs ? syncLoop.pace.next(now: now) : 0
    if delay > 0 {
      syncLoop.timer = startTimer(delay, .sync)
      return
    }
    guard chooseSync() else { return }
    syncLoop.started += 1
    switch syncLoop.position.kind {
    case .v3: requestV3()
    case .sliding: slidingChapter?.request(&self)
    }
  }

  private mutating func requestV3() {
    var query = "?filter=" + syncFilter.query(withPresence: observesPresence)
    // The first answer after a break comes at once, so that the user sees that the connection is back.
    let timeout = syncLoop.isRunning ? Limits.longPollMilliseconds : 0
    query += "&timeout=\(timeout)"
    if let token = syncLoop.position.token { query += "&since=" + PercentEncoding.encode(token) }
    if let presence = syncPresence { query += "&set_presence=" + presence.name }
    syncLoop.request = request(
      .sync, Endpoint.sync.path(), query: query, timeoutMilliseconds: timeout + Limits.syncGraceMilliseconds, for: .sync)
  }

  mutating func syncAnswered(_ answer: Answer) {
    syncLoop.request = nil
    guard sessionState == .signedIn, let user = session?.userID else { return }
    guard case .success(let json) = answer, var prepared = prepareSync(json, ownUserID: user) else {
      return syncFailed(answer)
    }
    syncLoop.backoff.reset()
    if syncLoop.position.token != nil { syncLoop.lostPositions.reset() }
    prepared.operations += noteDelivered(prepared.delivered)
    syncLoop.prepared = prepared
    write(prepared.operations, .sync)
  }

  mutating func syncFailed(_ answer: Answer) {
    syncLoop.isRunning = false
    guard isOnline else { return setConnection(.offline) }
    if case .refused(let error, _) = answer, goesOn(after: error) { return startSync() }
    let delay = syncLoop.backoff.next(&random, retryAfterMilliseconds: answer.retryAfterMilliseconds)
    setConnection(.reconnecting(retryAtMilliseconds: now + delay))
    syncLoop.timer = startTimer(delay, .sync)
  }

  /// The network is back: no use in waiting for the timer or for a request that hangs in a dead connection.
  mutating func retrySyncNow() {
    var timer = syncLoop.timer
    cancelTimer(&timer)
    syncLoop.timer = nil
    if let request = syncLoop.request {
      syncLoop.request = nil
      cancelRequest(request)
    }
    syncLoop.isRunning = false
    startSync()
  }

  mutating func syncWritten() {
    guard let prepared = syncLoop.prepared else { return }
    syncLoop.prepared = nil
    syncLoop.position = prepared.position
    let wasRunning = syncLoop.isRunning
    syncLoop.isRunning = true
    commit(prepared)
    noteProgress(of: prepared)
    if isOnline { setConnection(prepared.position.hasAllRooms ? .running : .firstSync(syncLoop.progress)) }
    if !wasRunning {
      outbox.unencryptedRooms = []
      retryOutboxNow()
      retryPagesNow()
    }
    let deferred = syncLoop.deferredAnswers
    syncLoop.deferredAnswers = []
    let records = syncLoop.deferredRecords
    syncLoop.deferredRecords = []
    let members = syncLoop.deferredMembers
    syncLoop.deferredMembers = []
    for (id, records, purpose) in records { loaded(id, records, for: purpose) }
    for (room, command) in members { takeMembers(room, command) }
    for (answer, purpose) in deferred {
      switch purpose {
      case .encryption(let room): encryptionAnswered(answer, of: room)
      default: timelineAnswered(answer, purpose)
      }
    }
    startSync()
    createFilter()
  }

  private mutating func noteProgress(of sync: PreparedSync) {
    switch sync.position.kind {
    case .v3: syncLoop.progress.advance(to: rooms.count, of: rooms.count)
    case .sliding:
      if let count = sync.roomCount { syncLoop.progress.advance(to: syncLoop.window, of: count) }
      syncLoop.grow()
    }
  }
}
