import CPeerConnection
public import CallClient
import Dispatch
import Synchronization

/// Codecs and peer connections of GStreamer: VP8 and Opus are sent, VP8, VP9 and Opus decoded.
///
/// Effects and frames are done in order on a queue of the engine's own; what waits there for a description is bounded. Pictures are of one
/// size for all (no layers), at a rate that follows from their size.
public final class GStreamerEngine: MediaEngine {
  /// Frames that may wait while a description is made; more are dropped.
  static let waitingFramesLimit = 64
  /// A peer connection with more sections is replaced by a new one: webrtcbin does not use one twice, and the server takes 256.
  static let sectionsLimit = 128

  private let queue = DispatchQueue(label: "martlet.media")
  /// Only touched on the queue.
  private let state = QueueState()
  private let waitingFrames = Atomic(0)
  private let isClosed = Atomic(false)

  /// - Throws: `unsupported` where GStreamer or one of its plugins is not installed.
  public init() throws(CallError) {
    try GStreamer.start()
  }

  public func open(_ host: MediaHost) {
    queue.async { [state] in state.host = host }
  }

  public func perform(_ effect: MediaEffect) {
    queue.async { [state] in state.perform(effect) }
  }

  public func send(_ frame: VideoFrame, from source: SourceID) {
    enqueue { state in state.send(frame, from: source) }
  }

  public func send(_ frame: AudioFrame, from source: SourceID) {
    enqueue { state in state.send(frame, from: source) }
  }

  public func close() async {
    isClosed.store(true, ordering: .relaxed)
    await withCheckedContinuation { continuation in
      queue.async { [state] in
        state.close()
        continuation.resume()
      }
    }
  }

  private func enqueue(_ work: @escaping @Sendable (QueueState) -> Void) {
    guard !isClosed.load(ordering: .relaxed) else { return }
    guard waitingFrames.add(1, ordering: .relaxed).newValue <= Self.waitingFramesLimit else {
      waitingFrames.subtract(1, ordering: .relaxed)
      return
    }
    queue.async { [self] in
      waitingFrames.subtract(1, ordering: .relaxed)
      work(state)
    }
  }
}

/// What the engine holds. It belongs to the engine's queue, which guarantees that one thread at a time is in it.
final class QueueState: @unchecked Sendable {
  var host: MediaHost?
  private var peers: [PeerID: PeerConnection] = [:]
  private var sendings: [(source: SourceID, kind: TrackKind, peer: PeerID, section: SectionID)] = []

  func perform(_ effect: MediaEffect) {
    guard let host else { return }
    switch effect {
    case .capture, .release, .enable: break
    case .open(let peer, let servers):
      peers[peer] = PeerConnection(peer, servers, host)
    case .close(let peer):
      sendings.removeAll { $0.peer == peer }
      peers.removeValue(forKey: peer)?.close()
    case .send(let peer, let section, let source, let kind, _):
      guard let connection = peers[peer], connection.send(section, kind) else { return }
      sendings.append((source, kind, peer, section))
    case .receive(let peer, let section, let kind, _): peers[peer]?.receive(section, kind)
    case .stop(let peer, let section):
      sendings.removeAll { $0.peer == peer && $0.section == section }
      peers[peer]?.stop(section)
    // Sessions never hold; calls between two Matrix clients are not this engine's.
    case .hold: break
    case .describe(let peer, let round, let kind, let restartsICE, _):
      // webrtcbin cannot restart ICE: a new peer connection takes the place of this one.
      if let connection = peers[peer], !restartsICE, connection.sectionCount <= GStreamerEngine.sectionsLimit,
        let (sdp, mids) = connection.describe(kind)
      {
        host.report(.described(peer, round: round, sdp: sdp, mids))
      } else {
        host.report(.failed(peer, round: round))
      }
    case .setRemote(let peer, let round, let kind, let sdp):
      let isSet = peers[peer]?.setRemote(kind, sdp) ?? false
      host.report(isSet ? .remoteSet(peer, round: round) : .failed(peer, round: round))
    case .addCandidate(let peer, let candidate): peers[peer]?.add(candidate)
    case .attach(let peer, let mid, let stream): peers[peer]?.attach(mid, stream)
    case .detach(let peer, let stream): peers[peer]?.detach(stream)
    }
  }

  func send(_ frame: VideoFrame, from source: SourceID) {
    for sending in sendings where sending.source == source && sending.kind == .video {
      peers[sending.peer]?.push(frame, to: sending.section)
    }
  }

  func send(_ frame: AudioFrame, from source: SourceID) {
    for sending in sendings where sending.source == source && sending.kind == .audio {
      peers[sending.peer]?.push(frame, to: sending.section)
    }
  }

  func close() {
    for connection in peers.values { connection.close() }
    peers = [:]
    sendings = []
    host = nil
  }
}
