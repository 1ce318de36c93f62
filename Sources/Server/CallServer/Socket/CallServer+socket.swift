import Database
import HTTPServer
import Homeserver
import HomeserverAPI
import JSON
import MatrixModel

/// The socket. Documentation/Decisions/0014-call-sessions.md, "The socket".
extension CallServer {
  /// Where a client's first message leads.
  private enum Entrance {
    /// - Parameter holder: of its token.
    case here(SocketID, holder: ByteString)
    /// To the node that has the session; `otherwise` is for a client that cannot get there.
    case elsewhere(NodeContact, first: String, otherwise: CallRefusal)
  }

  package static let socketPath = "/_martlet/call/v1/socket"

  /// Adds the socket to what a server answers. Anyone may open one, from any page: what counts is the token in the first message.
  package nonisolated func mountSocket(on router: inout Router) {
    router.on(.get, Self.socketPath, endsOnShutdown: true) { [self] request in
      let (peer, isForwarded) = (request.peer, Forwarding.isForwarded(request))
      return Response(
        body: .webSocket(subprotocol: nil) { await self.serve($0, from: peer, isForwarded: isForwarded) })
    }
  }

  /// - Parameter isForwarded: another node carries it here, and it goes no further.
  private nonisolated func serve(_ socket: WebSocket, from peer: SocketAddress, isForwarded: Bool) async {
    let line = SocketLine()
    let writing = line.write(to: socket)
    do {
      switch try await greet(socket, line, from: peer.network) {
      case .here(let id, let holder): await listen(to: socket, as: id, MessageReader.Speaker(holder, now: now.monotonic))
      case .elsewhere(let node, let first, let otherwise):
        guard !isForwarded, let links, await links.carry(socket, first: first, from: peer, to: node, line) else {
          throw otherwise
        }
      }
    } catch let refusal as CallRefusal {
      line.send(SessionLogic.closed(refusal))
    } catch {}
    line.close()
    await writing.value
  }

  private nonisolated func listen(to socket: WebSocket, as id: SocketID, _ speaker: MessageReader.Speaker) async {
    do {
      while case .text(let text)? = try await socket.messages.next() {
        let message = try await reader.read(text, of: speaker, now: now.monotonic)
        guard await receive(message, on: id) else { break }
      }
    } catch {}
    await lose(id)
  }

  /// Waits for the first message and lets its sender into a session. Throws `CallRefusal`, or that the client is gone.
  private nonisolated func greet(_ socket: WebSocket, _ line: SocketLine, from network: UInt64) async throws -> Entrance {
    let alarm = Task {
      try await Task.sleep(for: .milliseconds(CallLimits.firstMessageMilliseconds))
      line.send(SessionLogic.closed(CallRefusal(.invalid, "Nothing was said for too long.")))
      line.close()
    }
    defer { alarm.cancel() }
    guard case .text(let text)? = try await socket.messages.next() else { throw CallRefusal(.invalid, "Messages are texts.") }
    let message = try ClientMessage(first: text)
    do { return try await enter(message, line, from: network) } catch let elsewhere as HeldElsewhere {
      return .elsewhere(elsewhere.node, first: text, otherwise: elsewhere.otherwise)
    }
  }

  /// Throws `HeldElsewhere` too.
  private func enter(_ message: ClientMessage, _ line: SocketLine, from network: UInt64) async throws -> Entrance {
    if configuration.rateLimits, let wait = connectRates.take(network, at: now.monotonic) {
      throw CallRefusal(.limit, "Too many come from your network.", retryAfterMilliseconds: wait)
    }
    switch message {
    case .connect(let token, let session, let relays):
      do { return try await connect(token, to: session, relays: relays, line) } catch let error as DatabaseError
        where error.isTransient
      {
        throw CallRefusal(
          .limit, "The database cannot be reached.", retryAfterMilliseconds: CallLimits.databaseRetryMilliseconds)
      }
    case .resume(let connection, let key, let seq):
      if let node = try await otherNode(of: key) { throw HeldElsewhere(node) }
      return try resume(connection, key: key, after: seq, line)
    default: throw CallRefusal(.invalid, "The first message is connect or resume.")
    }
  }

  private func connect(
    _ token: ByteString, to id: SessionID, relays: Bool, _ line: SocketLine
  ) async throws -> Entrance {
    // Keys and members that another node knows of count here too.
    try await homeserver.database.catchUp()
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
    let fence = try await hold(session)
    // Its key may have been taken away meanwhile. From here to the greeting nothing else has its turn.
    guard projects[session.project] != nil else { throw CallRefusal(.unauthorized, "There is no such session.") }
    try wake(session, fence: fence)
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
    return .here(socket, holder: token.holder)
  }

  private func resume(
    _ connection: ConnectionID, key: ByteString, after seq: Int64, _ line: SocketLine
  ) throws -> Entrance {
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
    return .here(socket, holder: live[id]?.state.connections[connection]?.token.holder ?? "")
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
