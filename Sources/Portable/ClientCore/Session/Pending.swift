import JSON
import MatrixModel

/// What the client waits for: answers are looked up here and anything unknown is ignored.
struct Pending: Sendable {
  var requests: IDTable<PendingRequest> = [:]
  var timers: IDTable<TimerPurpose> = [:]
  var writes: IDTable<WritePurpose> = [:]
  var loads: IDTable<LoadPurpose> = [:]
  /// One counter for all four, so that a mix-up cannot go unnoticed.
  private var lastID: UInt32 = 0

  mutating func nextID() -> UInt32 {
    lastID &+= 1
    return lastID
  }
}

/// A request that has no answer yet, with all that it takes to send it once more.
struct PendingRequest: Sendable {
  let purpose: RequestPurpose
  /// Its token is the one it went out with last.
  var request: HTTPRequest
  let blob: BlobHandle?
  var encryptsBlob = false
  let sendsToken: Bool
  /// How often the server did not know its token.
  var refusals = 0
}

indirect enum RequestPurpose: Sendable {
  case query(CommandID)
  case refreshToken
  case loginFlows(CommandID)
  case registrationProbe(CommandID)
  case logIn(CommandID)
  case register(CommandID)
  case logOut(CommandID)
  case logOutEverywhere(CommandID)
  case sync
  case syncOffer
  case syncFilter
  case page(TimelineKey, PagePlace, CommandID, emptyPages: Int)
  case forwardPage(TimelineKey, CommandID, emptyPages: Int)
  case context(TimelineKey, CommandID)
  case event(EventSources.Key)
  case date(RoomID, CommandID)
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
  case encryption(RoomID)
  // Making a direct chat
  case inviteLink(ByteString, CommandID)
  case encryptionWishes(NewChat, CommandID)
  case directChatKeys(NewChat, of: UserID, CommandID)
  case pinnedEvents(RoomID, EventID, isPinned: Bool, CommandID)
  // Room list
  case unreadMark(RoomID, Room.UnreadMark, CommandID)
  case removal(RoomID, EventID, CommandID)
  case breadcrumbs
  case readDirect
  case writeDirect
  case readIgnoredUsers
  case writeIgnoredUsers
  // Spaces
  case spaceChild(RoomID, in: RoomID, SpaceChildChange, CommandID)
  // Notifications
  case ownPushRules(age: Int)
  case pushRule(CommandID)
  // People
  case capabilities
  case powerLevels(RoomID, PowerSubject, Int64?, CommandID)
  case lastEvent(RoomID, CommandID)
  case markedRead([RoomID], CommandID)
}

extension RequestPurpose {
  /// The command that ends with it; 0 where none does.
  var commandID: CommandID {
    switch self {
    case .loginFlows(let id), .registrationProbe(let id), .logIn(let id), .register(let id), .logOut(let id),
      .logOutEverywhere(let id),
      .page(_, _, let id, _), .forwardPage(_, let id, _), .context(_, let id), .date(_, let id),
      .members(_, let id), .createRoom(_, let id), .join(_, let id), .leave(_, let id), .forget(_, let id),
      .command(let id), .setProfile(_, _, let id), .uploadAvatar(_, let id), .pinnedEvents(_, _, _, let id),
      .unreadMark(_, _, let id), .removal(_, _, let id), .spaceChild(_, _, _, let id), .pushRule(let id),
      .inviteLink(_, let id), .encryptionWishes(_, let id), .directChatKeys(_, _, let id), .powerLevels(_, _, _, let id),
      .lastEvent(_, let id), .markedRead(_, let id):
      id
    default: 0
    }
  }
}

enum TimerPurpose: Sendable {
  case query(CommandID)
  case sync
  case outbox(RoomID)
  case typingFuse(RoomID)
  case receipt(RoomID)
  case drafts
  case draftSync
  case liveLocations
  case interruptedPages
  /// The next slice of the list that the server sent.
  case members(RoomID, CommandID)
}

indirect enum WritePurpose: Sendable {
  case session
  case sync
  case outbox(OutboxEntry.ID)
  case outboxEntries(RoomID, [OutboxEntry.ID])
  /// What was kept before the query goes out.
  case query(CommandID)
  case other
}

indirect enum LoadPurpose: Sendable {
  case account
  case inbox
  case people(RoomID)
  /// The newest segments, to count what is unread.
  case unread(RoomID)
  /// The same, to be told.
  case unreadEvidence(RoomID, CommandID)
  case timeline(RoomID)
  case event(EventSources.Key)
  case olderSegments(RoomID, OlderSegments)
  /// The oldest segments, to be dropped until the room keeps that many events.
  case oldestSegments(RoomID, keptEvents: Int)
}

extension Client {
  // MARK: Requests

