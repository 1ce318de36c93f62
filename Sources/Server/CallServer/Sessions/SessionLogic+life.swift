import JSON
import MediaRouter
import ServerCore

/// How connections come, break, come back and end.
extension SessionLogic {
  /// Why a connection is no longer there, for the others.
  enum End: String {
    case left, lost, forced, ended
  }

  /// STUN and TURN servers for a client's own connection.
  package struct ICEServer: Sendable {
    package let urls: [String]
    package let username: String
    package let credential: String

    package init(urls: [String], username: String, credential: String) {
      self.urls = urls
      self.username = username
      self.credential = credential
    }
  }

  /// A new participant, whose token is for this session.
  ///
  /// Throws `limit`, also where the token has too many connections already or too many come at once, and `invalid` for a client that cannot take part in this kind of session.
  package mutating func connect(
    _ token: ConnectionToken, relays: Bool = false, iceServers: [ICEServer] = [], on socket: SocketID,
    now: CallTime
  ) throws(CallRefusal) -> ConnectionID {
    guard connections.count < connectionsLimit else { throw CallRefusal(.limit, "The session is full.") }
    guard isRouted || connections.count < CallLimits.connectionsOfRelayedSession else {
      throw CallRefusal(.limit, "A relayed session takes \(CallLimits.connectionsOfRelayedSession) connections.")
    }
    guard isRouted || relays else {
      throw .invalid("This session is between its peers, which takes the capability relay.")
    }
    let ofHolder = connections.values.count { $0.token.holder == token.holder }
    guard token.holder.isEmpty || ofHolder < token.connectionsLimit else {
      throw CallRefusal(.limit, "There are too many connections with this token.")
    }
    if let wait = broadcasts.take(at: now.monotonic) {
      throw CallRefusal(.limit, "Too many come at once.", retryAfterMilliseconds: wait)
    }
    let id = ConnectionID(trusted: CallName.random(using: &random))
    lastConnection += 1
    var connection = CallConnection(
      id: id, number: lastConnection,
      key: CallName.random(using: &random).utf8 + CallName.random(using: &random).utf8 + Array(keyMark.utf8),
      token: token, created: now.wall, requests: TokenBucket(CallLimits.requestRate, at: now.monotonic),
      messages: TokenBucket(CallLimits.messageRate, at: now.monotonic),
      offers: TokenBucket(CallLimits.offerRate, at: now.monotonic),
      relayedBytes: TokenBucket(CallLimits.relayedBytesRate, at: now.monotonic),
      resumedBytes: TokenBucket(CallLimits.resumedBytesRate, at: now.monotonic))
    connection.socket = socket
    sockets[socket] = id
    add(.send(greeting(connection, iceServers), to: socket))
    sayToAll(
      Self.message("connection_created") {
        $0.key("connection"); connection.write(to: &$0)
      })
    connections[id] = connection
    add(.happened(SessionEvent(what: .connectionCreated, connection: connection)))
    settle()
    return id
  }

  private func greeting(_ connection: CallConnection, _ iceServers: [ICEServer]) -> [UInt8] {
    Self.message("connected") { writer in
      writer.key("connection")
      connection.write(to: &writer)
      writer.member("key", ByteString(decoding: connection.key))
      writer.member("session", id)
      writer.member("mode", isRouted ? "routed" : "relayed")
      writer.member("resume_seconds", CallLimits.resumeMilliseconds / 1_000)
      writer.array("ice_servers", iceServers) { server, writer in
        writer.object { writer in
          writer.array("urls", server.urls) { $1.write($0) }
          writer.member("username", server.username)
          writer.member("credential", server.credential)
        }
      }
      writer.array("connections", connections.values.sorted { $0.number < $1.number }) { $0.write(to: &$1) }
      let announced = streams.values.filter(\.isAnnounced).sorted { ($0.created, $0.id) < ($1.created, $1.id) }
      writer.array("streams", announced) { $0.write(to: &$1) }
      if let recording { writer.member("recording", recording.id) }
      if isMuted { writer.member("muted", true) }
    }
  }

