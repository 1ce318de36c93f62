import JSON
import Testing

@testable import CallCore

/// Cameras and peer connections that are none, strict about the order in which WebRTC lets things happen.
///
/// Its descriptions are lines: who made it, and `track MID STREAM` for each track it sends.
final class TestHost {
  final class Peer {
    enum State { case stable, haveLocalOffer, haveRemoteOffer }

    var state = State.stable
    var sections: [SectionID: (mid: String, source: SourceID?)] = [:]
    var attached: [String: String] = [:]
    var arrived: [String] = []
    /// The round of the offer that is being made.
    var offering: UInt32?
    var remoteName: String?
    var iceServers = 0
    var restarts = 0
    var isHeld = false
    var candidates: [String] = []
    var offers = 0
    /// Whether an offer was ever answered.
    var hasAgreed = false
  }

  let name: String
  let simulation: Simulation
  var peers: [PeerID: Peer] = [:]
  /// Captured, and whether sound and picture are sent.
  var captured: [SourceID: (audio: Bool, video: Bool)] = [:]
  /// Of all that were ever captured, those with a camera or a screen.
  private var withPicture: Set<SourceID> = []
  var failsToCapture = false
  var capturesAfter: ClosedRange<Int64> = 1...80
  var failsToDescribe = false
  /// In routed sessions a receiving section gets its track with the answer.
  var isRouted = false
  var emit: (MediaInput) -> Void = { _ in }
  /// Both sides have each other's description.
  var onStable: (PeerID, Peer) -> Void = { _, _ in }
  private var lastMID = 0

  init(_ name: String, _ simulation: Simulation) {
    self.name = name
    self.simulation = simulation
  }

  func carryOut(_ effect: MediaEffect) {
    switch effect {
    case .capture(let source, let kind, let audio, let video): capture(source, kind, audio, video)
    case .release(let source): captured[source] = nil
    case .enable(let source, let kind, let isOn):
      if kind == .audio { captured[source]?.audio = isOn } else { captured[source]?.video = isOn }
    case .open(let id, let servers):
      #expect(peers[id] == nil, "a peer is opened once")
      peers[id] = Peer()
      peers[id]?.iceServers = servers.count
    case .close(let id): peers[id] = nil
    case .send(let id, let section, let source, _, _):
      #expect(captured[source] != nil, "what is sent is captured")
      add(section, source, to: id)
    case .receive(let id, let section, _, _): add(section, nil, to: id)
    case .stop(let id, let section):
      #expect(peers[id]?.sections[section] != nil, "only what is there is stopped")
      peers[id]?.sections[section] = nil
    case .hold(let id, let isHeld): peers[id]?.isHeld = isHeld
    case .describe(let id, let round, let kind, let restartsICE, _): describe(id, round, kind, restartsICE)
    case .setRemote(let id, let round, let kind, let sdp): setRemote(id, round, kind, sdp.string)
    case .addCandidate(let id, let candidate): peers[id]?.candidates.append(candidate.candidate.string)
    case .attach(let id, let mid, let stream): peers[id]?.attached[mid.string] = stream.string
    case .detach(let id, let stream): peers[id]?.attached = peers[id]?.attached.filter { $0.value != stream.string } ?? [:]
    }
  }

  private func capture(_ source: SourceID, _ kind: CaptureKind, _ audio: Bool, _ video: Bool) {
    let before = captured[source]
    let addsCamera = !audio && video && !withPicture.contains(source)
    #expect(before == nil || addsCamera, "a source is captured once, or its camera is added")
    simulation.after(simulation.between(capturesAfter.lowerBound, capturesAfter.upperBound)) { [self] in
      if failsToCapture { return emit(.captureFailed(source)) }
      if before != nil, captured[source] == nil { return }
      let audio = before?.audio ?? audio
      captured[source] = (audio, video)
      if video { withPicture.insert(source) }
      let stream = ByteString("\(name)-\(source)")
      emit(
        .captured(
          source,
          CapturedMedia(stream: stream, hasAudio: audio, hasVideo: video, width: video ? 640 : 0, height: video ? 480 : 0)))
    }
  }

