import JSON

/// What moderators do, and servers by REST.
extension SessionLogic {
  /// Takes the sound of a stream away, until its publisher gives it back. Throws `not_found`.
  package mutating func mute(_ id: StreamID) throws(CallRefusal) {
    guard streams[id] != nil else { throw .noStream }
    silence(id)
    settle()
  }

  /// All streams but some, and those that will be published; or takes that back for those that will be.
  package mutating func muteAll(_ isActive: Bool, except: Set<StreamID>) {
    isMuted = isActive
    if isActive { for id in Array(streams.keys) where !except.contains(id) { silence(id) } }
    sayToAll(Self.message("muted") { $0.member("active", isActive) })
    settle()
  }

  /// Throws `not_found`.
  package mutating func disconnect(_ id: ConnectionID, _ reason: CallRefusal = .byModerator) throws(CallRefusal) {
    guard has(id) else { throw .noConnection }
    end(id, .forced, reason)
    settle()
  }

  /// What a connection may do has changed. Everyone is told.
  package mutating func setRole(_ role: Role, of id: ConnectionID) {
    guard let old = connections[id]?.role, old != role else { return }
    connections[id]?.token.role = role
    sayToAll(
      Self.message("connection_changed") { writer in
        writer.member("connection", id)
        writer.member("role", role.rawValue)
      })
    settle()
  }

  private mutating func silence(_ id: StreamID) {
    guard let old = streams[id] else { return }
    streams[id]?.isMuted = true
    streams[id]?.description.hasAudio = false
    changed(from: old)
    say(Self.message("muted") { $0.member("stream", id) }, to: old.connection)
  }

  // MARK: For REST

  /// Streams that others know of, the oldest first.
  package var announcedStreams: [CallStream] {
    streams.values.filter(\.isAnnounced).sorted { ($0.created, $0.id) < ($1.created, $1.id) }
  }

  /// nil for none that others know of.
  package func stream(_ id: StreamID) -> CallStream? { streams[id].flatMap { $0.isAnnounced ? $0 : nil } }

  /// All of it or nothing. Throws `not_found`; `limit` where a recording does not take so many changes.
  package mutating func setLayoutClasses(_ classes: [(StreamID, [ByteString])]) throws(CallRefusal) {
    for (id, _) in classes { guard streams[id] != nil else { throw .noStream } }
    try checkChanges(classes.count)
    for (id, classes) in classes {
      streams[id]?.layoutClasses = classes
      if let stream = streams[id] { noteClasses(of: stream) }
    }
  }
}
