import CPeerConnection
import CallClient
import Glibc
import Synchronization

/// One peer connection of GStreamer. Used on the engine's queue only; what it hears comes on threads of GStreamer's.
final class PeerConnection {
  private var peer: OpaquePointer?
  private let listener: PeerListener
  private var sections: [SectionID] = []
  private var directions = SectionDirections()

  init(_ id: PeerID, _ servers: [ICEServer], _ host: MediaHost) {
    listener = PeerListener(id, host)
    // Kept until `close`: C holds no reference.
    let context = Unmanaged.passUnretained(listener).toOpaque()
    let callbacks = peer_listener(
      context: context, ice_changed: iceChanged, candidate_found: candidateFound, track_arrived: trackArrived,
      failed: peerFailed)
    let stun = servers.lazy.flatMap(\.urls).compactMap { ICEAddress($0.string)?.stun }.first
    let relays = servers.flatMap { server in server.urls.compactMap { ICEAddress($0.string)?.relay(server) } }
    var texts = relays.map { strdup($0) }
    defer { for text in texts { free(text) } }
    texts.append(nil)
    peer = texts.withUnsafeBufferPointer { texts in
      texts.withMemoryRebound(to: UnsafePointer<CChar>?.self) { peer_open(stun, $0.baseAddress, callbacks) }
    }
  }

  deinit { close() }

  func close() {
    if let peer { peer_close(peer) }
    peer = nil
  }

  /// That were ever made.
  var sectionCount: Int { peer.map { Int(peer_section_count($0)) } ?? 0 }

  func send(_ section: SectionID, _ kind: TrackKind) -> Bool {
    guard let peer, peer_send(peer, section, kind == .audio ? 1 : 0, kind == .audio ? 40_000 : 1_000_000) == 0 else {
      return false
    }
    sections.append(section)
    return true
  }

  func receive(_ section: SectionID, _ kind: TrackKind) {
    guard let peer, peer_receive(peer, section, kind == .audio ? 1 : 0) == 0 else { return }
    sections.append(section)
  }

  func stop(_ section: SectionID) {
    sections.removeAll { $0 == section }
    guard let peer else { return }
    if let mid = mid(of: section) { directions.stop(mid) }
    peer_stop(peer, section)
  }

  /// nil where it cannot be made.
  func describe(_ kind: DescriptionKind) -> (sdp: ByteString, mids: [SectionMID])? {
    guard let peer, let text = peer_describe(peer, kind == .offer ? 1 : 0) else { return nil }
    defer { free(text) }
    let mids = sections.compactMap { section in mid(of: section).map { SectionMID(section, $0) } }
    return (directions.outgoing(ByteString(String(cString: text))), mids)
  }

  /// nil before it is in a description.
  private func mid(of section: SectionID) -> ByteString? {
    guard let peer, let mid = peer_mid(peer, section) else { return nil }
    defer { free(mid) }
    return ByteString(String(cString: mid))
  }

  func setRemote(_ kind: DescriptionKind, _ sdp: ByteString) -> Bool {
    guard let peer, !sdp.utf8.contains(0) else { return false }
    let told = (kind == .answer ? directions.incoming(sdp) : sdp).string
    guard peer_set_remote(peer, kind == .offer ? 1 : 0, told) == 0 else { return false }
    // Of what the other side said, as in what is told here sections send that are over.
    if let sources = SDPSections(sdp).sources {
      Array(sources).withUnsafeBufferPointer { peer_expect(peer, $0.baseAddress, $0.count) }
    } else {
      peer_expect_any(peer)
    }
    return true
  }

  func add(_ candidate: ICECandidate) {
    // GStreamer knows places, not names; in a bundle all are at the first.
    guard let peer, !candidate.candidate.isEmpty, !candidate.candidate.utf8.contains(0) else { return }
    peer_add_candidate(peer, UInt32(clamping: candidate.lineIndex ?? 0), candidate.candidate.string)
  }

  func attach(_ mid: ByteString, _ stream: ByteString) { listener.streams.withLock { $0[mid] = stream } }

  func detach(_ stream: ByteString) {
    listener.streams.withLock { streams in
      for (mid, attached) in streams where attached == stream { streams[mid] = nil }
    }
  }

  func push(_ frame: VideoFrame, to section: SectionID) {
    guard let peer else { return }
    frame.withPicture { picture in withUnsafePointer(to: picture) { peer_push_picture(peer, section, $0) } }
  }

