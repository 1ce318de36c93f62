public import ClientCore
import JSON
import MatrixModel

/// Following what happens. Streams begin with the call, end with `stop`, and deliver nothing once nobody holds them.
extension MatrixClient {
  /// What `look` finds in the changes from now on, looking at the client as it is after each.
  ///
  ///     let names = client.observe { change, client in
  ///       if case .room(let room, let aspects) = change, aspects.contains(.name) { client.state(of: room)?.name } else { nil }
  ///     }
  ///
  /// - Parameter first: is delivered at once.
  public func observe<Value: Sendable>(
    startingWith first: Value? = nil, _ look: @escaping @Sendable (Change, isolated MatrixClient) -> Value?
  ) -> AsyncStream<Value> {
    stream(startingWith: first.map { [$0] } ?? []) { change, client in look(change, client).map { [$0] } ?? [] }
  }

  /// - Parameter values: of a change, in order; the stream ends behind one that is the last.
  func stream<Value: Sendable>(
    startingWith first: [Value] = [], endingWith isLast: @escaping @Sendable (Value) -> Bool = { _ in false },
    of values: @escaping @Sendable (Change, isolated MatrixClient) -> [Value]
  ) -> AsyncStream<Value> {
    let (stream, continuation) = AsyncStream.makeStream(of: Value.self)
    for value in first {
      continuation.yield(value)
      if isLast(value) { continuation.finish() }
    }
    let id = listen(
      Listener { change, client in
        for value in values(change, client) {
          continuation.yield(value)
          if isLast(value) { continuation.finish() }
        }
      } finish: {
        continuation.finish()
      })
    continuation.onTermination = { [weak self] _ in Task { await self?.removeListener(id) } }
    return stream
  }

  /// The session's states, the present one first.
  public func sessionStates() -> AsyncStream<SessionState> {
    observe(startingWith: sessionState) { change, client in
      if case .session = change { client.sessionState } else { nil }
    }
  }

  /// Whether the client talks with its server, the present state first.
  public func connectionStates() -> AsyncStream<ConnectionState> {
    observe(startingWith: connectionState) { change, client in
      if case .connection = change { client.connectionState } else { nil }
    }
  }

  /// What could not be sent, of all rooms, until it is tried again or cancelled.
  public func sendErrors() -> AsyncStream<(sending: Sending, error: ClientError)> {
    observe { change, client in
      guard case .sending(let room, let id, .failed(let error)) = change else { return nil }
      return (Sending(room: client.room(room), id: id), error)
    }
  }

  // MARK: Waiting

  /// - Parameter endsOffline: whether what the store has will do where there is no connection.
  func firstSync(endsOffline: Bool = false) async throws(ClientError) {
    await wait { client in
      switch client.connection {
      case .running: true
      case .reconnecting, .offline: endsOffline || client.sessionState != .signedIn
      case .idle, .connecting, .firstSync: client.sessionState != .signedIn
      }
    }
    if Task.isCancelled || isStopped { throw .cancelled }
  }

  /// Until the state is so, looking at it after every change.
  func wait(until isSo: (Client) -> Bool) async {
    if isSo(core) { return }
    for await _ in changes() where isSo(core) { return }
  }

  /// The same, for that long at most. Whether it is so.
  @discardableResult
  func wait(atMost seconds: Int, until isSo: (Client) -> Bool) async -> Bool {
    if isSo(core) { return true }
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let id = listen(
      Listener { _, _ in
        continuation.yield()
      } finish: {
        continuation.finish()
      })
    let timer = Task {
      try? await Task.sleep(for: .seconds(seconds))
      removeListener(id)
    }
    defer {
      timer.cancel()
      removeListener(id)
    }
    for await _ in stream where isSo(core) { return true }
    return isSo(core)
  }
}
