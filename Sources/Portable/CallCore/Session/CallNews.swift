import JSON

/// From what a session says has changed to what is new for those who listen: each thing once, in order. No I/O.
public struct CallNews: Sendable {
  public enum Item: Sendable {
    case connected(CallConnection)
    case reconnecting
    case reconnected(CallConnection)
    case connectionCreated(CallConnection)
    /// Its role is another one; also one's own.
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
  private var state = SessionState.idle
  private var recording: ByteString?

  public init() {}

  public mutating func items(of change: SessionChange, in session: CallSession) -> [Item] {
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

  private mutating func stateChanged(_ session: CallSession) -> [Item] {
    var items: [Item] = []
    // What went with a connection that the server does not know any more.
    for stream in streams { items += streamChanged(stream.id, session) }
    for connection in connections { items += connectionChanged(connection.id, session) }
    let old = state
    state = session.state
    switch session.state {
    case .connected:
      own = session.connection
      guard let own else { break }
      items.append(old == .reconnecting ? .reconnected(own) : .connected(own))
      items += recordingChanged(session)
    case .reconnecting: if old != .reconnecting { items.append(.reconnecting) }
    case .ended(let end): items.append(.closed(end))
    case .idle, .connecting: break
    }
    return items
  }

  private mutating func connectionChanged(_ id: ByteString, _ session: CallSession) -> [Item] {
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

  private mutating func streamChanged(_ id: ByteString, _ session: CallSession) -> [Item] {
    let old = streams.first { $0.id == id }
    streams.removeAll { $0.id == id }
    guard let new = session.stream(id) else { return old.map { [.streamDestroyed($0)] } ?? [] }
    streams.append(new)
    guard let old else { return [.streamCreated(new)] }
    var items: [Item] = []
    if old.videoDisabled != new.videoDisabled {
      if let reason = new.videoDisabled {
        items.append(.videoDisabled(new, reason: reason))
      } else {
        items.append(.videoEnabled(new, reason: old.videoDisabled ?? ""))
      }
    }
    // Whether it arrives, and how large, one has asked for oneself.
    if !old.looksLike(new) { items.append(.streamChanged(new)) }
    return items
  }

  private mutating func recordingChanged(_ session: CallSession) -> [Item] {
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
