@_exported public import ClientCore
@_exported public import JSON
@_exported public import MatrixModel
import Encryption
import SearchIndex
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// An account on a Matrix homeserver.
///
///     let client = try await MatrixClient.logIn(to: "http://localhost:8008", user: "alice", password: "secret")
///     guard let room = await client.room(named: "Tea") else { return }
///     try await room.send("Hello")
///     for await message in await room.messages() { print(message.sender, message.text ?? "") }
///
/// `ClientCore.Client` makes all decisions. This actor carries out its effects: requests by a `Transport`, records by a `Store`,
/// timers as tasks. Only `stop` ends them.
public actor MatrixClient {
  private(set) var core: Client
  /// The URL of the homeserver, or the name that discovery uses.
  private let address: String?
  let transport: any Transport
  let store: any Store
  private let jobs: AsyncStream<StoreJob>.Continuation
  private var requests: [RequestID: Task<Void, Never>] = [:]
  private var timers: [TimerID: Task<Void, Never>] = [:]
  private var storeTask: Task<Void, Never>?
  private var startError: StoreError?
  private var commands: [CommandID: CheckedContinuation<CommandResult, Never>] = [:]
  private var queries: [CommandID: CheckedContinuation<QueryResult, Never>] = [:]
  private var queryProgress: [CommandID: @Sendable (_ sentBytes: Int64, _ totalBytes: Int64) -> Void] = [:]
  private var lastCommand: CommandID = 0
  private(set) var listeners: [Int: Listener] = [:]
  private var lastListener = 0
  // Room list
  var lastRoomList: RoomListID = 0
  // Media
  /// The cache of downloads. It is in memory only until `useMediaCache`.
  public internal(set) var mediaCache = MediaCache()
  // Models
  var mails: [Int: ModelMail] = [:]
  var lastMail = 0
  /// The number of models that show a timeline, and whether it was open before.
  var watchedTimelines: [TimelineKey: (count: Int, wasOpen: Bool)] = [:]
  var sendings = SendingLog()
  var knownExtensions: ServerExtensions?

  // Encryption
  let keepsDehydratedDevice: Bool
  /// nil without a session.
  var encryptionHost: EncryptionHost?
  /// Changes of the machine for the batch that the core writes next, and what waits for them.
  var held = EncryptionStep()
  var machineRequests: [CommandID: MachineRequest] = [:]
  var encryptionCommands: [UInt64: CheckedContinuation<EncryptionOutcome?, Never>] = [:]
  var lastEncryptionCommand: UInt64 = 0
  /// Completes what the server wants before it takes cross-signing keys.
  var identityAuthenticator: IdentityAuthenticator?
  var encryptionStatuses: [Int: AsyncStream<EncryptionStatus>.Continuation] = [:]
  var publishedStatus = EncryptionStatus()
  var encryptionEventWatchers: [Int: AsyncStream<EncryptionEvent>.Continuation] = [:]
  var verificationWatchers: [Int: AsyncStream<[KeyVerification]>.Continuation] = [:]
  var publishedVerifications: [Verification] = []
  var settleWaiters: [CheckedContinuation<Void, Never>] = []
  var lastStatusWatcher = 0
  /// Who waits for this device to be known at the server.
  var deviceWaiters: [CheckedContinuation<Void, Never>] = []
  /// Who waits for keys of rooms that are exported or imported.
  var keyTransfers: [UInt64: CheckedContinuation<KeyTransfer?, Never>] = [:]
  var lastKeyTransfer: UInt64 = 0
  /// Searches that wait for records to be decrypted.
  var storedLoads: [LoadID: CheckedContinuation<[StoreRecord], Never>] = [:]
  var lastStoredLoad = LoadID.max
  var wakeTimer: (at: Int64, task: Task<Void, Never>)?
  // Search
  var searchIndex = MessageIndex()
  var isIndexing = false
  /// Who waits for the next write of the index.
  var indexWaiters: [CheckedContinuation<Void, Never>] = []
  /// What effects have for the machine, once all of them are carried out.
  private var machineTurns: [MachineTurn] = []

  private enum MachineTurn: Sendable {
    case encrypt(SendID, UnencryptedMessage)
    case prepare(MessageReaders)
    case answered(CommandID, QueryResult)
  }

  private enum StoreJob: Sendable {
    case load(LoadID, StoreRange)
    /// Of the encryption machine.
    case loadRecords([ByteString])
    /// - step: what waits for it.
    case write(WriteID?, [StoreOperation], step: EncryptionStep)
    /// Of the search index.
    case writeIndex([StoreOperation], @Sendable (Bool) -> Void)
    case checkInbox
  }

  /// Opens the store and continues its session if there is one.
  /// - Parameters:
  ///   - homeserver: the URL, `https://host[:port][/path]`, or a server name or user ID for discovery. nil for the homeserver of the stored
  ///     session. A URL takes precedence over that of the stored session.
  ///   - syncMode: the kind of sync. It can differ from the mode that filled the store.
  ///   - encrypts: whether encrypted rooms are read and written, and new rooms encrypted as the server wishes. The keys are in the store: without it they are lost, and the device with them. A client
  ///     beside another one of the same session must not have keys of its own.
  ///   - keepsDehydratedDevice: whether a device without a client takes the keys of messages while the user is signed out everywhere. It is made with the
  ///     recovery key, replaced weekly, and read by the next client that recovers (`EncryptionStatus.dehydratedDevice`). MSC3814.
  /// - Throws: the error of a store that cannot be read; the client then does not overwrite it. `inUse` if another client has the store.
  public init(
    homeserver: String? = nil, store: any Store = MemoryStore(), transport: any Transport = standardTransport(),
    deviceDisplayName: String = "Martlet", syncMode: SyncMode = .automatic, encrypts: Bool = true,
    keepsDehydratedDevice: Bool = true
  ) async throws(StoreError) {
    try await store.begin()
    let url = homeserver.flatMap { ServerURL($0) }
    address = homeserver
    self.transport = transport
    self.store = store
    self.keepsDehydratedDevice = keepsDehydratedDevice
    core = Client(
      randomSeed: UInt64.random(in: 0 ... .max), deviceDisplayName: ByteString(deviceDisplayName), homeserver: url)
    core.sync(by: syncMode)
    // What waits in the outbox goes out as soon as the session is there: the machine begins with it.
    core.encrypts = encrypts
    core.encryptsFiles = encrypts
    core.encryptsNewChats = encrypts
    let (stream, continuation) = AsyncStream.makeStream(of: StoreJob.self)
    jobs = continuation
    storeTask = Task { [weak self] in
      for await job in stream {
        switch job {
        case .load(let id, let range):
          do throws(StoreError) {
            await self?.loaded(id, try await store.load(range))
          } catch {
            await self?.cannotLoad(id, error)
          }
        case .loadRecords(let prefixes):
          do throws(StoreError) {
            var records: [StoreRecord] = []
            for prefix in prefixes { records += try await store.load(StoreRange(prefix: prefix)) }
            await self?.loadedForMachine(records)
          } catch {
            // Without them it would take this for a new device.
            await self?.loseEncryption()
          }
        case .write(let id, let operations, let step):
          var isStored = true
          if !operations.isEmpty { isStored = (try? await store.write(operations)) != nil }
          await self?.written(id, isStored, step)
          if await store.hasForeignWrites() { await self?.handle(.inboxChanged) }
        case .writeIndex(let operations, let ended): ended((try? await store.write(operations)) != nil)
        case .checkInbox: if await store.hasForeignWrites() { await self?.handle(.inboxChanged) }
        }
      }
    }
    searchIndex.start((try? await store.load(MessageIndex.states)) ?? [])
    handle(.start)
    await wait { $0.sessionState != .loading }
    if let startError {
      await stop()
      throw startError
    }
  }

  /// An error at the start ends the client: a new start would overwrite the stored data.
  private func cannotLoad(_ id: LoadID, _ error: StoreError) {
    guard core.sessionState == .loading else { return handle(.loaded(id, [])) }
    startError = error
    for listener in listeners.values { listener.finish() }
  }

  private func loaded(_ id: LoadID, _ records: [StoreRecord]) {
    if !decrypts(records, id) { handle(.loaded(id, records)) }
  }

  private func written(_ id: WriteID?, _ isStored: Bool, _ step: EncryptionStep) {
    if !isStored { release(step, isStored: false) }
    if let id { handle(.written(id, isStored)) }
    if isStored { release(step, isStored: true) }
  }

  // MARK: State

  public var sessionState: SessionState { core.sessionState }
  public var userID: UserID? { core.session?.userID }
  /// Invited and joined rooms in the order of `ClientCore.Client.roomIDs`.
  public var rooms: [Room] { core.roomIDs.compactMap { core.room($0) } }
  /// Returns the current state of a room; nil if the client does not know it.
  public func state(of room: RoomID) -> Room? { core.room(room) }
  /// Returns a handle for a room. Its functions throw if the room does not exist.
  public nonisolated func room(_ id: RoomID) -> MatrixRoom { MatrixRoom(client: self, id: id) }
  /// Returns the first room with that name; nil if there is none.
  public func room(named name: String) -> MatrixRoom? {
    rooms.first { $0.name.english == ByteString(name) }.map { room($0.id) }
  }

  /// Shows replies in threads also in live timelines that are opened from now on.
  public func showThreadsInline() { core.showsThreadsInline = true }

  /// From now on nothing goes to encrypted rooms.
  func stopEncrypting() {
    core.encrypts = false
    core.encryptsNewChats = false
  }

  /// Makes the core report all arriving events, whether the room is open or not (`Change.arrived`).
  func reportArrivals() { core.reportsArrivals = true }

  /// Sets whether syncs include presence (`presences(of:)`). Off at the start. `SyncMode.automatic` depends on it.
  public func observePresence(_ isWanted: Bool) { handle(.presenceWanted(isWanted)) }

  // MARK: Doing

  /// Carries out a command and waits for its end. If the task is cancelled, the command ends with `cancelled`.
  @discardableResult
  public func perform(_ command: Command) async throws(ClientError) -> RoomID? {
    if case .room(let room) = try await result(of: command) { room } else { nil }
  }

  /// Like `perform`, but returns every outcome of the command except `failed`, which it throws.
  func result(of command: Command) async throws(ClientError) -> CommandResult {
    let id = try nextID()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        commands[id] = continuation
        handle(.command(command, id: id))
      }
    } onCancel: {
      Task { await self.handle(.cancel(id)) }
    }
    if case .failed(let error) = result { throw error }
    return result
  }

  /// All is decided and asked for in one turn of the actor, so that another call sees it: toggles are right only for what was looked at. The last one is
  /// waited for.
  func setReaction(_ key: ByteString?, to item: ItemID, in timeline: TimelineKey) async throws(ClientError) {
    guard let item = core.timeline(timeline)?.item(item) else { throw .unknownEvent }
    let own = item.reactions.filter(\.isOwn).map(\.key)
    var toggles = own.filter { $0 != key }
    if let key, !own.contains(key) { toggles.append(key) }
    guard let last = toggles.popLast() else { return }
    for other in toggles {
      handle(.command(.sending(.toggleReaction(timeline.room, .item(item.id), key: other)), id: try nextID()))
    }
    try await perform(.sending(.toggleReaction(timeline.room, .item(item.id), key: last)))
  }

  /// Sends a query and waits for the response. If the task is cancelled, request and query end with `cancelled`.
  /// - Parameter progress: receives the progress of the file that is sent, in order.
  public func perform<Answer>(
    _ query: Query<Answer>, progress: (@Sendable (_ sentBytes: Int64, _ totalBytes: Int64) -> Void)? = nil
  ) async throws(ClientError) -> Answer {
    try await findHomeserver()
    let id = try nextID()
    queryProgress[id] = progress
    defer { queryProgress[id] = nil }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        queries[id] = continuation
        handle(.query(query.request, id: id))
      }
    } onCancel: {
      Task { await self.handle(.cancel(id)) }
    }
    return try query.answer(result)
  }

  func nextID() throws(ClientError) -> CommandID {
    guard !isStopped else { throw .cancelled }
    lastCommand += 1
    return lastCommand
  }

  /// Puts a text into the outbox. The client sends texts in order. If the store is a file, it does so even after a restart.
  @discardableResult
  public func send(_ text: String, to room: RoomID) async throws(ClientError) -> Sending {
    try await send(.text(ByteString(text)), to: room)
  }

  /// Looks for messages from other processes (`StoreGuest`). The client also does so after each sync.
  public func checkInbox() { jobs.yield(.checkInbox) }

  // MARK: Listening

  /// Returns a stream of every change from now on. It ends with `stop`, or when nothing holds it any more.
  public func changes() -> AsyncStream<Change> { observe { change, _ in change } }

  /// Passes each change to `take` until the observer is removed.
  func listen(_ listener: Listener) -> Int {
    lastListener += 1
    if isStopped { listener.finish() } else { listeners[lastListener] = listener }
    return lastListener
  }

  func removeListener(_ id: Int) { listeners.removeValue(forKey: id)?.finish() }

  /// Ends every request, timer and stream, and closes the store after all writes. The session stays in the store.
  public func stop() async {
    for task in requests.values { task.cancel() }
    for task in timers.values { task.cancel() }
    wakeTimer?.task.cancel()
    stopWaitingForDevice()
    endEncryptionCommands()
    for status in encryptionStatuses.values { status.finish() }
    encryptionStatuses = [:]
    for watcher in encryptionEventWatchers.values { watcher.finish() }
    encryptionEventWatchers = [:]
    for watcher in verificationWatchers.values { watcher.finish() }
    verificationWatchers = [:]
    endKeyTransfers()
    for id in storedLoads.keys { endStoredLoad(id, []) }
    requests = [:]
    timers = [:]
    jobs.finish()
    for listener in listeners.values { listener.finish() }
    listeners = [:]
    for mail in mails.values { mail.close() }
    mails = [:]
    for command in commands.values { command.resume(returning: .failed(.cancelled)) }
    commands = [:]
    for query in queries.values { query.resume(returning: .failed(.cancelled)) }
    queries = [:]
    isStopped = true
    resumeIndexWaiters()
    await storeTask?.value
    await store.close()
  }

  private(set) var isStopped = false

  private static let clockError = Atomic<Int64>(0)

  /// Makes the clock of all clients of the process so many milliseconds fast. For tests.
  package static func setClockError(_ milliseconds: Int64) { clockError.store(milliseconds, ordering: .relaxed) }

  /// Milliseconds since 1970.
  static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000 + clockError.load(ordering: .relaxed)
  }

  // MARK: Effects

  func handle(_ input: Input) {
    guard !isStopped else { return }
    for effect in core.handle(input, now: MatrixClient.now()) { carryOut(effect) }
    followSession()
    while !machineTurns.isEmpty {
      switch machineTurns.removeFirst() {
      case .encrypt(let id, let message): encrypt(message, id)
      case .prepare(let readers): prepare(readers)
      case .answered(let id, let result): answerMachine(id, result)
      }
    }
  }

  private func carryOut(_ effect: Effect) {
    switch effect {
    case .request(let id, let request): start(id, Exchange(request, to: baseURL))
    case .upload(let id, let request, let blob):
      var exchange = Exchange(request, to: baseURL)
      exchange.body = .file(path: blob.name.string)
      startUpload(id, exchange)
    case .uploadEncrypted(let id, let request, let blob):
      var exchange = Exchange(request, to: baseURL)
      let encrypter = FileEncrypter()
      exchange.body = .encryptedFile(path: blob.name.string, encrypter)
      startUpload(id, exchange, encrypter)
    case .cancelRequest(let id): requests.removeValue(forKey: id)?.cancel()
    case .startTimer(let id, let milliseconds):
      timers[id] = Task {
        try? await Task.sleep(for: .milliseconds(milliseconds))
        if !Task.isCancelled, timers.removeValue(forKey: id) != nil { handle(.timerFired(id)) }
      }
    case .cancelTimer(let id): timers.removeValue(forKey: id)?.cancel()
    case .load(let id, let range): jobs.yield(.load(id, range))
    case .write(let id, let operations): flush(with: id, operations)
    case .encrypt(let id, let message): machineTurns.append(.encrypt(id, message))
    case .prepareEncryption(let readers): machineTurns.append(.prepare(readers))
    case .releaseBlob: break
    case .change(let change): publish(change)
    case .queryEnded(let id, let result):
      if machineRequests[id] != nil { machineTurns.append(.answered(id, result)) }
      queries.removeValue(forKey: id)?.resume(returning: result)
    case .queryProgress(let id, let sent, let total): queryProgress[id]?(sent, total)
    }
  }

  /// One batch with what the machine has to keep.
  func flush(with id: WriteID? = nil, _ operations: [StoreOperation] = []) {
    let isNeeded =
      !held.changes.isEmpty || !held.later.isEmpty || !held.keyTransfers.isEmpty || !held.requests.isEmpty
      || !held.histories.isEmpty
    guard id != nil || isNeeded else { return }
    let step = held
    held = EncryptionStep()
    let followed = searchIndex.follow(operations)
    jobs.yield(.write(id, step.changes.map { StoreOperation($0) } + operations + followed, step: step))
    if !followed.isEmpty { workOnIndex() }
  }

  /// - Parameter ended: told whether it is stored.
  func queueWrite(_ operations: [StoreOperation], _ ended: @escaping @Sendable (Bool) -> Void) {
    jobs.yield(.writeIndex(operations, ended))
  }

  func queueLoad(of prefixes: [ByteString]) { jobs.yield(.loadRecords(prefixes)) }

  /// The URL of the homeserver; empty until discovery has found it.
  var baseURL: String { (core.homeserver ?? core.session?.homeserver)?.string ?? "" }

  /// Finds the homeserver by its name, before the first login.
  func findHomeserver() async throws(ClientError) {
    guard core.homeserver == nil, core.session?.homeserver == nil, !isStopped else { return }
    try await useHomeserver(at: address ?? "")
  }

  func useHomeserver(at address: String) async throws(ClientError) {
    core.homeserver = ServerURL(try await Homeserver.url(of: address, transport: transport))
  }

  private func start(_ id: RequestID, _ exchange: Exchange) {
    requests[id] = Task { [transport] in
      let response = await transport.carry(exchange)
      guard requests.removeValue(forKey: id) != nil else { return }
      if !decrypts(response, to: exchange.request, id) { handle(.response(id, response)) }
    }
  }

  /// Reports progress in order and before the end of the request. Skips progress that a newer one has overtaken.
  private func startUpload(_ id: RequestID, _ exchange: Exchange, _ encrypter: FileEncrypter? = nil) {
    let (progress, continuation) = AsyncStream.makeStream(of: TransferProgress.self, bufferingPolicy: .bufferingNewest(1))
    var exchange = exchange
    exchange.progress = { continuation.yield($0) }
    requests[id] = Task { [transport, exchange] in
      async let response = {
        defer { continuation.finish() }
        return await transport.carry(exchange)
      }()
      for await step in progress where requests[id] != nil {
        handle(.uploadProgress(id, sentBytes: step.sentBytes, totalBytes: step.bytesToSend))
      }
      let end = await response
      guard requests.removeValue(forKey: id) != nil else { return }
      if let keys = encrypter?.keys { handle(.fileEncrypted(id, keys)) }
      handle(.response(id, end))
    }
  }

  private func publish(_ change: Change) {
    if case .commandFinished(let id, let result) = change {
      commands.removeValue(forKey: id)?.resume(returning: result)
    }
    if case .sending(_, let id, let progress) = change { sendings.note(id, progress) }
    if case .room(let id, let aspects) = change, aspects.contains(.membership) { forgetLeft(id) }
    for listener in listeners.values { listener.take(change, self) }
    for id in mails.keys { mails[id]?.take(change) }
  }
}
