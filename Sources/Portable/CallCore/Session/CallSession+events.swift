import JSON

/// What the server tells.
extension CallSession {
  mutating func happened(_ type: ByteString, _ message: JSON) {
    switch type {
    case "connection_created": connectionCame(CallConnection(message["connection"]))
    case "connection_changed": connectionChanged(message)
    case "connection_destroyed": connectionWent(message.text("connection"))
    case "stream_created": streamCame(CallStream(message["stream"]))
    case "stream_changed": streamChanged(message)
    case "stream_destroyed": streamDestroyed(message)
    case "signal": signalCame(message)
    case "relay": relayed(message)
    case "muted": muted(message)
    case "video_disabled": videoChanged(message, reason: message.text("reason") ?? "quality")
    case "video_enabled": videoChanged(message, reason: nil)
    case "speaker":
      speaker = message.text("stream")
      effects.append(.change(.speaker))
    case "recording_started": recordingChanged(message.text("archive"))
    case "recording_stopped": recordingChanged(nil)
    case "session_ended": end(.closed("ended"))
    case "transport": transportChanged(message)
    default: break
    }
  }

  mutating func connectionCame(_ came: CallConnection?) {
    guard let came, came.id != connection?.id, connections.count < CallLimits.connections,
      !connections.contains(where: { $0.id == came.id })
    else { return }
    connections.append(came)
    effects.append(.change(.connection(came.id)))
    if isRelayed { sendEverything(to: came) }
  }

  private mutating func connectionChanged(_ message: JSON) {
    guard let id = message.text("connection"), let role = message["role"] else { return }
    if id == connection?.id {
      connection?.role = CallRole(role)
    } else if let i = connections.firstIndex(where: { $0.id == id }) {
      connections[i].role = CallRole(role)
    } else {
      return
    }
    effects.append(.change(.connection(id)))
  }

  private mutating func connectionWent(_ id: ByteString?) {
    guard let id else { return }
    for stream in streams where stream.connection == id { streamWent(stream.id) }
    if let i = links.firstIndex(where: { $0.remote == id }) {
      effects.append(.media(.close(links[i].peer)))
      links.remove(at: i)
    }
    connections.removeAll { $0.id == id }
    effects.append(.change(.connection(id)))
  }

  mutating func streamCame(_ came: CallStream?) {
    guard let came, came.connection != connection?.id, streams.count < CallLimits.streams,
      !streams.contains(where: { $0.id == came.id })
    else { return }
    streams.append(came)
    effects.append(.change(.stream(came.id)))
    let former = formerStreams.first { $0.id == came.id }
    let isWanted = former?.isSubscribed ?? subscribesToAll
    if isWanted, connection?.role != .publisherOnly { setSubscribed(streams.count - 1, true) }
    if let former, former.preference != StreamPreference() { prefer(came.id, former.preference, 0) }
  }

  private mutating func streamChanged(_ message: JSON) {
    guard let i = streams.firstIndex(where: { stream in message["stream"]?.text.map { $0 == stream.id } ?? false }) else {
      return
    }
    streams[i].change(message)
    receiveWhatIsThere(i)
    effects.append(.change(.stream(streams[i].id)))
  }

  /// An own one that the router has lost comes again with the next offer; one that had no media in time, as another one.
  private mutating func streamDestroyed(_ message: JSON) {
    guard let id = message.text("stream") else { return }
    guard let own = publications.first(where: { $0.stream == id }) else { return streamWent(id) }
    guard let reason = message["reason"] else { return withdraw(own.source) }
    if reason.isString("no_media") { announceAnew(own.source) } else if !reason.isString("lost") { withdraw(own.source) }
  }

  private mutating func streamWent(_ id: ByteString) {
    guard let i = streams.firstIndex(where: { $0.id == id }) else { return }
    setSubscribed(i, false)
    streams.remove(at: i)
    if speaker == id { speaker = nil }
    effects.append(.change(.stream(id)))
  }

  private mutating func signalCame(_ message: JSON) {
    guard let data = message.text("data") else { return }
    let signal = CallSignal(kind: message.text("kind") ?? "", data: data, from: message.text("from"))
    effects.append(.change(.signal(signal)))
  }

  private mutating func muted(_ message: JSON) {
    if let isActive = message.bool("active") {
      isMuteOfAllActive = isActive
      effects.append(.change(.muting))
    }
    if let id = message.text("stream"), let i = publications.firstIndex(where: { $0.stream == id }) { silence(i) }
  }

  private mutating func videoChanged(_ message: JSON, reason: ByteString?) {
    guard let id = message.text("stream"), let i = streams.firstIndex(where: { $0.id == id }) else { return }
    streams[i].videoDisabled = reason
    effects.append(.change(.stream(id)))
  }

  private mutating func recordingChanged(_ id: ByteString?) {
    recording = id
    effects.append(.change(.recording))
  }

  /// Where nothing comes any more ICE is restarted; what the router has forgotten is offered to it on a new peer connection.
  private mutating func transportChanged(_ message: JSON) {
    guard let state = message["state"] else { return }
    if state.isString("ended") { return renewRouterLink() }
    guard let i = links.firstIndex(where: { $0.remote == nil }) else { return }
    if state.isString("connected") { links[i].watch.changed(.connected, now: now) }
    if state.isString("lost") { links[i].watch.lost(now: now) }
  }
}
