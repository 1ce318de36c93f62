import JSON

/// Sockets come and go; the connection stays.
extension CallSession {
  mutating func connect(_ token: CallToken, _ session: ByteString, _ id: CommandID) {
    guard state == .idle else { return finish(id, CallRefusal("invalid")) }
    credentials = Credentials(token: token, session: session, command: id)
    state = .connecting
    socket.lostAt = now
    effects.append(.change(.session))
    openSocket()
  }

  private mutating func openSocket() {
    socket.id &+= 1
    socket.phase = .opening
    socket.deadline = now + CallLimits.answerMilliseconds
    effects.append(.openSocket(socket.id))
  }

  mutating func socketOpened(_ id: SocketID) {
    guard id == socket.id, socket.phase == .opening else { return }
    socket.phase = .greeting
    socket.deadline = now + CallLimits.answerMilliseconds
    var writer = JSONWriter()
    writer.beginObject()
    if let connection {
      writer.member("type", "resume" as ByteString)
      writer.member("connection", connection.id)
      writer.member("key", wire.key)
      writer.member("seq", wire.lastHeard)
    } else {
      writer.member("type", "connect" as ByteString)
      writer.member("token", credentials.token.text)
      writer.member("session", credentials.session)
      writer.key("capabilities")
      writer.beginArray()
      writer.write("relay" as ByteString)
      writer.endArray()
    }
    writer.endObject()
    say(writer.bytes)
  }

  mutating func say(_ text: [UInt8]) { effects.append(.sendText(socket.id, SocketText(bytes: text))) }

  /// The socket is gone: the next one comes after a while, longer after each failure.
  mutating func socketLost() {
    guard socket.phase != .none, socket.phase != .waiting else { return }
    socket.phase = .waiting
    wire.ackAt = nil
    for i in wire.requests.indices { wire.requests[i].sentAt = nil }
    let lostAt = socket.lostAt ?? now
    socket.lostAt = lostAt
    if now - lostAt >= CallLimits.reconnectMilliseconds { return end(.unreachable) }
    let whole = min(CallLimits.backoffFirstMilliseconds << min(socket.failures, 10), CallLimits.backoffLastMilliseconds)
    socket.failures += 1
    socket.deadline = now + random.jitter(whole)
    if state == .connected {
      state = .reconnecting
      effects.append(.change(.session))
    }
  }

  mutating func dropSocket() {
    effects.append(.closeSocket(socket.id))
    socketLost()
  }

  mutating func socketIsLate() {
    switch socket.phase {
    case .waiting: openSocket()
    case .opening, .greeting: dropSocket()
    case .none, .open: socket.deadline = nil
    }
  }

  mutating func networkChanged() {
    if socket.phase == .open { dropSocket() }
    if socket.phase == .waiting { socket.deadline = now }
    for i in links.indices { links[i].watch.lost(now: now) }
  }

  // MARK: Texts

  mutating func take(_ bytes: [UInt8], from id: SocketID) {
    guard id == socket.id, socket.phase == .open || socket.phase == .greeting else { return }
    let limit = socket.phase == .open ? CallLimits.descriptionMessageBytes : CallLimits.greetingBytes
    guard bytes.count <= limit, let message = try? JSON.parse(bytes), let type = message.text("type") else {
      return dropSocket()
    }
    if type == "closed" as StaticString { return closed(message) }
    if socket.phase == .open { return heard(type, message, bytes.count) }
    switch type {
    case "connected": greeted(message)
    case "resumed": resumed(message)
    default: break
    }
  }

