import HTTPServer
import Homeserver
import JSON
import MatrixModel

/// The socket. Documentation/Decisions/0014-call-sessions.md, "The socket".
extension CallServer {
  package static let socketPath = "/_martlet/call/v1/socket"

  /// Adds the socket to what a server answers. Anyone may open one, from any page: what counts is the token in the first message.
  package nonisolated func mountSocket(on router: inout Router) {
    router.on(.get, Self.socketPath, endsOnShutdown: true) { [self] request in
      let network = request.peer.network
      return Response(body: .webSocket(subprotocol: nil) { await self.serve($0, from: network) })
    }
  }

  private nonisolated func serve(_ socket: WebSocket, from network: UInt64) async {
    let line = SocketLine()
    let writing = line.write(to: socket)
    do {
      let (id, holder) = try await greet(socket, line, from: network)
      let speaker = MessageReader.Speaker(holder, now: now.monotonic)
      do {
        while case .text(let text)? = try await socket.messages.next() {
          let message = try await reader.read(text, of: speaker, now: now.monotonic)
          guard await receive(message, on: id) else { break }
        }
      } catch {}
      await lose(id)
    } catch let refusal as CallRefusal {
      line.send(SessionLogic.closed(refusal))
    } catch {}
    line.close()
    await writing.value
  }

  /// Waits for the first message and lets its sender into a session; also tells who holds its token. Throws `CallRefusal`, or that the client is gone.
  private nonisolated func greet(
    _ socket: WebSocket, _ line: SocketLine, from network: UInt64
  ) async throws -> (SocketID, holder: ByteString) {
    let alarm = Task {
      try await Task.sleep(for: .milliseconds(CallLimits.firstMessageMilliseconds))
      line.send(SessionLogic.closed(CallRefusal(.invalid, "Nothing was said for too long.")))
      line.close()
    }
    defer { alarm.cancel() }
    guard case .text(let text)? = try await socket.messages.next() else { throw CallRefusal(.invalid, "Messages are texts.") }
    return try await enter(ClientMessage(first: text), line, from: network)
  }

  private func enter(
    _ message: ClientMessage, _ line: SocketLine, from network: UInt64
  ) async throws -> (SocketID, holder: ByteString) {
    if configuration.rateLimits, let wait = connectRates.take(network, at: now.monotonic) {
      throw CallRefusal(.limit, "Too many come from your network.", retryAfterMilliseconds: wait)
    }
    switch message {
    case .connect(let token, let session, let relays):
      return try await connect(token, to: session, relays: relays, line)
    case .resume(let connection, let key, let seq):
      return try resume(connection, key: key, after: seq, line)
    default: throw CallRefusal(.invalid, "The first message is connect or resume.")
    }
  }

  private func connect(
    _ token: ByteString, to id: SessionID, relays: Bool, _ line: SocketLine
  ) async throws -> (SocketID, holder: ByteString) {
    var verified: ConnectionToken
    do throws(ConnectionToken.Refusal) {
      verified = try ConnectionToken(verifying: token, for: id, of: projects, now: clock.now())
    } catch {
      throw CallRefusal(.unauthorized, error.sentence)
    }
    guard let session = try await sessions.session(id) else {
      throw CallRefusal(.unauthorized, "There is no such session.")
    }
    if let role = try await requireMembership(verified, session) { verified.role = role }
    // Its key may have been taken away meanwhile. From here to the greeting nothing else has its turn.
    guard projects[session.project] != nil else { throw CallRefusal(.unauthorized, "There is no such session.") }
    try wake(session)
    let socket = take(line, of: id)
    let servers = iceServers(for: verified)
    let token = verified
    do throws(CallRefusal) {
      try run(id) { (state, now) throws(CallRefusal) in
        _ = try state.connect(token, relays: relays, iceServers: servers, on: socket, now: now)
      }
    } catch {
      forget(socket)
      throw error
    }
    await follow(token, session)
    return (socket, token.holder)
  }

  private func resume(
    _ connection: ConnectionID, key: ByteString, after seq: Int64, _ line: SocketLine
  ) throws -> (SocketID, holder: ByteString) {
    guard let id = live.first(where: { $0.value.state.has(connection) })?.key else {
      throw CallRefusal(.gone, "This connection cannot be resumed.")
    }
    let socket = take(line, of: id)
    do throws(CallRefusal) {
      try run(id) { (state, now) throws(CallRefusal) in
        try state.resume(connection, key: key, after: seq, on: socket, now: now)
      }
    } catch {
      forget(socket)
      throw error
    }
    return (socket, live[id]?.state.connections[connection]?.token.holder ?? "")
  }

  /// False where nobody is on the socket any more.
  private func receive(_ message: Result<ClientMessage, CallRefusal>, on socket: SocketID) -> Bool {
    guard let id = sessionOfSocket[socket] else { return false }
    let written = lines[socket]?.written ?? 0
    run(id) { state, now in state.receive(message, on: socket, now: now, written: written) }
    return sessionOfSocket[socket] != nil
  }

  private func lose(_ socket: SocketID) {
    if let id = sessionOfSocket[socket] { run(id) { state, now in state.lose(socket, now: now) } }
    forget(socket)
  }

  private func take(_ line: SocketLine, of id: SessionID) -> SocketID {
    let socket = newSocket()
    lines[socket] = line
    sessionOfSocket[socket] = id
    census.sockets.store(lines.count, ordering: .relaxed)
    return socket
  }

  private func forget(_ socket: SocketID) {
    lines[socket] = nil
    census.sockets.store(lines.count, ordering: .relaxed)
    sessionOfSocket[socket] = nil
  }
}
