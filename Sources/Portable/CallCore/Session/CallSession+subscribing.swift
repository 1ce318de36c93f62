import JSON

/// Which streams arrive here.
extension CallSession {
  mutating func subscribe(_ stream: ByteString, _ id: CommandID) {
    // The server would refuse the whole offer, with what is published in it.
    guard connection?.role != .publisherOnly else { return finish(id, CallRefusal("forbidden")) }
    guard let i = streams.firstIndex(where: { $0.id == stream }) else { return finish(id, CallRefusal("not_found")) }
    setSubscribed(i, true)
    finish(id)
  }

  mutating func unsubscribe(_ stream: ByteString, _ id: CommandID) {
    guard let i = streams.firstIndex(where: { $0.id == stream }) else { return finish(id, CallRefusal("not_found")) }
    setSubscribed(i, false)
    finish(id)
  }

  mutating func setSubscribed(_ i: Int, _ isSubscribed: Bool) {
    guard streams[i].isSubscribed != isSubscribed else { return }
    let stream = streams[i].id
    streams[i].isSubscribed = isSubscribed
    streams[i].videoDisabled = nil
    effects.append(.change(.stream(stream)))
    if isSubscribed { return receiveWhatIsThere(i) }
    for link in links {
      guard link.remote == nil || link.remote == streams[i].connection else { continue }
      effects.append(.media(.detach(link.peer, stream: stream)))
    }
    for i in links.indices { links[i].negotiation.stop(stream: stream) }
  }

  /// Sections for what the stream has by now. A peer of a relayed session sends all of its streams by itself.
  mutating func receiveWhatIsThere(_ i: Int) {
    let stream = streams[i]
    guard stream.isSubscribed else { return }
    if isRelayed { return attachKnown(stream) }
    // Sessions carry no other sound.
    if stream.hasAudio { receive(.audio, "opus", stream.id) }
    if stream.hasVideo { receive(.video, stream.videoCodec, stream.id) }
  }

  private mutating func receive(_ kind: TrackKind, _ codec: ByteString, _ stream: ByteString) {
    let link = routerLink()
    if !links[link].negotiation.hasSection(kind, stream: stream) {
      links[link].negotiation.receive(kind, codec: codec, stream: stream)
    }
  }

  mutating func prefer(_ stream: ByteString, _ preference: StreamPreference, _ id: CommandID) {
    guard let i = streams.firstIndex(where: { $0.id == stream }) else { return finish(id, CallRefusal("not_found")) }
    // The view asks at each change of its layout, and requests have a rate limit.
    guard preference != streams[i].preference else { return finish(id) }
    streams[i].preference = preference
    request("prefer", .plain, id) { writer in
      writer.member("stream", stream)
      if let width = preference.width { writer.member("width", width) }
      if let height = preference.height { writer.member("height", height) }
      if let frameRate = preference.frameRate { writer.member("frame_rate", frameRate) }
      writer.member("audio", preference.audio)
      writer.member("video", preference.video)
    }
  }
}
