import JSON
import MatrixModel

/// What the client waits for: answers are looked up here and anything unknown is ignored.
struct Pending: Sendable {
  var requests: [RequestID: RequestPurpose] = [:]
  var timers: [TimerID: TimerPurpose] = [:]
  var writes: [WriteID: WritePurpose] = [:]
  var loads: [LoadID: LoadPurpose] = [:]
  /// One counter for all four, so that a mix-up cannot go unnoticed.
  private var lastID: UInt32 = 0

  mutating func nextID() -> UInt32 {
    lastID &+= 1
    return lastID
  }

  mutating func forgetAll() {
    requests = [:]
    timers = [:]
    writes = [:]
    loads = [:]
  }
}

enum RequestPurpose: Sendable {
  case loginFlows(CommandID)
  case registrationProbe(CommandID)
  case logIn(CommandID)
  case register(CommandID)
  case logOut(CommandID)
  case sync
  case page(RoomID, gap: ItemID?, CommandID, emptyPages: Int)
  case members(RoomID, CommandID)
  case upload(OutboxEntry.ID)
  case send(OutboxEntry.ID)
  case receipt(RoomID)
  /// Nobody waits for the answer.
  case forgettable
  case createRoom(directUser: UserID?, CommandID)
  case join(directUser: UserID?, CommandID)
  case leave(RoomID, CommandID)
  case forget(RoomID, CommandID)
  /// Done or failed, nothing else.
  case command(CommandID)
  case ownProfile
  case setProfile(isName: Bool, ByteString, CommandID)
  case uploadAvatar(BlobHandle, CommandID)
  // Sending
  case mediaLimit
  case pinnedEvents(RoomID, EventID, isPinned: Bool, CommandID)
}

enum TimerPurpose: Sendable {
  case sync
  case outbox(RoomID)
  case typingFuse(RoomID)
  case receipt(RoomID)
  case drafts
}

enum WritePurpose: Sendable {
  case sync
  case outbox(OutboxEntry.ID)
  case outboxEntries(RoomID, [OutboxEntry.ID])
  case other
}

enum LoadPurpose: Sendable {
  case account
  case timeline(RoomID)
}

extension Client {
  // MARK: Requests

  /// `query` begins with `?`.
  @discardableResult
  mutating func request(
    _ endpoint: Endpoint, _ path: String, query: String = "", body: [UInt8]? = nil, timeoutMilliseconds: Int64 = 30_000,
    for purpose: RequestPurpose
  ) -> RequestID {
    let id = pending.nextID()
    pending.requests[id] = purpose
    // A JSON body is due with every POST and PUT, be it empty.
    let body = body ?? (endpoint.method == .post || endpoint.method == .put ? Array("{}".utf8) : nil)
    effects.append(
      .request(
        id,
        HTTPRequest(
          method: endpoint.method, target: path + query, body: body,
          contentType: body == nil ? nil : "application/json",
          accessToken: endpoint.access == .anyone ? nil : session?.accessToken, timeoutMilliseconds: timeoutMilliseconds
        )))
    return id
  }

  mutating func upload(_ blob: BlobHandle, mimeType: ByteString?, fileName: ByteString, for purpose: RequestPurpose)
    -> RequestID
  {
    let id = pending.nextID()
    pending.requests[id] = purpose
    let query = fileName.isEmpty ? "" : "?filename=" + PercentEncoding.encode(fileName)
    effects.append(
      .upload(
        id,
        HTTPRequest(
          method: .post, target: Endpoint.uploadContent.path() + query, body: nil,
          contentType: mimeType?.string ?? "application/octet-stream", accessToken: session?.accessToken,
          timeoutMilliseconds: Limits.uploadTimeoutMilliseconds),
        blob))
    return id
  }

  mutating func cancelRequest(_ id: RequestID) {
    if pending.requests.removeValue(forKey: id) != nil { effects.append(.cancelRequest(id)) }
  }

  // MARK: Timers

  mutating func startTimer(_ milliseconds: Int64, _ purpose: TimerPurpose) -> TimerID {
    let id = pending.nextID()
    pending.timers[id] = purpose
    effects.append(.startTimer(id, milliseconds: milliseconds))
    return id
  }

  mutating func cancelTimer(_ id: inout TimerID?) {
    guard let timer = id else { return }
    id = nil
    if pending.timers.removeValue(forKey: timer) != nil { effects.append(.cancelTimer(timer)) }
  }

  mutating func timerFired(_ id: TimerID) {
    guard let purpose = pending.timers.removeValue(forKey: id) else { return }
    switch purpose {
    case .sync:
      syncLoop.timer = nil
      startSync()
    case .outbox(let room): outboxTimerFired(room)
    case .typingFuse(let room): typingFuseBurned(room)
    case .receipt(let room): receiptTimerFired(room)
    case .drafts:
      draftTimer = nil
      writeDrafts()
    }
  }

  // MARK: Store

  mutating func write(_ operations: [StoreOperation], _ purpose: WritePurpose = .other) {
    let id = pending.nextID()
    pending.writes[id] = purpose
    // Once a batch is lost, later ones would leave holes: the store stays as it was.
    if isStoreBroken { return written(id, false) }
    effects.append(.write(id, operations))
  }

  mutating func load(_ prefix: ByteString, _ purpose: LoadPurpose) {
    let id = pending.nextID()
    pending.loads[id] = purpose
    effects.append(.load(id, prefix: prefix))
  }
}
