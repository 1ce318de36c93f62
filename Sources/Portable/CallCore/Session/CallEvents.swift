import JSON

/// Makes events of what a session says has changed: each once, in order. No I/O.
public struct CallEvents: Sendable {
  public enum Event: Sendable {
    case connected(CallConnection)
    case reconnecting
    case reconnected(CallConnection)
    case connectionCreated(CallConnection)
    /// The participant's role changed. Also sent for the own role.
    case connectionChanged(CallConnection)
    case connectionDestroyed(CallConnection)
    case streamCreated(CallStream)
    case streamChanged(CallStream)
    case streamDestroyed(CallStream)
    /// No picture comes for now, because of its publisher, its subscriber or the quality of the path.
    case videoDisabled(CallStream, reason: ByteString)
    /// It comes again; the reason is why it did not.
    case videoEnabled(CallStream, reason: ByteString)
    case publication(SourceID)
    case speaker
    case recording(ByteString?)
    case muting
    case signal(CallSignal)
    case closed(SessionEnd)
  }

  private var own: CallConnection?
  private var connections: [CallConnection] = []
  private var streams: [CallStream] = []
  private var state = CallState.idle
  private var recording: ByteString?

  public init() {}

  public mutating func take(_ change: SessionChange, in session: CallSession) -> [Event] {
    switch change {
    case .session: return stateChanged(session)
    case .connection(let id): return connectionChanged(id, session)
    case .stream(let id): return streamChanged(id, session)
    case .publication(let source): return [.publication(source)]
    case .speaker: return [.speaker]
    case .recording: return recordingChanged(session)
    case .muting: return [.muting]
    case .signal(let signal): return [.signal(signal)]
    case .finished: return []
    }
  }

  private mutating func stateChanged(_ session: CallSession) -> [Event] {
    var events: [Event] = []
    // What went with a connection that the server does not know any more.
    for stream in streams { events += streamChanged(stream.id, session) }
    for connection in connections { events += connectionChanged(connection.id, session) }
    let old = state
    state = session.state
    switch session.state {
    case .connected:
      own = session.connection
      guard let own else { break }
      events.append(old == .reconnecting ? .reconnected(own) : .connected(own))
      events += recordingChanged(session)
    case .reconnecting: if old != .reconnecting { events.append(.reconnecting) }
    case .ended(let end): events.append(.closed(end))
    case .idle, .connecting: break
    }
    return events
  }

  private mutating func connectionChanged(_ id: ByteString, _ session: CallSession) -> [Event] {
    if let old = own, old.id == id, let new = session.connection, new.id == id {
      own = new
      return old.role == new.role ? [] : [.connectionChanged(new)]
    }
    let old = connections.first { $0.id == id }
    let new = session.connections.first { $0.id == id }
    connections.removeAll { $0.id == id }
    if let new { connections.append(new) }
    guard let new else { return old.map { [.connectionDestroyed($0)] } ?? [] }
    guard let old else { return [.connectionCreated(new)] }
    return old.role == new.role ? [] : [.connectionChanged(new)]
  }

  private mutating func streamChanged(_ id: ByteString, _ session: CallSession) -> [Event] {
    let old = streams.first { $0.id == id }
    streams.removeAll { $0.id == id }
    guard let new = session.stream(id) else { return old.map { [.streamDestroyed($0)] } ?? [] }
    streams.append(new)
    guard let old else { return [.streamCreated(new)] }
    var events: [Event] = []
    if old.videoDisabled != new.videoDisabled {
      if let reason = new.videoDisabled {
        events.append(.videoDisabled(new, reason: reason))
      } else {
        events.append(.videoEnabled(new, reason: old.videoDisabled ?? ""))
      }
    }
    // The subscriber chose itself whether it arrives and how large.
    if !old.looksLike(new) { events.append(.streamChanged(new)) }
    return events
  }

  private mutating func recordingChanged(_ session: CallSession) -> [Event] {
    guard session.recording != recording else { return [] }
    recording = session.recording
    return [.recording(recording)]
  }
}

extension CallStream {
  fileprivate func looksLike(_ other: CallStream) -> Bool {
    name == other.name && hasAudio == other.hasAudio && hasVideo == other.hasVideo && videoType == other.videoType
      && width == other.width && height == other.height && isMuted == other.isMuted
  }
}
