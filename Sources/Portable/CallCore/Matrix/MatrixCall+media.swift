import JSON
import MatrixModel

/// Camera, microphone, screen, and the peer connection of a call.
extension MatrixCall {
  /// Captures what is not there yet, and goes on when it is.
  mutating func capture(_ source: SourceID, audio: Bool, video: Bool) {
    guard local.isEmpty else { return mediaIsThere() }
    local.append(LocalMedia(source: source, purpose: .userMedia))
    effects.append(.media(.capture(source, video ? .camera : .microphone, audio: audio, video: video)))
  }

  mutating func captured(_ source: SourceID, _ media: CapturedMedia) {
    guard let i = local.firstIndex(where: { $0.source == source }) else { return }
    if local[i].media != nil { return cameraOpened(i, media) }
    local[i].media = media
    changed()
    if local[i].purpose == .userMedia { return mediaIsThere() }
    send(local[i])
  }

  mutating func captureFailed(_ source: SourceID) {
    guard let media = local.first(where: { $0.source == source }) else { return }
    if media.purpose == .screenShare { return stopScreen() }
    guard media.media == nil else { return cameraFailed(source) }
    end(.mediaFailed, telling: state == .preparing ? nil : "user_media_failed")
  }

  /// Own camera and microphone are open: the invite or the answer can be made.
  private mutating func mediaIsThere() {
    guard let media = local.first, media.media != nil, negotiation == nil else { return }
    effects.append(.media(.enable(media.source, .audio, !media.isAudioMuted)))
    effects.append(.media(.enable(media.source, .video, !media.isVideoMuted)))
    negotiation = Negotiation(
      peer: handle, iceServers: iceServers, isPolite: !isOutgoing, gatherMilliseconds: CallLimits.gatherMilliseconds)
    negotiation?.mayOffer = isOutgoing
    send(media)
    if let offer {
      _ = negotiation?.offered(offer)
      addEarlyCandidates()
    }
  }

  private mutating func send(_ local: LocalMedia) {
    guard let media = local.media else { return }
    if media.hasAudio { negotiation?.send(local.source, .audio, stream: media.stream, receives: true) }
    if media.hasVideo { negotiation?.send(local.source, .video, stream: media.stream, receives: true) }
  }

  // MARK: What is sent

  mutating func mute(audio: Bool?, video: Bool?) {
    guard !local.isEmpty else { return }
    local[0].isAudioMuted = audio ?? local[0].isAudioMuted
    local[0].isVideoMuted = video ?? local[0].isVideoMuted
    if let audio { effects.append(.media(.enable(local[0].source, .audio, !audio))) }
    if let video { effects.append(.media(.enable(local[0].source, .video, !video))) }
    if video == false, canOpenCamera { openCamera() }
    changed()
    tellMetadata()
  }

  /// Whether `mute` can open a camera in a call that began without: the descriptions of version 0 are final.
  public var canOpenCamera: Bool {
    guard state == .connected, !isVersion0, let media = local.first else { return false }
    return media.purpose == .userMedia && media.media != nil && !media.hasPicture && !media.isCameraOpening
  }

  private mutating func openCamera() {
    local[0].isCameraOpening = true
    effects.append(.media(.capture(local[0].source, .camera, audio: false, video: true)))
  }

  /// The picture joins the stream that the other side knows.
  private mutating func cameraOpened(_ i: Int, _ media: CapturedMedia) {
    guard media.hasVideo, !local[i].hasPicture else { return }
    local[i].isCameraOpening = false
    local[i].media = media
    effects.append(.media(.enable(local[i].source, .video, !local[i].isVideoMuted)))
    negotiation?.send(local[i].source, .video, stream: media.stream, receives: true)
    changed()
  }

  private mutating func cameraFailed(_ source: SourceID) {
    guard let i = local.firstIndex(where: { $0.source == source && $0.isCameraOpening }) else { return }
    local[i].isCameraOpening = false
    changed()
  }

  mutating func hold(_ isOn: Bool) {
    guard isAnswered, !isVersion0, isOn != isOnHold else { return }
    isOnHold = isOn
    effects.append(.media(.hold(handle, isOn)))
    negotiation?.touch()
    changed()
  }

  mutating func shareScreen(_ source: SourceID) {
    guard state == .connected, hasMetadata, !isVersion0, !local.contains(where: { $0.purpose == .screenShare }) else {
      return
    }
    local.append(LocalMedia(source: source, purpose: .screenShare))
    effects.append(.media(.capture(source, .screen, audio: true, video: true)))
    changed()
  }

  mutating func stopScreen() {
    guard let i = local.firstIndex(where: { $0.purpose == .screenShare }) else { return }
    let screen = local.remove(at: i)
    if let media = screen.media { negotiation?.stop(stream: media.stream) }
    effects.append(.media(.release(screen.source)))
    changed()
  }

  // MARK: What comes

  /// `sdp_stream_metadata`, where it is there.
  mutating func learn(_ json: JSON?) {
    guard let json, json.isObject else { return }
    hasMetadata = true
    let known = remote
    remote = RemoteMedia.list(json)
    for media in known where !remote.contains(where: { $0.stream == media.stream }) {
      effects.append(.media(.detach(handle, stream: media.stream)))
    }
    for track in tracks where !known.contains(where: { $0.stream == track.stream }) { attach(track) }
    changed()
  }

  mutating func trackArrived(_ mid: ByteString, _ stream: ByteString) {
    guard !stream.isEmpty, !isEnded else { return }
    tracks.removeAll { $0.mid == mid }
    guard tracks.count < CallLimits.sections else { return }
    let track = PeerLink.ArrivingSection(mid: mid, stream: stream, hasTrack: true)
    tracks.append(track)
    if !hasMetadata, remote.isEmpty { remote = [RemoteMedia(stream: stream, purpose: .userMedia)] }
    attach(track)
  }

  /// Streams that nothing is said about are ignored; of a side that says nothing the first is taken. Spec: "Streams".
  private mutating func attach(_ track: PeerLink.ArrivingSection) {
    guard remote.contains(where: { $0.stream == track.stream }) else { return }
    effects.append(.media(.attach(handle, mid: track.mid, stream: track.stream)))
    changed()
  }

  mutating func iceChanged(_ ice: ICEState) {
    watch.changed(ice, now: now)
    guard isAnswered else { return }
    if ice == .connected {
      let wasInterrupted = isInterrupted
      connectBy = nil
      negotiation?.mayOffer = !isVersion0
      if wasInterrupted { changed() }
      if state == .connected { return }
      state = .connected
      changed()
      tellMetadata()
    } else if ice != .checking, state == .connected, !isInterrupted {
      connectBy = now + CallLimits.interruptionMilliseconds
      changed()
    }
  }
}
