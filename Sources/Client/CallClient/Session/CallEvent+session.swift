import CallCore

extension CallEvent {
  /// What is told of something new in a session.
  init(_ event: CallEvents.Event, in session: CallSession) {
    switch event {
    case .connected(let own): self = .connected(own)
    case .reconnecting: self = .reconnecting
    case .reconnected(let own): self = .reconnected(own)
    case .connectionCreated(let other): self = .connectionCreated(other)
    case .connectionChanged(let changed): self = .connectionChanged(changed)
    case .connectionDestroyed(let other): self = .connectionDestroyed(other)
    case .streamCreated(let stream): self = .streamCreated(stream)
    case .streamChanged(let stream): self = .streamChanged(stream)
    case .streamDestroyed(let stream): self = .streamDestroyed(stream)
    case .videoDisabled(let stream, _): self = .videoDisabled(stream)
    case .videoEnabled(let stream, _): self = .videoEnabled(stream)
    case .publication(let source):
      self = session.publication(source).map { .publicationChanged($0) } ?? .publicationEnded(source)
    case .speaker: self = .speaker(session.speaker.flatMap { session.stream($0) })
    case .recording(let id): self = .recording(id)
    case .muting: self = .muteAll(session.isMuteOfAllActive)
    case .signal(let signal): self = .signal(signal)
    case .closed(let end): self = .closed(CallError(end, of: session))
    }
  }
}