  /// `query` begins with `?`.
  @inline(never) @discardableResult
  mutating func request(
    _ endpoint: Endpoint, _ path: String, query: String = "", body: [UInt8]? = nil, contentType: String? = nil,
    sendsToken: Bool? = nil, timeoutMilliseconds: Int64 = Limits.requestTimeoutMilliseconds, for purpose: RequestPurpose
  ) -> RequestID {
    // A JSON body is due with every POST and PUT, be it empty.
    let body = body ?? (endpoint.method == .post || endpoint.method == .put ? Array("{}".utf8) : nil)
    let request = HTTPRequest(
      method: endpoint.method, target: path + query, body: body,
      contentType: body == nil ? nil : contentType ?? "application/json",
      accessToken: nil, timeoutMilliseconds: timeoutMilliseconds)
    return send(
      PendingRequest(
        purpose: purpose, request: request, blob: nil, sendsToken: sendsToken ?? (endpoint.access != .anyone)))
  }

  /// Nothing of the file's name and type is told.
  mutating func uploadEncrypted(_ blob: BlobHandle, for purpose: RequestPurpose) -> RequestID {
    let request = HTTPRequest(
      method: Endpoint.uploadContent.method, target: Endpoint.uploadContent.path(), body: nil,
      contentType: "application/octet-stream", accessToken: nil, timeoutMilliseconds: Limits.uploadTimeoutMilliseconds)
    return send(PendingRequest(purpose: purpose, request: request, blob: blob, encryptsBlob: true, sendsToken: true))
  }

  mutating func upload(_ blob: BlobHandle, mimeType: ByteString?, fileName: ByteString, for purpose: RequestPurpose)
    -> RequestID
  {
    let query = URLQuery().adding("filename", fileName.isEmpty ? nil : fileName)
    return upload(
      blob, .uploadContent, Endpoint.uploadContent.path() + query.text, mimeType: mimeType, for: purpose)
  }

  mutating func upload(
    _ blob: BlobHandle, _ endpoint: Endpoint, _ target: String, mimeType: ByteString?, for purpose: RequestPurpose
  ) -> RequestID {
    let request = HTTPRequest(
      method: endpoint.method, target: target, body: nil,
      contentType: mimeType?.string ?? "application/octet-stream", accessToken: nil,
      timeoutMilliseconds: Limits.uploadTimeoutMilliseconds)
    return send(PendingRequest(purpose: purpose, request: request, blob: blob, sendsToken: true))
  }

  private mutating func send(_ request: PendingRequest) -> RequestID {
    let id = pending.nextID()
    pending.requests[id] = request
    send(id)
    return id
  }

  /// Sends a request, or keeps it until there is a token for it.
  mutating func send(_ id: RequestID) {
    guard var waiting = pending.requests[id] else { return }
    if waiting.sendsToken {
      refreshTokenIfDue()
      if refresh.isUnderWay, refresh.isTokenSpent { return refresh.held.append(id) }
      waiting.request.accessToken = session?.accessToken
      pending.requests[id] = waiting
    }
    if let blob = waiting.blob {
      emit(waiting.encryptsBlob ? .uploadEncrypted(id, waiting.request, blob) : .upload(id, waiting.request, blob))
    } else {
      emit(.request(id, waiting.request))
    }
  }

  mutating func cancelRequest(_ id: RequestID) {
    if pending.requests.removeValue(forKey: id) != nil { emit(.cancelRequest(id)) }
  }

  // MARK: Timers

  mutating func startTimer(_ milliseconds: Int64, _ purpose: TimerPurpose) -> TimerID {
    let id = pending.nextID()
    pending.timers[id] = purpose
    emit(.startTimer(id, milliseconds: milliseconds))
    return id
  }

  mutating func cancelTimer(_ id: inout TimerID?) {
    guard let timer = id else { return }
    id = nil
    if pending.timers.removeValue(forKey: timer) != nil { emit(.cancelTimer(timer)) }
  }

  mutating func timerFired(_ id: TimerID) {
    guard let purpose = pending.timers.removeValue(forKey: id) else { return }
    switch purpose {
    case .query(let id): sendQuery(id)
    case .sync:
      syncLoop.timer = nil
      startSync()
    case .outbox(let room): outboxTimerFired(room)
    case .typingFuse(let room): typingFuseBurned(room)
    case .receipt(let room): receiptTimerFired(room)
    case .drafts:
      drafts.timer = nil
      writeDrafts()
    case .draftSync: sendDrafts()
    case .liveLocations: liveLocationsExpired()
    case .interruptedPages:
      interruptedPages.timer = nil
      retryPages()
    case .members(let room, let command): takeMembers(room, command)
    }
  }

  // MARK: Store

  mutating func write(_ operations: [StoreOperation], _ purpose: WritePurpose = .other) {
    let id = pending.nextID()
    pending.writes[id] = purpose
    // Once a batch is lost, later ones would leave holes: the store stays as it was.
    if isStoreBroken { return written(id, false) }
    emit(.write(id, operations))
  }

  @discardableResult
  mutating func load(_ range: StoreRange, _ purpose: LoadPurpose) -> LoadID {
    let id = pending.nextID()
    pending.loads[id] = purpose
    emit(.load(id, range))
    return id
  }
}