  private func add(_ section: SectionID, _ source: SourceID?, to id: PeerID) {
    lastMID += 1
    peers[id]?.sections[section] = ("\(name)\(lastMID)", source)
  }

  private func describe(_ id: PeerID, _ round: UInt32, _ kind: DescriptionKind, _ restartsICE: Bool) {
    guard let peer = peers[id] else { return }
    #expect(peer.offering == nil || kind == .answer, "one offer at a time")
    if kind == .offer { peer.offering = round }
    if restartsICE { peer.restarts += 1 }
    simulation.after(simulation.between(1, 60)) { [self] in
      guard let peer = peers[id] else { return }
      if failsToDescribe {
        peer.offering = nil
        return emit(.failed(id, round: round))
      }
      if kind == .offer, peer.offering != round {
        // Taken back already, but the host says all the same that it was made.
        return emit(.described(id, round: round, sdp: ByteString(text(of: id, peer)), mids(of: peer)))
      }
      switch kind {
      case .offer:
        peer.offering = nil
        peer.state = .haveLocalOffer
        peer.offers += 1
      case .answer:
        #expect(peer.state == .haveRemoteOffer, "an answer needs an offer")
        peer.state = .stable
        peer.hasAgreed = true
      }
      emit(.described(id, round: round, sdp: ByteString(text(of: id, peer)), mids(of: peer)))
      if kind == .answer { onStable(id, peer) }
    }
  }

  private func mids(of peer: Peer) -> [SectionMID] {
    peer.sections.sorted { $0.key < $1.key }.map { SectionMID($0.key, ByteString($0.value.mid)) }
  }

  /// So much longer is what it describes.
  var padding = 0

  private func text(of id: PeerID, _ peer: Peer) -> String {
    var text = "v=0\nname \(name)/\(id)\na=\(peer.isHeld ? "inactive" : "sendrecv")\n"
    for (_, section) in peer.sections.sorted(by: { $0.key < $1.key }) {
      if let source = section.source { text += "track \(section.mid) \(name)-\(source)\n" }
    }
    return text + String(repeating: "p", count: padding)
  }

  private func setRemote(_ id: PeerID, _ round: UInt32, _ kind: DescriptionKind, _ sdp: String) {
    guard let peer = peers[id] else { return }
    switch kind {
    case .offer:
      let takesBack = peer.state == .haveLocalOffer || peer.offering != nil
      #expect(peer.hasAgreed || !takesBack, "Chromium gathers no candidates after the first offer was taken back")
      peer.state = .haveRemoteOffer
      peer.offering = nil
    case .answer: #expect(peer.state == .haveLocalOffer, "an answer needs an own offer")
    }
    simulation.after(simulation.between(1, 30)) { [self] in
      guard let peer = peers[id] else { return }
      if kind == .answer {
        peer.state = .stable
        peer.hasAgreed = true
      }
      arrive(id, peer, sdp)
      emit(.remoteSet(id, round: round))
      if kind == .answer, let now = peers[id] { onStable(id, now) }
    }
  }

  private func arrive(_ id: PeerID, _ peer: Peer, _ sdp: String) {
    var tracks: [(String, String)] = []
    for line in sdp.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      if words.first == "name" { peer.remoteName = words[1] }
      if words.first == "track" { tracks.append((words[1], words[2])) }
    }
    if isRouted { for section in peer.sections.values where section.source == nil { tracks.append((section.mid, "")) } }
    for (mid, stream) in tracks where !peer.arrived.contains(mid) {
      peer.arrived.append(mid)
      emit(.trackArrived(id, mid: ByteString(mid), stream: ByteString(stream), .audio))
    }
  }
}
