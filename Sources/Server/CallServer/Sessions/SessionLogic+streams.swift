import JSON
import MediaRouter

/// What is published.
extension SessionLogic {
  enum StreamEnd: String {
    case unpublished, left, lost, forced
    /// None of its media has come. Only its publisher is told: nobody else knows of it.
    case noMedia = "no_media"
  }

  mutating func publish(
    _ description: StreamDescription, by id: ConnectionID, _ now: CallTime
  ) throws(CallRefusal) -> CallStream {
    guard let connection = connections[id], connection.streams.count < CallLimits.streamsOfConnection else {
      throw CallRefusal(.limit, "A connection has at most \(CallLimits.streamsOfConnection) streams.")
    }
    guard streams.count < CallLimits.streams else {
      throw CallRefusal(.limit, "A session has at most \(CallLimits.streams) streams.")
    }
    let holder = connection.token.holder
    let ofHolder = streams.values.count { connections[$0.connection]?.token.holder == holder }
    guard holder.isEmpty || ofHolder < connection.token.streamsLimit else {
      throw CallRefusal(.limit, "There are too many streams with this token.")
    }
    var stream = CallStream(
      id: StreamID(trusted: CallName.random(using: &random)), connection: id, created: now.wall, description: description,
      layoutClasses: connection.token.layoutClasses)
    if isMuted, description.hasAudio {
      stream.isMuted = true
      stream.description.hasAudio = false
    }
    streams[stream.id] = stream
    connections[id]?.streams.append(stream.id)
    // Between peers no media comes here that would tell.
    if isRouted {
      withoutMedia[stream.id] = now.monotonic + CallLimits.firstMediaMilliseconds
    } else {
      announce(stream.id)
    }
    return stream
  }

  mutating func update(_ id: StreamID, _ change: StreamDescription.Change, by connection: ConnectionID) throws(CallRefusal) {
    guard let old = streams[id] else { throw .noStream }
    guard old.connection == connection else { throw CallRefusal(.forbidden, "The stream is another's.") }
    var stream = old
    stream.description.name = change.name ?? old.description.name
    stream.description.width = change.width ?? old.description.width
    stream.description.height = change.height ?? old.description.height
    stream.description.hasVideo = change.hasVideo ?? old.description.hasVideo
    stream.description.hasAudio = change.hasAudio ?? old.description.hasAudio
    if stream.description.hasAudio { stream.isMuted = false }
    streams[id] = stream
    changed(from: old)
    if change.width != nil || change.height != nil { applyPreferences(to: id) }
  }

  /// Tells router and others what is different about a stream.
  mutating func changed(from old: CallStream) {
    guard let new = streams[old.id] else { return }
    let (was, now) = (old.description, new.description)
    if was.hasAudio != now.hasAudio, let track = new.audio { tell(.mute(track.id, !now.hasAudio), ofTrack: track) }
    if was.hasVideo != now.hasVideo, let track = new.video { tell(.mute(track.id, !now.hasVideo), ofTrack: track) }
    guard new.isAnnounced, was != now || old.isMuted != new.isMuted else { return }
    let message = Self.message("stream_changed") { writer in
      writer.member("stream", new.id)
      if was.name != now.name { writer.member("name", now.name) }
      if was.hasAudio != now.hasAudio { writer.member("has_audio", now.hasAudio) }
      if was.hasVideo != now.hasVideo { writer.member("has_video", now.hasVideo) }
      if was.width != now.width { writer.member("width", now.width) }
      if was.height != now.height { writer.member("height", now.height) }
      if old.isMuted != new.isMuted { writer.member("muted", new.isMuted) }
    }
    sayToAll(except: new.connection, message)
    if was.hasVideo != now.hasVideo { tellOfVideo(new, now.hasVideo) }
  }

  /// Subscribers see a picture end or begin by its publisher's will.
  private mutating func tellOfVideo(_ stream: CallStream, _ hasVideo: Bool) {
    for subscription in subscriptions.values where subscription.stream == stream.id && !subscription.isAudio {
      sayVideo(hasVideo, of: stream.id, "publisher", to: subscription.connection)
    }
  }

