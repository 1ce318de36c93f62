import CallCore
import JSON

/// From what a session says has changed to what is new for those who listen. No I/O.
struct CallNews: Sendable {
  private var connections: [CallConnection] = []
  private var streams: [CallStream] = []
  private var state = SessionState.idle
  private var recording: ByteString?

  /// What is told of one change, in order.
  mutating func events(of change: SessionChange, in session: CallSession) -> [CallEvent] {
    switch change {
    case .session: return stateChanged(session)
    case .connection(let id): return connectionChanged(id, session)
    case .stream(let id): return streamChanged(id, session)
    case .publication(let source):
      return [session.publication(source).map { .publicationChanged($0) } ?? .publicationEnded(source)]
    case .speaker: return [.speaker(session.speaker.flatMap { session.stream($0) })]
    case .recording: return recordingChanged(session)
    case .muting: return [.muteAll(session.isMuteOfAllActive)]
    case .signal(let signal): return [.signal(signal)]
    case .finished: return []
    }
  }

  private mutating func stateChanged(_ session: CallSession) -> [CallEvent] {
    var events: [CallEvent] = []
    // What went with a connection that the server does not know any more.
    for stream in streams { events += streamChanged(stream.id, session) }
    for connection in connections { events += connectionChanged(connection.id, session) }
    let old = state
    state = session.state
    switch session.state {
    case .connected:
      guard let own = session.connection else { break }
      events.append(old == .reconnecting ? .reconnected(own) : .connected(own))
      events += recordingChanged(session)
    case .reconnecting: if old != .reconnecting { events.append(.reconnecting) }
    case .ended(let end): events.append(.closed(CallError(end, of: session)))
    case .idle, .connecting: break
    }
    return events
  }

  private mutating func connectionChanged(_ id: ByteString, _ session: CallSession) -> [CallEvent] {
    let old = connections.first { $0.id == id }
    let new = session.connections.first { $0.id == id }
    connections.removeAll { $0.id == id }
    if let new { connections.append(new) }
    switch (old, new) {
    case (nil, let new?): return [.connectionCreated(new)]
    case (let old?, nil): return [.connectionDestroyed(old)]
    default: return []
    }
  }

  private mutating func streamChanged(_ id: ByteString, _ session: CallSession) -> [CallEvent] {
    let old = streams.first { $0.id == id }
    streams.removeAll { $0.id == id }
    guard let new = session.stream(id) else { return old.map { [.streamDestroyed($0)] } ?? [] }
    streams.append(new)
    guard let old else { return [.streamCreated(new)] }
    var events: [CallEvent] = []
    if old.videoDisabled != new.videoDisabled {
      events.append(new.videoDisabled == nil ? .videoEnabled(new) : .videoDisabled(new))
    }
    // Whether it arrives, and how large, one has asked for oneself.
    if !old.looksLike(new) { events.append(.streamChanged(new)) }
    return events
  }

  private mutating func recordingChanged(_ session: CallSession) -> [CallEvent] {
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
