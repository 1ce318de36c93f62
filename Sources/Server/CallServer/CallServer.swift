import EventLoop
import HTTPServer
import Homeserver
import HomeserverAPI
import JSON
import MatrixModel
import MediaRouter
import ServerAccounts
import ServerCore
import ServerRooms
import Telemetry

/// The live sessions, the sockets of those who are in them, and the workers that their media goes through.
///
/// What happens in a session is `SessionLogic`'s affair; this is all that is not: sockets, time, the database, the workers.
///
/// What is a recording in the code is an archive to OpenTok: its REST API, its clients and the database call it that.
package actor CallServer {
  struct LiveSession {
    var state: SessionLogic
    let session: CallSessions.Session
    /// Of the newest time that this node has taken the session.
    var fence: Int64
  }

  package nonisolated let projects: CallProjects
  package nonisolated let sessions: CallSessions
  /// Whose members may be in their calls.
  nonisolated let homeserver: Homeserver
  nonisolated var rooms: Rooms { homeserver.rooms }
  nonisolated let clock: WallClock
  nonisolated let configuration: CallConfiguration
  /// Figures for metrics, readable from any thread.
  package nonisolated let census = CallCensus()
  package nonisolated let workers: MediaWorkers
  nonisolated let recordings: Recordings
  nonisolated let callbacks: Callbacks
  /// nil where there are no other nodes.
  nonisolated let links: NodeLinks?
  nonisolated let forwarding: Forwarding
  /// Keys of connections say which node has them.
  nonisolated let names: NodeNames
  private nonisolated let late = LateWorkers()
  private nonisolated let log = Log("calls")
  private nonisolated let changes: CallChanges
  private nonisolated let events: AsyncStream<[RouterEvent]>
  private nonisolated let eventInput: AsyncStream<[RouterEvent]>.Continuation

  var live: [SessionID: LiveSession] = [:]
  var lines: [SocketID: SocketLine] = [:]
  /// Whose message comes on which socket.
  var sessionOfSocket: [SocketID: SessionID] = [:]
  var connectRates = RateTable<UInt64>(CallLimits.connectRate)
  var restRates = RateTable<ProjectID>(CallLimits.restRate)
  /// Reads what clients say.
  nonisolated let reader: MessageReader
  /// Of the sessions that have one.
  private var deadlines: [SessionID: Int64] = [:]
  private var sessionOfNumber: [UInt32: SessionID] = [:]
  private var lastNumber: UInt32 = 0
  private var loads: WorkerLoads
  private var lastSocket: UInt64 = 0
  private var eventTask: Task<Void, Never>?
  private var changeTask: Task<Void, Never>?
  private var removalTask: Task<Void, Never>?
  private var recordingTask: Task<Void, Never>?
  /// Composed files that are being made, or wait for it.
  var compositions: [RecordingID: Task<Void, Never>] = [:]
  private var housekeeping: Task<Void, Never>?
  private var leaseWatch: Task<Void, Never>?
  /// All sessions are being ended.
  private(set) var isEnding = false
  private var alarm: (deadline: Int64, task: Task<Void, Never>)?
  /// The server is about to stop.
  private(set) var isDraining = false

  /// Binds the UDP ports. Throws `MediaWorkerError`.
  ///
  /// - Parameter changes: the follower of `homeserver`.
  package init(
    _ configuration: CallConfiguration, projects: CallProjects, for homeserver: Homeserver, following changes: CallChanges
  ) throws {
    self.configuration = configuration
    self.projects = projects
    clock = homeserver.configuration.clock
    sessions = CallSessions(database: homeserver.database, clock: clock)
    self.homeserver = homeserver
    self.changes = changes
    reader = try MessageReader()
    links = homeserver.database.isNode ? try NodeLinks(homeserver.database) : nil
    forwarding = Forwarding(homeserver.database, homeserver.http)
    names = NodeNames(homeserver.database)
    callbacks = Callbacks(homeserver.http, clock: clock) { projects.callback(of: $0) }
    (events, eventInput) = AsyncStream.makeStream(of: [RouterEvent].self)
    loads = WorkerLoads(workers: configuration.workers)
    // The recordings want key frames of the workers, which give them their media.
    let recordings = try Recordings(homeserver, quotaBytes: configuration.recordingsQuotaBytes, projects: projects) { [late] in
      late.refresh($0)
    }
    self.recordings = recordings
    workers = try MediaWorkers(
      configuration.workers, address: configuration.address, takesStreams: configuration.takesStreams,
      onTapped: { recordings.thread.submit($0) },
      onEvents: { [eventInput] events in eventInput.yield(events) })
    late.workers.withLock { [workers] in $0 = workers }
  }

  /// Brings what a killed server recorded to an end, and starts the workers. Throws `MediaWorkerError`, and what reading the recordings throws.
  package func start() async throws {
    try await recordings.start()
    recordingTask = Task { [weak self, recordings] in
      for await summary in recordings.summaries { await self?.finish(summary) }
    }
    try workers.start()
    changeTask = Task { [weak self, changes] in
      for await change in changes.stream { await self?.follow(change) }
    }
    removalTask = Task { [weak self, projects] in
      for await project in projects.removed { await self?.endSessions(of: project) }
    }
    eventTask = Task { [weak self, events] in
      for await batch in events { await self?.handle(batch) }
    }
    if homeserver.database.isNode { leaseWatch = Task { [weak self] in await self?.watchLease() } }
    housekeeping = Task { [weak self] in
      while !Task.isCancelled {
        await self?.removeUnused()
        do { try await Task.sleep(for: .milliseconds(CallLimits.sessionUseMilliseconds)) } catch { return }
      }
    }
  }

  /// Takes no new sessions from now on: whoever asks for one is to come back, and finds another node.
  package func drain() { isDraining = true }

  /// Tells everyone to come back later, and lets go of the ports.
  package func shutdown() async {
    drain()
    endAll(Self.isStopping)
    // Whoever comes back at another node is let in there at once.
    try? await homeserver.database.letAllGo()
    await links?.shutdown()
    leaseWatch?.cancel()
    alarm?.task.cancel()
    housekeeping?.cancel()
    eventInput.finish()
    changes.finish()
    await changeTask?.value
    removalTask?.cancel()
    await workers.stop()
    await eventTask?.value
    await recordings.shutdown()
    await recordingTask?.value
    await recordings.composer.shutdown()
    for task in compositions.values { await task.value }
    await recordings.close()
    await callbacks.shutdown()
    await reader.shutdown()
    late.workers.withLock { $0 = nil }
  }

  nonisolated var now: CallTime {
    CallTime(monotonic: Int64(clamping: EventLoop.nowNanoseconds / 1_000_000), wall: clock.now())
  }

  func newSocket() -> SocketID {
    lastSocket += 1
    return SocketID(lastSocket)
  }

  // MARK: Sessions

  /// Does something in a session that is live, and what follows from it; nil where it is not live.
  @discardableResult
  func run<Value, Failure: Error>(
    _ id: SessionID, _ body: (inout SessionLogic, CallTime) throws(Failure) -> Value
  ) throws(Failure) -> Value? {
    endWithoutLease()
    guard live[id] != nil else { return nil }
    live[id]!.state.workers.loads = loads.transports
    let result = Result { () throws(Failure) in try body(&live[id]!.state, now) }
    perform(live[id]!.state.takeEffects(), of: id)
    deadlines[id] = live[id]!.state.deadline
    if live[id]!.state.isEmpty {
      sessionOfNumber[live[id]!.state.number] = nil
      loads.leave(home: live[id]!.state.workers.home)
      letGo(id, fence: live[id]!.fence)
      live[id] = nil
    }
    setAlarm()
    census.sessions.store(live.count, ordering: .relaxed)
    return try result.get()
  }

  /// Makes a session live that may be.
  ///
  /// - Parameter fence: of `hold`.
  func wake(_ session: CallSessions.Session, fence: Int64) throws(CallRefusal) {
    guard homeserver.database.mayHold else { throw Self.hasNoLease }
    guard live[session.id] == nil else {
      live[session.id]!.fence = max(live[session.id]!.fence, fence)
      return
    }
    guard !isDraining else { throw Self.isStopping }
    lastNumber &+= 1
    sessionOfNumber[lastNumber] = session.id
    live[session.id] = LiveSession(
      state: SessionLogic(
        session.id, isRouted: session.isRouted, isAlwaysRecorded: session.isAlwaysRecorded, number: lastNumber,
        workers: sessionWorkers(),
        now: now, keyMark: names.marked("")),
      session: session, fence: fence)
  }

  private func sessionWorkers() -> SessionWorkers {
    let media = workers.ids.map { id in
      let worker = workers[id]
      // A machine without any address still has the one that was asked for.
      let candidates = worker.candidates(announced: configuration.announced)
      return SessionWorkers.Media(
        fingerprint: worker.fingerprint, candidates: candidates.isEmpty ? [worker.address] : candidates)
    }
    return SessionWorkers(media, home: loads.takeHome(), homeLimit: configuration.homeTransports)
  }

  /// Returns credentials for the token's holder, because the relay's quotas apply per holder.
  func iceServers(for token: ConnectionToken) -> [SessionLogic.ICEServer] {
    guard let turn = configuration.turn else { return [] }
    let (name, password) = turn.credentials(for: token.holder, now: clock.now())
    return [SessionLogic.ICEServer(urls: turn.uris, username: name, credential: password)]
  }

  /// Ends all sessions.
  func endAll(_ reason: CallRefusal) {
    isEnding = true
    for id in Array(live.keys) { run(id) { state, _ in state.endAll(reason) } }
    isEnding = false
  }

  /// Ends the live sessions of a project whose key was taken away, and deletes what they recorded. Other nodes end theirs when they hear of it.
  package func end(_ project: ProjectID) async {
    endSessions(of: project)
    await deleteRecordings(of: project)
  }

  private func endSessions(of project: ProjectID) {
    for id in live.filter({ $0.value.session.project == project }).map(\.key) {
      run(id) { state, _ in state.endAll(CallRefusal(.ended, "The session is over.")) }
    }
  }

  private func perform(_ effects: [SessionLogic.Effect], of id: SessionID) {
    for effect in effects {
      switch effect {
      case .send(let message, let socket): lines[socket]?.send(message)
      case .close(let socket):
        lines[socket]?.close()
        sessionOfSocket[socket] = nil
      case .router(let commands, let worker):
        loads.note(commands, on: worker)
        workers[worker].submit(commands)
      case .recording(let command): recordings.thread.submit(command)
      case .wantsRecording(let request): take(request, in: id)
      case .happened(let event): tell(event, of: id)
      }
    }
  }

  private func tell(_ event: SessionEvent, of id: SessionID) {
    guard let project = live[id]?.session.project, callbacks.wants(project) else { return }
    callbacks.post(event.body(of: id, of: project, at: clock.now()), for: project)
  }

  /// Sessions that nobody uses, and rows of recordings that recorded nothing. Sessions with somebody in them are in use.
  private func removeUnused() async {
    do {
      try await recordings.removeFailed(now: clock.now())
      for id in live.keys { _ = try await sessions.session(id) }
      try await sessions.removeUnused()
    } catch {
      log.error("what is unused was not removed", ["error": .text("\(error)")])
    }
  }

  private func handle(_ batch: [RouterEvent]) {
    for event in batch {
      loads.note(event)
      guard let number = event.sessionNumber, let id = sessionOfNumber[number] else { continue }
      run(id) { state, _ in state.handle(event) }
    }
  }

  // MARK: Time

  /// Wakes for the earliest deadline.
  private func setAlarm() {
    guard let deadline = deadlines.values.min() else {
      alarm?.task.cancel()
      alarm = nil
      return
    }
    if let alarm, alarm.deadline <= deadline { return }
    alarm?.task.cancel()
    let wait = max(0, deadline - now.monotonic) + 1
    let task = Task { [weak self] in
      do { try await Task.sleep(for: .milliseconds(wait)) } catch { return }
      await self?.ring()
    }
    alarm = (deadline, task)
  }

  private func ring() {
    alarm = nil
    for id in Array(deadlines.keys) { run(id) { state, now in state.advance(to: now) } }
    setAlarm()
  }
}
