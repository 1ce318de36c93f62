import JSON

/// What connections ask for.
extension SessionLogic {
  /// A message on a socket that has been greeted. What is against the protocol ends the connection.
  ///
  /// - Parameters:
  ///   - message: the parsed message, or why it is not valid.
  ///   - written: the highest number that has gone out on this socket. More than that no client has read.
  mutating func receive(
    _ message: Result<ClientMessage, CallRefusal>, on socket: SocketID, now: CallTime, written: Int64 = .max
  ) {
    guard let id = sockets[socket] else { return }
    do throws(CallRefusal) {
      if let wait = connections[id]?.messages.take(at: now.monotonic) {
        throw CallRefusal(.limit, "These are too many messages.", retryAfterMilliseconds: wait)
      }
      switch try message.get() {
      case .connect, .resume: throw .invalid("The connection is there already.")
      case .acknowledgement(let seq): connections[id]?.outbox.acknowledge(min(seq, written))
      case .request(let number, let request): try take(number, request, of: id, now)
      case .unknown: break
      }
    } catch {
      end(id, .lost, error)
    }
    settle()
  }

  private mutating func take(
    _ number: Int64, _ request: Result<CallRequest, CallRefusal>, of id: ConnectionID, _ now: CallTime
  ) throws(CallRefusal) {
    guard let handled = connections[id]?.handled else { return }
    // Said again after a new socket; its answer is among what was repeated.
    guard number > handled else { return }
    guard number == handled + 1 else { throw .invalid("Requests are numbered by one from 1.") }
    connections[id]?.handled = number
    do throws(CallRefusal) {
      if let wait = connections[id]?.requests.take(at: now.monotonic) {
        throw CallRefusal(.limit, "These are too many requests.", retryAfterMilliseconds: wait)
      }
      let request = try request.get()
      try requireRate(of: request, by: id, now)
      try perform(request, number, of: id, now)
    } catch {
      refuse(number, id, error)
    }
  }

  /// Throws `limit` for what is dear, or told to everyone, and comes too often; what one may not do takes nothing of what all have.
  private mutating func requireRate(of request: CallRequest, by id: ConnectionID, _ now: CallTime) throws(CallRefusal) {
    guard let role = connections[id]?.role else { return }
    switch request {
    case .offer:
      if let wait = connections[id]?.offers.take(at: now.monotonic) {
        throw CallRefusal(.limit, "These are too many offers.", retryAfterMilliseconds: wait)
      }
    case .publish(let description):
      if role.allows(.publish) { try requireBroadcast(of: description.name, now) }
    case .update(let stream, let change):
      if streams[stream]?.connection == id { try requireBroadcast(of: change.name ?? "", now) }
    case .unpublish(let stream):
      if let stream = streams[stream], stream.connection == id || role.allows(.moderate) { try requireBroadcast(now) }
    case .mute, .muteAll, .record:
      if role.allows(.moderate) { try requireBroadcast(now) }
    case .relay(let data, _):
      // As it is written: a control character is six bytes there.
      if let wait = connections[id]?.relayedBytes.take(JSON.text(data).count, at: now.monotonic) {
        throw CallRefusal(.limit, "This is too much to hand on.", retryAfterMilliseconds: wait)
      }
    // Signals have a rate of their own; the rest is told to nobody, or only once in a connection's life.
    case .signal, .prefer, .disconnect, .leave: break
    }
  }

  private mutating func requireBroadcast(of name: ByteString = "", _ now: CallTime) throws(CallRefusal) {
    // A byte is written as six at most.
    let wait = broadcasts.take(at: now.monotonic) ?? toldBytes.take(6 * name.count, at: now.monotonic)
    if let wait { throw CallRefusal(.limit, "Too much happens in the session.", retryAfterMilliseconds: wait) }
  }

  private mutating func perform(
    _ request: CallRequest, _ number: Int64, of id: ConnectionID, _ now: CallTime
  ) throws(CallRefusal) {
    guard let role = connections[id]?.role else { return }
    func require(_ permission: Role.Permission) throws(CallRefusal) {
      guard role.allows(permission) else { throw .forbidden(role) }
    }
    switch request {
    case .publish(let description):
      try require(.publish)
      let stream = try publish(description, by: id, now)
      return done(number, id) {
        $0.key("stream"); stream.write(to: &$0)
      }
    case .update(let stream, let change): try update(stream, change, by: id)
    case .unpublish(let stream): try unpublish(stream, by: id)
    case .offer(let offer, let sections):
      let answer = try answer(offer, sections, of: id)
      return done(number, id) { $0.member("sdp", answer) }
    case .prefer(let stream, let preference): try prefer(stream, preference, by: id)
    case .signal(let signal, let to):
      try require(.signal)
      try self.signal(signal, to: to, from: id, now)
    case .relay(let data, let to): try relay(data, to: to, from: id)
    case .mute(let stream):
      try require(.moderate)
      try mute(stream)
    case .muteAll(let except, let isActive):
      try require(.moderate)
      muteAll(isActive, except: except)
    case .disconnect(let other):
      try require(.moderate)
      return try disconnect(other, number, by: id)
    case .record(let starts):
      try require(.moderate)
      return add(.wantsRecording(RecordingRequest(starts: starts, number: number, connection: id)))
    case .leave:
      done(number, id)
      return end(id, .left)
    }
    done(number, id)
  }

  /// A moderator who disconnects itself is answered before.
  private mutating func disconnect(_ other: ConnectionID, _ number: Int64, by id: ConnectionID) throws(CallRefusal) {
    guard has(other) else { throw .noConnection }
    done(number, id)
    try disconnect(other)
  }

  // MARK: Signals

  /// - Parameter sender: nil for the application's server.
  package mutating func signal(
    _ signal: CallSignal, to: ConnectionID?, from sender: ConnectionID? = nil, _ now: CallTime
  ) throws(CallRefusal) {
    if let to, !has(to) { throw .noConnection }
    if let wait = signals.take(at: now.monotonic) {
      throw CallRefusal(.limit, "The session has too many signals.", retryAfterMilliseconds: wait)
    }
    let message = Self.message("signal") { writer in
      writer.member("kind", signal.kind)
      writer.member("data", signal.data)
      if let sender { writer.member("from", sender) }
    }
    if let wait = toldBytes.take(message.count, at: now.monotonic) {
      throw CallRefusal(.limit, "The session's signals are too long.", retryAfterMilliseconds: wait)
    }
    if let to { say(message, to: to) } else { sayToAll(message) }
    if sender == nil { settle() }
  }

  private mutating func relay(_ data: ByteString, to: ConnectionID, from id: ConnectionID) throws(CallRefusal) {
    guard !isRouted else { throw .invalid("Media of this session goes through the server.") }
    guard let receiver = connections[to] else { throw .noConnection }
    if receiver.outbox.isHalfFull {
      throw CallRefusal(
        .limit, "Who is to get it does not keep up.", retryAfterMilliseconds: CallLimits.fullOutboxMilliseconds)
    }
    say(
      Self.message("relay") { writer in
        writer.member("from", id)
        writer.member("data", data)
      }, to: to)
  }
}
