import JSON

/// What is published here: captured, announced, and sent to the router or to each peer. The capture may begin before there is a connection.
extension CallSession {
  mutating func publish(
    _ source: SourceID, _ kind: CaptureKind, name: ByteString, audio: Bool, video: Bool, _ id: CommandID
  ) {
    guard publication(source) == nil, audio || video else { return finish(id, CallRefusal("invalid")) }
    guard publications.count < CallLimits.publications else { return finish(id, CallRefusal("limit")) }
    publications.append(
      Publication(source: source, kind: kind, name: name, hasAudio: audio, hasVideo: video, command: id))
    effects.append(.media(.capture(source, kind, audio: audio, video: video)))
    effects.append(.change(.publication(source)))
  }

  mutating func captured(_ source: SourceID, _ media: CapturedMedia) {
    guard let i = index(of: source), publications[i].state == .capturing else {
      if index(of: source) == nil { effects.append(.media(.release(source))) }
      return
    }
    publications[i].media = media
    if media.hasAudio, !publications[i].hasAudio { effects.append(.media(.enable(source, .audio, false))) }
    if media.hasVideo, !publications[i].hasVideo { effects.append(.media(.enable(source, .video, false))) }
    publications[i].hasAudio = publications[i].hasAudio && media.hasAudio
    publications[i].hasVideo = publications[i].hasVideo && media.hasVideo
    publications[i].state = .waiting
    effects.append(.change(.publication(source)))
    announce(source)
  }

  /// Tells the server of it, where that is still to do.
  mutating func announce(_ source: SourceID) {
    guard connection != nil, let i = index(of: source), publications[i].state == .waiting,
      publications[i].retryAt == nil, let media = publications[i].media
    else { return }
    publications[i].state = .publishing(request: wire.lastRequest + 1)
    let publication = publications[i]
    request("publish", .publish(source)) { writer in
      writer.key("stream")
      writer.beginObject()
      writer.member("name", publication.name)
      writer.member("has_audio", publication.hasAudio)
      writer.member("has_video", publication.hasVideo)
      if media.hasVideo {
        writer.member("video_type", publication.videoType)
        writer.member("width", media.width)
        writer.member("height", media.height)
      }
      writer.endObject()
    }
  }

  /// As another stream. Its path may be one on which media takes long to come through: what is captured stays.
  mutating func announceAnew(_ source: SourceID) {
    guard let i = index(of: source), let stream = publications[i].stream else { return }
    for i in links.indices { links[i].negotiation.stop(stream: stream) }
    publications[i].state = .waiting
    effects.append(.change(.publication(source)))
    announce(source)
  }

  /// The server's answer to `announce`.
  mutating func published(
    _ number: Int64, _ source: SourceID, _ stream: CallStream?, _ refusal: CallRefusal?, retryAfter: Int64?
  ) {
    guard let i = index(of: source), publications[i].state == .publishing(request: number) else {
      if let stream { request("unpublish") { $0.member("stream", stream.id) } }
      return
    }
    guard let stream else {
      if let retryAfter {
        publications[i].state = .waiting
        publications[i].retryAt = retryTime(retryAfter)
        return
      }
      finish(publications[i].command, refusal ?? CallRefusal("invalid"))
      return withdraw(source)
    }
    publications[i].state = .live(stream: stream.id)
    if stream.isMuted { silence(i) }
    let publication = publications[i]
    if stream.hasAudio != publication.hasAudio || stream.hasVideo != publication.hasVideo { tell(publication, 0) }
    finish(publication.command)
    effects.append(.change(.publication(source)))
    guard isRelayed else { return send(publication, on: routerLink()) }
    for other in connections where other.role != .publisherOnly {
      if let link = link(to: other.id) { send(publication, on: link) }
    }
  }

  mutating func update(_ source: SourceID, hasAudio: Bool?, hasVideo: Bool?, _ id: CommandID) {
    guard let i = index(of: source) else { return finish(id, CallRefusal("not_found")) }
    let media = publications[i].media
    if let hasAudio {
      publications[i].hasAudio = hasAudio && media?.hasAudio ?? true
      if hasAudio { publications[i].isMutedByForce = false }
      effects.append(.media(.enable(source, .audio, publications[i].hasAudio)))
    }
    if let hasVideo {
      publications[i].hasVideo = hasVideo && media?.hasVideo ?? true
      effects.append(.media(.enable(source, .video, publications[i].hasVideo)))
    }
    effects.append(.change(.publication(source)))
    if publications[i].stream == nil { finish(id) } else { tell(publications[i], id) }
  }

  /// By a moderator.
  mutating func silence(_ i: Int) {
    publications[i].isMutedByForce = true
    publications[i].hasAudio = false
    effects.append(.media(.enable(publications[i].source, .audio, false)))
    effects.append(.change(.publication(publications[i].source)))
  }

  private mutating func tell(_ publication: Publication, _ id: CommandID) {
    guard let stream = publication.stream else { return }
    request("update", .plain, id) { writer in
      writer.member("stream", stream)
      writer.member("has_audio", publication.hasAudio)
      writer.member("has_video", publication.hasVideo)
    }
  }

  mutating func unpublish(_ source: SourceID, _ id: CommandID) {
    guard let publication = publication(source) else { return finish(id, CallRefusal("not_found")) }
    withdraw(source)
    // Answers the publish command that still waits: its stream will not come.
    if id != 0, publication.stream == nil { finish(publication.command, CallRefusal("not_found")) }
    guard let stream = publication.stream else { return finish(id) }
    request("unpublish", .plain, id) { $0.member("stream", stream) }
  }

  /// It is over here, whatever the server knows.
  mutating func withdraw(_ source: SourceID) {
    guard let i = index(of: source) else { return }
    let publication = publications.remove(at: i)
    if let stream = publication.stream {
      for i in links.indices { links[i].negotiation.stop(stream: stream) }
    }
    effects.append(.media(.release(source)))
    effects.append(.change(.publication(source)))
  }

  mutating func captureFailed(_ source: SourceID) {
    guard let publication = publication(source) else { return }
    finish(publication.command, CallRefusal("media_failed"))
    unpublish(source, 0)
  }

  mutating func send(_ publication: Publication, on link: Int) {
    guard let stream = publication.stream, let media = publication.media else { return }
    if media.hasAudio { links[link].negotiation.send(publication.source, .audio, stream: stream) }
    if media.hasVideo { links[link].negotiation.send(publication.source, .video, stream: stream) }
  }

  private func index(of source: SourceID) -> Int? {
    publications.firstIndex { $0.source == source }
  }
}