  /// Each message once, and none left out.
  private mutating func heard(_ type: ByteString, _ message: JSON, _ bytes: Int) {
    guard let number = message.integer("seq"), number > wire.lastHeard else { return }
    guard number == wire.lastHeard + 1 else { return dropSocket() }
    wire.lastHeard = number
    wire.unacknowledgedBytes += bytes
    if wire.ackAt == nil { wire.ackAt = now + CallLimits.ackMilliseconds }
    switch type {
    case "done", "refused": answered(message, isDone: type == "done" as StaticString)
    default: happened(type, message)
    }
    let isDue = number - wire.lastAcknowledged >= CallLimits.ackMessages || wire.unacknowledgedBytes >= CallLimits.ackBytes
    if isDue, socket.phase == .open { acknowledge() }
  }

  mutating func acknowledge() {
    wire.ackAt = nil
    guard wire.lastHeard > wire.lastAcknowledged else { return }
    wire.lastAcknowledged = wire.lastHeard
    wire.unacknowledgedBytes = 0
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("type", "ack" as ByteString)
    writer.member("seq", wire.lastHeard)
    writer.endObject()
    say(writer.bytes)
  }

  private mutating func isGreeted() {
    socket.phase = .open
    socket.deadline = nil
    socket.failures = 0
    socket.lostAt = nil
    state = .connected
    effects.append(.change(.session))
  }

  private mutating func greeted(_ message: JSON) {
    guard connection == nil, let own = CallConnection(message["connection"]), let key = message.text("key") else {
      return dropSocket()
    }
    connection = own
    wire.key = key
    isRelayed = message["mode"]?.isString("relayed") ?? false
    iceServers = ICEServer.list(message["ice_servers"])
    recording = message.text("recording")
    let isMuted = message.bool("muted") ?? false
    let isMutingNew = isMuted != isMuteOfAllActive
    isMuteOfAllActive = isMuted
    isGreeted()
    if isMutingNew { effects.append(.change(.muting)) }
    finish(credentials.command)
    credentials.command = 0
    for entry in (message["connections"] ?? message).elements { connectionCame(CallConnection(entry)) }
    for entry in (message["streams"] ?? message).elements { streamCame(CallStream(entry)) }
    for publication in publications { announce(publication.source) }
  }

  private mutating func resumed(_ message: JSON) {
    guard connection != nil, let handled = message.integer("handled") else { return dropSocket() }
    isGreeted()
    for i in wire.requests.indices {
      wire.requests[i].sentAt = now
      if wire.requests[i].number > handled { say(wire.requests[i].text) }
    }
  }

  private mutating func closed(_ message: JSON) {
    let code = message.text("code") ?? ""
    guard code == "gone" as StaticString || message.bool("retry") == true else {
      if let text = message.text("message"), text.count <= CallLimits.nameBytes { endMessage = text }
      return end(.closed(code.count <= CallLimits.signalKindBytes ? code : ""))
    }
    startAnew(after: message.integer("retry_after_ms"))
  }

  // MARK: Connections

  /// The next socket begins with `connect`: what was published and subscribed comes again.
  ///
  /// - Parameter wait: when the server says that there is a chance, in milliseconds; nil if it does not.
  mutating func startAnew(after wait: Int64? = nil) {
    if connection != nil {
      forgetConnection()
      state = .reconnecting
      effects.append(.change(.session))
    }
    dropSocket()
    guard let wait, socket.phase == .waiting else { return }
    let jitter = random.jitter(CallLimits.backoffFirstMilliseconds)
    socket.deadline = now + min(max(wait, 0), CallLimits.retryMilliseconds) + jitter
  }

  /// What the server knew of us, and what it told.
  mutating func forgetConnection() {
    for link in links { effects.append(.media(.close(link.peer))) }
    links = []
    if connection != nil { formerStreams = streams }
    connection = nil
    connections = []
    streams = []
    speaker = nil
    unreachable = []
    recording = nil
    let requests = wire.requests
    wire = SessionWire()
    for request in requests { finish(request.command, CallRefusal("connection_lost")) }
    for i in publications.indices where publications[i].state != .capturing { publications[i].state = .waiting }
  }

  mutating func leave(_ id: CommandID) {
    if socket.phase == .open { request("leave") { _ in } }
    finish(id)
    end(.left)
  }
}