  func push(_ frame: AudioFrame, to section: SectionID) {
    guard let peer else { return }
    frame.withSound { sound in withUnsafePointer(to: sound) { peer_push_sound(peer, section, $0) } }
  }
}

/// What a peer connection tells, and whose media arrives in which section.
private final class PeerListener: Sendable {
  let id: PeerID
  let host: MediaHost
  let streams = Mutex<[ByteString: ByteString]>([:])
  private let tracks = Mutex<[TrackTaker]>([])

  init(_ id: PeerID, _ host: MediaHost) {
    self.id = id
    self.host = host
  }

  static func of(_ context: UnsafeMutableRawPointer?) -> PeerListener? {
    context.map { Unmanaged<PeerListener>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Kept as long as this one, and so longer than GStreamer's threads.
  func taker(of mid: ByteString) -> TrackTaker {
    let taker = TrackTaker(mid, self)
    tracks.withLock { $0.append(taker) }
    return taker
  }
}

/// The frames of one section on their way to a sink.
private final class TrackTaker: Sendable {
  let mid: ByteString
  unowned let listener: PeerListener

  init(_ mid: ByteString, _ listener: PeerListener) {
    self.mid = mid
    self.listener = listener
  }

  static func of(_ context: UnsafeMutableRawPointer?) -> TrackTaker? {
    context.map { Unmanaged<TrackTaker>.fromOpaque($0).takeUnretainedValue() }
  }

  var stream: ByteString? { listener.streams.withLock { $0[mid] } }

  private let lastTime = Mutex(Int64.min)

  /// After the one before: packets that come in bursts are due at one time.
  func time(_ due: Int64) -> Int64 {
    lastTime.withLock { last in
      last = max(due, last == .max ? last : last + 1)
      return last
    }
  }
}

private func iceChanged(_ context: UnsafeMutableRawPointer?, _ state: peer_ice_state) {
  guard let listener = PeerListener.of(context) else { return }
  let states: [(peer_ice_state, ICEState)] = [
    (PEER_ICE_CHECKING, .checking), (PEER_ICE_CONNECTED, .connected), (PEER_ICE_DISCONNECTED, .disconnected),
    (PEER_ICE_FAILED, .failed)
  ]
  for (known, told) in states where known == state { listener.host.report(.ice(listener.id, told)) }
}

private func candidateFound(_ context: UnsafeMutableRawPointer?, _ line: UInt32, _ candidate: UnsafePointer<CChar>?) {
  guard let listener = PeerListener.of(context), let candidate else { return }
  let found = ICECandidate(candidate: ByteString(String(cString: candidate)), mid: nil, lineIndex: Int64(line))
  listener.host.report(.candidate(listener.id, found))
}

private func trackArrived(_ context: UnsafeMutableRawPointer?, _ mid: UnsafePointer<CChar>?, _ isAudio: Int32) -> media_taker {
  guard let listener = PeerListener.of(context), let mid else { return media_taker() }
  let name = ByteString(String(cString: mid))
  let taker = listener.taker(of: name)
  listener.host.report(.trackArrived(listener.id, mid: name, stream: "", isAudio != 0 ? .audio : .video))
  return media_taker(context: Unmanaged.passUnretained(taker).toOpaque(), picture: pictureArrived, sound: soundArrived)
}

private func peerFailed(_ context: UnsafeMutableRawPointer?, _ trouble: UnsafePointer<CChar>?) {
  guard let listener = PeerListener.of(context) else { return }
  listener.host.report(.ice(listener.id, .failed))
}

private func pictureArrived(_ context: UnsafeMutableRawPointer?, _ picture: UnsafePointer<media_picture>?) {
  guard let taker = TrackTaker.of(context), let picture, let stream = taker.stream,
    let sink = taker.listener.host.videoSink(stream), var frame = VideoFrame(picture.pointee)
  else { return }
  frame.timestampMicroseconds = taker.time(frame.timestampMicroseconds)
  sink.take(frame)
}

private func soundArrived(_ context: UnsafeMutableRawPointer?, _ sound: UnsafePointer<media_sound>?) {
  guard let taker = TrackTaker.of(context), let sound, let stream = taker.stream,
    let sink = taker.listener.host.audioSink(stream), var frame = AudioFrame(sound.pointee)
  else { return }
  frame.timestampMicroseconds = taker.time(frame.timestampMicroseconds)
  sink.take(frame)
}
