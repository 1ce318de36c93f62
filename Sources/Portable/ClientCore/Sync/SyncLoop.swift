import JSON
import MatrixModel

/// Where the sync stands: at most one of request, timer and prepared batch is there.
struct SyncLoop: Sendable {
  /// `next_batch` of the last batch that was stored; nil before the first.
  var token: ByteString?
  var request: RequestID?
  var timer: TimerID?
  var prepared: PreparedSync?
  var backoff = Backoff()
  /// Whether a sync of this run has succeeded since the last failure.
  var isRunning = false
  /// How many sync requests have gone out, and the number of the one under way or being stored.
  var started = 0
  /// Answers that change what a batch being stored also changes: they wait for it.
  var deferredAnswers: [(Answer, RequestPurpose)] = []
  /// Records, likewise.
  var deferredRecords: [(LoadID, [StoreRecord], LoadPurpose)] = []

  mutating func stop() {
    request = nil
    timer = nil
    isRunning = false
    deferredAnswers = []
    deferredRecords = []
  }

  /// Room events with their members loaded lazily. Spec: "Filtering", "Lazy-loading room members".
  static let filter = filter(#""presence":{"not_types":["*"]},"#)
  static let filterWithPresence = filter("")

  private static func filter(_ presence: String) -> String {
    PercentEncoding.encode(
      ByteString(
        "{" + presence + #""room":{"state":{"lazy_load_members":true},"timeline":{"limit":"#
          + "\(Limits.syncEvents)" + #","lazy_load_members":true}}}"#))
  }
}

extension Client {
  mutating func startSync() {
    guard sessionState == .signedIn, isOnline, syncLoop.request == nil, syncLoop.timer == nil, syncLoop.prepared == nil
    else {
      if sessionState == .signedIn, !isOnline { setConnection(.offline) }
      return
    }
    var query = "?filter=" + (observesPresence ? SyncLoop.filterWithPresence : SyncLoop.filter)
    // The first answer after a break comes at once, so that one sees that the connection is back.
    let timeout = syncLoop.isRunning ? Limits.longPollMilliseconds : 0
    query += "&timeout=\(timeout)"
    if let token = syncLoop.token { query += "&since=" + PercentEncoding.encode(token) }
    if let presence = syncPresence { query += "&set_presence=" + presence.name }
    if !syncLoop.isRunning, syncLoop.backoff.failures == 0 { setConnection(.connecting) }
    syncLoop.started += 1
    syncLoop.request = request(
      .sync, Endpoint.sync.path(), query: query, timeoutMilliseconds: timeout + Limits.syncGraceMilliseconds, for: .sync
    )
  }

  mutating func syncAnswered(_ answer: Answer) {
    syncLoop.request = nil
    guard sessionState == .signedIn, let user = session?.userID else { return }
    guard case .success(let json) = answer, var prepared = prepareSync(json, ownUserID: user) else {
      return syncFailed(answer)
    }
    syncLoop.backoff.reset()
    prepared.operations += noteDelivered(prepared.delivered)
    syncLoop.prepared = prepared
    write(prepared.operations, .sync)
  }

  private mutating func syncFailed(_ answer: Answer) {
    syncLoop.isRunning = false
    guard isOnline else { return setConnection(.offline) }
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
    syncLoop.token = prepared.nextBatch
    let wasRunning = syncLoop.isRunning
    syncLoop.isRunning = true
    commit(prepared)
    if isOnline { setConnection(.running) }
    if !wasRunning { retryOutboxNow() }
    let deferred = syncLoop.deferredAnswers
    syncLoop.deferredAnswers = []
    let records = syncLoop.deferredRecords
    syncLoop.deferredRecords = []
    for (id, records, purpose) in records { loaded(id, records, for: purpose) }
    for (answer, purpose) in deferred {
      switch purpose {
      case .members(let room, let command): membersAnswered(answer, room, command)
      default: timelineAnswered(answer, purpose)
      }
    }
    startSync()
  }
}
