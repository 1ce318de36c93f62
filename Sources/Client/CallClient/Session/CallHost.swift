import CallCore
import JSON

/// A session of calls on this machine: carries out what `CallSession` says, by a socket, a timer, sources and the media engine.
actor CallHost {
  /// That a listener may be behind.
  static let eventsLimit = 4_096

  private(set) var session: CallSession
  nonisolated let sinks = SinkTable()
  private let address: SocketAddress
  private let sessionID: ByteString
  private let token: CallToken
  private let engine: any MediaEngine
  private nonisolated let inputs: AsyncStream<SessionInput>.Continuation
  private var callEvents = CallEvents()
  private var socket: CallSocket?
  private var timer: Task<Void, Never>?
  private var feeds: [SourceID: SourceFeed] = [:]
  private var lastSource: SourceID = 0
  private var captureError: CallError?
  private var waiting: [CommandID: CheckedContinuation<CallError?, Never>] = [:]
  private var lastCommand: CommandID = 0
  private var listeners: [AsyncStream<CallEvent>.Continuation] = []
  /// What goes on after the end: the last words on sockets, peer connections that close.
  private var closing: Task<Void, Never>?
  private var lastSocket: CallSocket?

  init(address: SocketAddress, session: ByteString, token: CallToken, engine: any MediaEngine) {
    self.address = address
    sessionID = session
    self.token = token
    self.engine = engine
    self.session = CallSession(randomSeed: .random(in: .min ... .max), subscribesToAll: false)
    let (stream, inputs) = AsyncStream.makeStream(of: SessionInput.self)
    self.inputs = inputs
    let sinks = sinks
    engine.open(
      MediaHost(
        report: { inputs.yield(.media($0)) }, videoSink: { sinks.video($0) }, audioSink: { sinks.audio($0) }))
    // Ends with the session, whose end finishes the inputs.
    Task { for await input in stream { await self.handle(input) } }
  }

  /// From any thread; what is posted is done in order.
  nonisolated func post(_ input: SessionInput) { inputs.yield(input) }

  // MARK: What is asked

  func events() -> AsyncStream<CallEvent> {
    let (stream, listener) = AsyncStream.makeStream(of: CallEvent.self, bufferingPolicy: .bufferingOldest(Self.eventsLimit))
    if case .ended = session.state { listener.finish() } else { listeners.append(listener) }
    return stream
  }

  func connect() async throws(CallError) -> CallConnection {
    guard session.state == .idle else { throw .invalid("A call connects once; make a new one.") }
    let error = await withTaskCancellationHandler {
      await outcome(.connect(token, session: sessionID))
    } onCancel: {
      post(.command(.leave, id: 0))
    }
    if case .ended(let end) = session.state { throw CallError(end, of: session) }
    if let error { throw error }
    guard let connection = session.connection else { throw .connectionLost }
    return connection
  }

  /// Returns when everything is closed.
  func leave() async {
    handle(.command(.leave, id: 0))
    await closing?.value
  }

  func perform(_ command: SessionCommand) async throws(CallError) {
    switch session.state {
    case .idle, .ended: throw .notConnected
    default: if let error = await outcome(command) { throw error }
    }
  }

  func publish(_ video: (any VideoSource)?, _ audio: (any AudioSource)?, name: ByteString) async throws(CallError) -> SourceID {
    guard video != nil || audio != nil else { throw .invalid("There is nothing to publish.") }
    lastSource += 1
    let (source, feed) = (lastSource, SourceFeed(video: video, audio: audio))
    feeds[source] = feed
    captureError = nil
    do throws(CallError) {
      try await perform(.publish(source, feed.kind, name: name, audio: audio != nil, video: video != nil))
    } catch {
      feeds.removeValue(forKey: source)?.stop()
      if case .media = error { throw captureError ?? error }
      throw error
    }
    return source
  }

  private func outcome(_ command: SessionCommand) async -> CallError? {
    lastCommand += 1
    let id = lastCommand
    return await withCheckedContinuation { continuation in
      waiting[id] = continuation
      handle(.command(command, id: id))
    }
  }

  // MARK: What is to be done

  private func handle(_ input: SessionInput) {
    for effect in session.handle(input, now: MonotonicTime.milliseconds) {
      switch effect {
      case .openSocket(let id): openSocket(id)
      case .sendText(let id, let text): if let socket, socket.id == id { socket.send(text.bytes) }
      case .closeSocket(let id):
        guard let socket, socket.id == id else { continue }
        socket.close()
        (lastSocket, self.socket) = (socket, nil)
      case .media(let effect): carryOut(effect)
      case .wake(let time): wake(at: time)
      case .change(let change): changed(change)
      }
    }
    if case .ended(let end) = session.state { close(CallError(end, of: session)) }
  }

  private func openSocket(_ id: SocketID) {
    socket?.close()
    let inputs = inputs
    socket = CallSocket(id: id, address) { event in
      switch event {
      case .opened: inputs.yield(.socketOpened(id))
      case .text(let bytes): inputs.yield(.text(id, bytes))
      case .closed: inputs.yield(.socketClosed(id))
      }
    }
  }

  private func wake(at time: Int64?) {
    timer?.cancel()
    timer = time.map { time in
      let inputs = inputs
      // A whole millisecond more: a machine that wakes before its time finds nothing due.
      let rest = max(0, time - MonotonicTime.milliseconds) + 1
      return Task {
        guard (try? await Task.sleep(for: .milliseconds(rest))) != nil else { return }
        inputs.yield(.time)
      }
    }
  }

  /// Sources are opened and muted here, all else is the engine's.
  private func carryOut(_ effect: MediaEffect) {
    switch effect {
    case .capture(let source, _, _, _): capture(source)
    case .release(let source): feeds.removeValue(forKey: source)?.stop()
    case .enable(let source, let kind, let isOn): feeds[source]?.enable(kind, isOn)
    default: engine.perform(effect)
    }
  }

  private func capture(_ source: SourceID) {
    guard let feed = feeds[source] else { return post(.media(.captureFailed(source))) }
    do throws(CallError) {
      let inputs = inputs
      try feed.start(source, engine: engine) { inputs.yield(.media(.captureEnded(source))) }
      post(.media(.captured(source, feed.media)))
    } catch {
      captureError = error
      feed.stop()
      post(.media(.captureFailed(source)))
    }
  }

  // MARK: What is told

  private func changed(_ change: SessionChange) {
    if case .finished(let id, let refusal) = change {
      waiting.removeValue(forKey: id)?.resume(returning: refusal.map { CallError($0) })
    }
    if case .stream(let id) = change, session.stream(id) == nil { sinks.remove(id) }
    for event in callEvents.take(change, in: session) { tell(CallEvent(event, in: session)) }
  }

  private func tell(_ event: CallEvent) {
    listeners.removeAll { listener in
      guard case .dropped = listener.yield(event) else { return false }
      listener.finish()
      return true
    }
  }

  /// Nothing stays open behind it.
  private func close(_ error: CallError) {
    guard closing == nil else { return }
    timer?.cancel()
    timer = nil
    for feed in feeds.values { feed.stop() }
    feeds = [:]
    sinks.removeAll()
    closing = Task { [engine, lastSocket] in
      await lastSocket?.finished()
      await engine.close()
    }
    for continuation in waiting.values { continuation.resume(returning: error) }
    waiting = [:]
    for listener in listeners { listener.finish() }
    listeners = []
    inputs.finish()
  }
}
