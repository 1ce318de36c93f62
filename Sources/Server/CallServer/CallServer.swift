import EventLoop
import Homeserver
import HTTPServer
import JSON
import MatrixModel
import MediaRouter
import Telemetry

/// The live sessions, the sockets of those who are in them, and the worker that their media goes through.
///
/// What happens in a session is `SessionBrain`'s affair; this is all that is not: sockets, time, the database, the worker.
package actor CallServer {
  struct LiveSession {
    var brain: SessionBrain
    let session: CallSessions.Session
  }

  package nonisolated let projects: CallProjects
  package nonisolated let sessions: CallSessions
  nonisolated let clock: WallClock
  nonisolated let log: Log
  private nonisolated let configuration: CallConfiguration
  private nonisolated let worker: MediaWorker
  private nonisolated let events: AsyncStream<[RouterEvent]>
  private nonisolated let eventInput: AsyncStream<[RouterEvent]>.Continuation

  var live: [SessionID: LiveSession] = [:]
  var lines: [SocketID: SocketLine] = [:]
  /// Whose message comes on which socket.
  var sessionOfSocket: [SocketID: SessionID] = [:]
  var connectRates = RateTable<UInt64>(CallLimits.connectRate)
  var restRates = RateTable<ProjectID>(CallLimits.restRate)
  /// Of the sessions that have one.
  private var deadlines: [SessionID: Int64] = [:]
  private var sessionOfNumber: [UInt32: SessionID] = [:]
  private var lastNumber: UInt32 = 0
  private var lastSocket: UInt64 = 0
  private var eventTask: Task<Void, Never>?
  private var alarm: (deadline: Int64, task: Task<Void, Never>)?
  private var isStopping = false

  /// Binds the UDP port. Throws `MediaWorkerError`.
  package init(
    _ configuration: CallConfiguration, projects: CallProjects, sessions: CallSessions, clock: WallClock = .system, log: Log
  ) throws {
    self.configuration = configuration
    self.projects = projects
    self.sessions = sessions
    self.clock = clock
    self.log = log
    (events, eventInput) = AsyncStream.makeStream(of: [RouterEvent].self)
    worker = try MediaWorker(DTLSIdentity(), address: configuration.address) { [eventInput] events in eventInput.yield(events) }
  }

  /// Where media arrives.
  package nonisolated var address: TransportAddress { worker.address }

  /// Starts the worker. Throws `MediaWorkerError`.
  package func start() throws {
    try worker.start()
    eventTask = Task { [weak self, events] in
      for await batch in events { await self?.handle(batch) }
    }
  }

  /// Tells everyone to come back later, and lets go of the port.
  package func shutdown() async {
    isStopping = true
    for id in Array(live.keys) {
      run(id) { brain, _ in brain.endAll(CallRefusal(.shuttingDown, "The server is stopping.")) }
    }
    alarm?.task.cancel()
    eventInput.finish()
    await worker.stop()
    await eventTask?.value
  }

  /// For `/metrics`.
  package var counts: (sessions: Int, connections: Int, streams: Int) {
    live.values.reduce((live.count, 0, 0)) { ($0.0, $0.1 + $1.brain.connectionCount, $0.2 + $1.brain.streamCount) }
  }

  var now: CallMoment {
    CallMoment(monotonic: Int64(clamping: EventLoop.nowNanoseconds / 1_000_000), wall: clock.now())
  }

  func newSocket() -> SocketID {
    lastSocket += 1
    return SocketID(lastSocket)
  }

  // MARK: Sessions

  /// Does something in a session that is live, and what follows from it; nil where it is not live.
  @discardableResult
  func run<Value, Failure: Error>(
    _ id: SessionID, _ body: (inout SessionBrain, CallMoment) throws(Failure) -> Value
  ) throws(Failure) -> Value? {
    guard live[id] != nil else { return nil }
    let result = Result { () throws(Failure) in try body(&live[id]!.brain, now) }
    perform(live[id]!.brain.takeEffects())
    deadlines[id] = live[id]!.brain.deadline
    if live[id]!.brain.isEmpty {
      sessionOfNumber[live[id]!.brain.number] = nil
      live[id] = nil
    }
    setAlarm()
    return try result.get()
  }

  /// Makes a session live that may be.
  func wake(_ session: CallSessions.Session) throws(CallRefusal) {
    guard !isStopping else { throw CallRefusal(.shuttingDown, "The server is stopping.") }
    guard live[session.id] == nil else { return }
    lastNumber &+= 1
    sessionOfNumber[lastNumber] = session.id
    let media = SessionBrain.Media(
      fingerprint: worker.fingerprint, candidates: worker.candidates(announced: configuration.announced))
    live[session.id] = LiveSession(
      brain: SessionBrain(session.id, isRouted: session.isRouted, number: lastNumber, media: media, now: now), session: session)
  }

  var iceServers: [SessionBrain.ICEServer] {
    guard let turn = configuration.turn else { return [] }
    let (name, password) = turn.credentials(for: "call", now: clock.now())
    return [SessionBrain.ICEServer(urls: turn.uris, username: name, credential: password)]
  }

  /// Ends the live sessions of a project whose key was taken away.
  package func end(_ project: ProjectID) {
    for id in live.filter({ $0.value.session.project == project }).map(\.key) {
      run(id) { brain, _ in brain.endAll(CallRefusal(.ended, "The session is over.")) }
    }
  }

  private func perform(_ effects: [SessionBrain.Effect]) {
    for effect in effects {
      switch effect {
      case .send(let message, let socket): lines[socket]?.send(message)
      case .close(let socket):
        lines[socket]?.close()
        sessionOfSocket[socket] = nil
      case .router(let commands): worker.submit(commands)
      }
    }
  }

  private func handle(_ batch: [RouterEvent]) {
    for event in batch {
      guard let number = event.sessionNumber, let id = sessionOfNumber[number] else { continue }
      run(id) { brain, _ in brain.handle(event) }
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
    for id in Array(deadlines.keys) { run(id) { brain, now in brain.advance(to: now) } }
    setAlarm()
  }
}
