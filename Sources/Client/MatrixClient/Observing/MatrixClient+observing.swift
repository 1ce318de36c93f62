public import ClientCore
import JSON
import MatrixModel

/// Streams of changes. A stream starts with the call and ends with `stop`. It delivers nothing once nothing holds it.
extension MatrixClient {
  /// Returns a stream of the values that `look` returns for each change from now on. `look` sees the state of the client after the change.
  ///
  ///     let names = client.observe { change, client in
  ///       if case .room(let room, let aspects) = change, aspects.contains(.name) { client.state(of: room)?.name } else { nil }
  ///     }
  ///
  /// - Parameter first: the first value, which the stream delivers at once.
  public func observe<Value: Sendable>(
    startingWith first: Value? = nil, _ look: @escaping @Sendable (Change, isolated MatrixClient) -> Value?
  ) -> AsyncStream<Value> {
    stream(startingWith: first.map { [$0] } ?? []) { change, client in look(change, client).map { [$0] } ?? [] }
  }

  /// - Parameter values: returns the values for a change, in order. The stream ends after a value that is marked as the last.
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

  /// Returns a stream of the session's states. It starts with the current state.
  public func sessionStates() -> AsyncStream<SessionState> {
    observe(startingWith: sessionState) { change, client in
      if case .session = change { client.sessionState } else { nil }
    }
  }

  /// Returns a stream of the states of the connection to the server. It starts with the current state.
  public func connectionStates() -> AsyncStream<ConnectionState> {
    observe(startingWith: connectionState) { change, client in
      if case .connection = change { client.connectionState } else { nil }
    }
  }

  /// Returns a stream of the messages of all rooms that could not be sent, until a retry or cancel.
  public func sendErrors() -> AsyncStream<(sending: Sending, error: ClientError)> {
    observe { change, client in
      guard case .sending(let room, let id, .failed(let error)) = change else { return nil }
      return (Sending(room: client.room(room), id: id), error)
    }
  }

  // MARK: Waiting

  /// - Parameter endsOffline: whether the stored data is enough if there is no connection.
  func firstSync(endsOffline: Bool = false) async throws(ClientError) {
    await wait { client in
      switch client.connection {
      case .running: true
      case .reconnecting, .offline: endsOffline || client.sessionState != .signedIn
      case .idle, .connecting, .firstSync: client.sessionState != .signedIn
      }
    }
    if case .running = core.connection { await deviceIsPublished() }
    if Task.isCancelled || isStopped { throw .cancelled }
  }

  /// Waits until the condition is true. Evaluates it after every change.
  func wait(until isSo: (Client) -> Bool) async {
    if isSo(core) { return }
    for await _ in changes() where isSo(core) { return }
  }

  /// Waits until the condition is true, but not longer than the timeout. Returns whether it is true.
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
