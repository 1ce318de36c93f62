@_exported public import ClientCore
import Glibc
import JSON
public import MatrixModel

/// An account on a Matrix homeserver.
///
///     let client = try await MatrixClient.logIn(to: "http://localhost:8008", user: "alice", password: "secret")
///     guard let room = await client.room(named: "Tea") else { return }
///     try await client.send("Hello", to: room.id)
///     for await message in await client.messages(in: room.id) { print(message.sender, message.content) }
///
/// All work happens in `ClientCore.Client`; this actor carries out its effects: requests by a `Transport`, records by a `Store`,
/// timers as tasks. `stop` ends them; nothing else does.
public actor MatrixClient {
  private var core: Client
  private let homeserver: String
  private let transport: any Transport
  private let jobs: AsyncStream<StoreJob>.Continuation
  private var requests: [RequestID: Task<Void, Never>] = [:]
  private var timers: [TimerID: Task<Void, Never>] = [:]
  private var storeTask: Task<Void, Never>?
  private var commands: [CommandID: CheckedContinuation<CommandResult, Never>] = [:]
  private var lastCommand: CommandID = 0
  private var listeners: [Int: AsyncStream<Change>.Continuation] = [:]
  private var lastListener = 0

  private enum StoreJob: Sendable {
    case load(LoadID, ByteString)
    case write(WriteID, [StoreOperation])
  }

  /// Opens the store and goes on with the session it holds, if any.
  /// - Parameter homeserver: `https://host[:port]`.
  public init(
    homeserver: String, store: any Store = MemoryStore(), transport: any Transport = CurlTransport(),
    deviceDisplayName: String = "Martlet"
  ) async {
    self.homeserver = homeserver.hasSuffix("/") ? String(homeserver.dropLast()) : homeserver
    self.transport = transport
    core = Client(randomSeed: UInt64.random(in: 0 ... .max), deviceDisplayName: ByteString(deviceDisplayName))
    let (stream, continuation) = AsyncStream.makeStream(of: StoreJob.self)
    jobs = continuation
    storeTask = Task { [weak self] in
      for await job in stream {
        switch job {
        case .load(let id, let prefix):
          let records = await store.load(prefix: prefix)
          await self?.handle(.loaded(id, records))
        case .write(let id, let operations):
          let isStored = await store.write(operations)
          await self?.handle(.written(id, isStored))
        }
      }
    }
    handle(.start)
    await wait { $0.sessionState != .loading }
  }

  /// Logs in and waits for the first sync.
  public static func logIn(
    to homeserver: String, user: String, password: String, store: any Store = MemoryStore(),
    transport: any Transport = CurlTransport()
  ) async throws(ClientError) -> MatrixClient {
    let client = await MatrixClient(homeserver: homeserver, store: store, transport: transport)
    if await client.sessionState != .signedIn {
      try await client.perform(.logIn(user: ByteString(user), password: ByteString(password)))
    }
    await client.firstSync()
    return client
  }

  // MARK: State

  public var sessionState: SessionState { core.sessionState }
  public var userID: UserID? { core.session?.userID }
  /// Invited and joined rooms in the order of `ClientCore.Client.roomIDs`.
  public var rooms: [Room] { core.roomIDs.compactMap { core.room($0) } }
  public func room(_ id: RoomID) -> Room? { core.room(id) }
  /// The first room of that name.
  public func room(named name: String) -> Room? { rooms.first { $0.name.english == ByteString(name) } }

  // MARK: Doing

  /// Carries out a command and waits for its end.
  @discardableResult
  public func perform(_ command: Command) async throws(ClientError) -> RoomID? {
    lastCommand += 1
    let id = lastCommand
    let result = await withCheckedContinuation { continuation in
      commands[id] = continuation
      handle(.command(command, id: id))
    }
    switch result {
    case .done, .queued: return nil
    case .room(let room): return room
    case .failed(let error): throw error
    }
  }

  /// Puts a text into the outbox; it goes out in order, also after a restart where the store is a file.
  public func send(_ text: String, to room: RoomID) async throws(ClientError) {
    try await perform(.send(room, .text(ByteString(text))))
  }

  // MARK: Listening

  /// Every change from now on. Ends with `stop`.
  public func changes() -> AsyncStream<Change> {
    let (stream, continuation) = AsyncStream.makeStream(of: Change.self)
    lastListener += 1
    let id = lastListener
    listeners[id] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.removeListener(id) } }
    return stream
  }

  /// Messages that come into a room from now on, own ones included. Opens the room.
  public func messages(in room: RoomID) async -> AsyncStream<TimelineItem> {
    let changes = changes()
    handle(.command(.openRoom(room), id: 0))
    await wait { $0.room(room).map { $0.timeline.loadState == .loaded } ?? true }
    var known = Set((core.room(room)?.timeline.items ?? []).compactMap { $0.eventID })
    let (stream, continuation) = AsyncStream.makeStream(of: TimelineItem.self)
    let task = Task {
      for await case .timeline(room, let steps) in changes {
        for item in steps.flatMap(MatrixClient.newItems) {
          guard case .message = item.content, case .received = item.delivery, let event = item.eventID else { continue }
          if known.insert(event).inserted { continuation.yield(item) }
        }
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  private static func newItems(_ step: TimelineChange) -> [TimelineItem] {
    switch step {
    case .inserted(_, let items): items
    case .updated(_, let item): [item]
    case .removed, .reset: []
    }
  }

  /// Ends every request, timer and stream. The session stays in the store.
  public func stop() {
    for task in requests.values { task.cancel() }
    for task in timers.values { task.cancel() }
    requests = [:]
    timers = [:]
    jobs.finish()
    for listener in listeners.values { listener.finish() }
    listeners = [:]
    for command in commands.values { command.resume(returning: .failed(.network)) }
    commands = [:]
    isStopped = true
  }

  private var isStopped = false

  private func removeListener(_ id: Int) { listeners[id] = nil }

  private func firstSync() async {
    await wait { client in
      if case .running = client.connection { return true }
      return client.sessionState != .signedIn
    }
  }

  /// Until the state is so, looking at it after every change.
  private func wait(until isSo: (Client) -> Bool) async {
    if isSo(core) { return }
    for await _ in changes() where isSo(core) { return }
  }

  /// Milliseconds since 1970.
  private static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  // MARK: Effects

  private func handle(_ input: Input) {
    guard !isStopped else { return }
    for effect in core.handle(input, now: MatrixClient.now()) { carryOut(effect) }
  }

  private func carryOut(_ effect: Effect) {
    switch effect {
    case .request(let id, let request): start(id, request, body: request.body)
    case .upload(let id, let request, let blob):
      guard let bytes = FileBytes.read(blob.name.string) else {
        Task { handle(.response(id, .blobIsGone)) }
        return
      }
      start(id, request, body: bytes)
    case .cancelRequest(let id): requests.removeValue(forKey: id)?.cancel()
    case .startTimer(let id, let milliseconds):
      timers[id] = Task {
        try? await Task.sleep(for: .milliseconds(milliseconds))
        if !Task.isCancelled, timers.removeValue(forKey: id) != nil { handle(.timerFired(id)) }
      }
    case .cancelTimer(let id): timers.removeValue(forKey: id)?.cancel()
    case .load(let id, let prefix): jobs.yield(.load(id, prefix))
    case .write(let id, let operations): jobs.yield(.write(id, operations))
    case .releaseBlob: break
    case .change(let change): publish(change)
    }
  }

  private func start(_ id: RequestID, _ request: HTTPRequest, body: [UInt8]?) {
    requests[id] = Task { [transport, homeserver] in
      let response = await transport.send(request, body: body, to: homeserver)
      if requests.removeValue(forKey: id) != nil { handle(.response(id, response)) }
    }
  }

  private func publish(_ change: Change) {
    if case .commandFinished(let id, let result) = change {
      commands.removeValue(forKey: id)?.resume(returning: result)
    }
    for listener in listeners.values { listener.yield(change) }
  }
}