  mutating func sayVideo(_ isEnabled: Bool, of stream: StreamID, _ reason: StaticString, to connection: ConnectionID) {
    say(
      Self.message(isEnabled ? "video_enabled" : "video_disabled") { writer in
        writer.member("stream", stream)
        writer.member("reason", reason.description)
      }, to: connection)
  }

  mutating func unpublish(_ id: StreamID, by connection: ConnectionID) throws(CallRefusal) {
    guard let stream = streams[id] else { throw .noStream }
    if stream.connection == connection { return destroy(id, .unpublished) }
    guard let role = connections[connection]?.role, role.allows(.moderate) else {
      throw CallRefusal(.forbidden, "The stream is another's.")
    }
    destroy(id, .forced)
  }

  /// A place of the session's is not for what never comes. Who is looked for may still send it, and who has switched both sides off sends nothing.
  mutating func endWithoutMedia(_ id: StreamID, _ now: CallTime) {
    guard let stream = streams[id], lost[stream.connection] == nil, stream.description.hasAudio || stream.description.hasVideo
    else {
      withoutMedia[id] = now.monotonic + CallLimits.firstMediaMilliseconds
      return
    }
    destroy(id, .noMedia)
  }

  /// Others may subscribe to it from now on.
  mutating func announce(_ id: StreamID) {
    guard let stream = streams[id], !stream.isAnnounced else { return }
    withoutMedia[id] = nil
    streams[id]?.isAnnounced = true
    if let connection = connections[stream.connection] {
      add(.happened(SessionEvent(what: .streamCreated(stream), connection: connection)))
    }
    if isAlwaysRecorded, recording == nil, isRouted { add(.wantsRecording(RecordingRequest(starts: true))) }
    sayToAll(
      except: stream.connection,
      Self.message("stream_created") {
        $0.key("stream"); streams[id]?.write(to: &$0)
      })
  }

  mutating func destroy(_ id: StreamID, _ end: StreamEnd) {
    guard let stream = streams[id] else { return }
    withdraw(id, end)
    if let peer = connections[stream.connection]?.peer {
      for (mid, section) in peer.sections {
        if case .publish(id, _) = section.use { connections[stream.connection]?.peer?.sections[mid] = nil }
      }
    }
    streams[id] = nil
    withoutMedia[id] = nil
    connections[stream.connection]?.streams.removeAll { $0 == id }
    // What others have done, or the server, the publisher is told too.
    if end == .forced || end == .noMedia { sayDestroyed(id, end, to: [stream.connection]) }
  }

  /// Takes the media of a stream away, and with it the stream from the others; its publisher may send it anew.
  mutating func withdraw(_ id: StreamID, _ end: StreamEnd) {
    guard let stream = streams[id] else { return }
    for (name, subscription) in subscriptions where subscription.stream == id { unsubscribe(name) }
    for connection in Array(connections.keys) { connections[connection]?.preferences[id] = nil }
    for track in stream.tracks {
      tracks[track.id] = nil
      tell(.unpublish(track.id), ofTrack: track)
    }
    endRecording(of: id)
    streams[id]?.audio = nil
    streams[id]?.video = nil
    guard stream.isAnnounced else { return }
    streams[id]?.isAnnounced = false
    tellDestroyed(stream, end)
    sayDestroyed(id, end, to: connections.keys.filter { $0 != stream.connection })
  }

  /// For the application's server.
  mutating func tellDestroyed(_ stream: CallStream, _ end: StreamEnd) {
    guard let connection = connections[stream.connection] else { return }
    add(.happened(SessionEvent(what: .streamDestroyed(stream, end), connection: connection)))
  }

  private mutating func sayDestroyed(_ id: StreamID, _ end: StreamEnd, to connections: [ConnectionID]) {
    let message = Self.message("stream_destroyed") { writer in
      writer.member("stream", id)
      writer.member("reason", end.rawValue)
    }
    for connection in connections { say(message, to: connection) }
  }
}