  /// A participant comes back on another socket. Throws `gone`; `limit` for who comes back too often, or has too much said again.
  package mutating func resume(
    _ id: ConnectionID, key: ByteString, after seq: Int64, on socket: SocketID, now: CallTime
  ) throws(CallRefusal) {
    guard let connection = connections[id], KeyedHash.areSame(connection.key, key.utf8),
      let missed = connection.outbox.messages(after: seq)
    else { throw CallRefusal(.gone, "This connection cannot be resumed.") }
    let bytes = missed.reduce(CallLimits.resumedBytesLeast) { $0 + $1.count }
    if let wait = connections[id]?.resumedBytes.take(bytes, at: now.monotonic) {
      throw CallRefusal(.limit, "This connection is resumed too often.", retryAfterMilliseconds: wait)
    }
    if let old = connection.socket { close(old, CallRefusal(.replaced, "The connection goes on elsewhere.")) }
    lost[id] = nil
    sockets[socket] = id
    connections[id]?.socket = socket
    connections[id]?.outbox.acknowledge(seq)
    add(.send(Self.message("resumed") { $0.member("handled", connection.handled) }, to: socket))
    for message in missed { add(.send(message, to: socket)) }
  }

  /// A socket has ended without a word.
  package mutating func lose(_ socket: SocketID, now: CallTime) {
    guard let id = sockets.removeValue(forKey: socket) else { return }
    connections[id]?.socket = nil
    lost[id] = now.monotonic + CallLimits.resumeMilliseconds
  }

  /// What is due by time.
  package mutating func advance(to now: CallTime) {
    for (id, deadline) in lost where deadline <= now.monotonic { end(id, .lost) }
    for (id, deadline) in withoutMedia where deadline <= now.monotonic { endWithoutMedia(id, now) }
    if let recording, recording.deadline <= now.monotonic { endRecording("It was as long as a recording may be.") }
    settle()
  }

  /// Ends the session for everyone in it.
  package mutating func endAll(_ reason: CallRefusal) {
    endRecording(reason.code == .shuttingDown ? "The server stopped." : "The session is over.")
    let message = reason.code == .ended ? Self.message("session_ended") : nil
    if let message { sayToAll(message) }
    ending = []
    for stream in streams.values where stream.isAnnounced { tellDestroyed(stream, .left) }
    // Their publishers' workers forget them with the transports.
    for track in streams.values.flatMap(\.tracks) {
      for worker in track.workers.dropFirst() { tell(.unpublish(track.id), on: worker) }
    }
    for connection in Array(connections.values) {
      add(.happened(SessionEvent(what: .connectionDestroyed(.ended), connection: connection)))
      if let peer = connection.peer { tell(.close(peer.transport), on: peer.worker) }
      if let socket = connection.socket { close(socket, reason) }
    }
    connections = [:]
    streams = [:]
    withoutMedia = [:]
    lost = [:]
    transports = [:]
    tracks = [:]
    subscriptions = [:]
  }

  /// Takes a connection out with all it has. What was said to it is said; `reason` is the last of it.
  mutating func end(_ id: ConnectionID, _ end: End, _ reason: CallRefusal? = nil) {
    guard let connection = connections[id] else { return }
    let streamEnd: StreamEnd =
      switch end {
      case .left, .ended: .left
      case .lost: .lost
      case .forced: .forced
      }
    for stream in connection.streams { destroy(stream, streamEnd) }
    drop(connection)
    connections[id] = nil
    if connections.isEmpty { endRecording("Everybody has left.") }
    lost[id] = nil
    ending.removeAll { $0.0 == id }
    if let socket = connection.socket {
      if let reason {
        close(socket, reason)
      } else {
        sockets[socket] = nil
        add(.close(socket))
      }
    }
    sayToAll(
      Self.message("connection_destroyed") { writer in
        writer.member("connection", id)
        writer.member("reason", end.rawValue)
      })
    add(.happened(SessionEvent(what: .connectionDestroyed(end), connection: connection)))
  }
}
