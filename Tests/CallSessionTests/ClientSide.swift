import JSON

@testable import CallCore

/// A client's side of a session, with a host whose cameras and peer connections are none: bytes in, bytes out.
final class ClientSide {
  var open: (_ socket: UInt32) -> Void = { _ in }
  var say: (_ socket: UInt32, [UInt8]) -> Void = { _, _ in }
  var close: (_ socket: UInt32) -> Void = { _ in }
  private(set) var signals: [String] = []
  private(set) var refusals: [String] = []

  private struct Peer {
    var sections: [(id: SectionID, kind: String, direction: String)] = []
    var restarts = 0
  }

  private var session: CallSession
  private var now: Int64 = 0
  private var wakeAt: Int64?
  private var peers: [PeerID: Peer] = [:]
  /// What the host tells once it has its turn.
  private var inputs: [SessionInput] = []
  private var isHandling = false
  private var lastCommand: CommandID = 0

  init(seed: UInt64) { session = CallSession(randomSeed: seed) }

  // MARK: In

  func connect(_ role: String) { command(.connect(CallToken(ByteString(role)), session: "1_test")) }
  func signal(_ text: String) { command(.signal(kind: "n", data: ByteString(text), to: nil)) }

  /// Publishes under this source, or ends that.
  func toggle(_ source: UInt32) {
    if session.publication(source) != nil { return command(.unpublish(source)) }
    command(.publish(source, source % 2 == 0 ? .screen : .camera, name: "n", audio: source % 2 == 1, video: true))
  }

  func opened(_ socket: UInt32) { put(.socketOpened(socket)) }
  func hear(_ bytes: [UInt8], on socket: UInt32) { put(.text(socket, bytes)) }
  func lose(_ socket: UInt32) { put(.socketClosed(socket)) }

  func pass(_ milliseconds: Int64) {
    now += milliseconds
    if let at = wakeAt, at <= now { put(.time) }
  }

  private func command(_ command: SessionCommand) {
    lastCommand += 1
    put(.command(command, id: lastCommand))
  }

  private func put(_ input: SessionInput) {
    inputs.append(input)
    guard !isHandling else { return }
    isHandling = true
    while !inputs.isEmpty {
      for effect in session.handle(inputs.removeFirst(), now: now) { carryOut(effect) }
    }
    isHandling = false
  }

  private func carryOut(_ effect: SessionEffect) {
    switch effect {
    case .openSocket(let socket): open(socket)
    case .sendText(let socket, let text): say(socket, text.bytes)
    case .closeSocket(let socket): close(socket)
    case .media(let effect): carryOut(effect)
    case .wake(let at): wakeAt = at
    case .change(.signal(let signal)): signals.append(signal.data.string)
    case .change(.finished(_, let refusal)): if let refusal { refusals.append(refusal.code.string) }
    case .change: break
    }
  }

  // MARK: The host

  private func carryOut(_ effect: MediaEffect) {
    switch effect {
    case .capture(let source, _, let audio, let video):
      let media = CapturedMedia(stream: "m", hasAudio: audio, hasVideo: video, width: 640, height: 480)
      inputs.append(.media(.captured(source, media)))
    case .open(let peer, _): peers[peer] = Peer()
    case .close(let peer): peers[peer] = nil
    case .send(let peer, let id, _, let kind, _): add(id, kind, "sendonly", to: peer)
    case .receive(let peer, let id, let kind, _): add(id, kind, "recvonly", to: peer)
    case .stop(let peer, let id):
      if let i = peers[peer]?.sections.firstIndex(where: { $0.id == id && $0.direction != "inactive" }) {
        peers[peer]?.sections[i].direction = "inactive"
      }
    case .describe(let peer, let round, _, let restartsICE, _):
      if restartsICE { peers[peer]?.restarts += 1 }
      guard let described = peers[peer] else { return }
      let mids = described.sections.enumerated().filter { $1.direction != "inactive" }
        .map { SectionMID($1.id, ByteString("\($0)")) }
      inputs.append(.media(.described(peer, round: round, sdp: ByteString(Self.offer(described, peer)), mids)))
    case .setRemote(let peer, let round, _, _): inputs.append(.media(.remoteSet(peer, round: round)))
    case .release, .enable, .hold, .addCandidate, .attach, .detach: break
    }
  }

  private func add(_ id: SectionID, _ kind: TrackKind, _ direction: String, to peer: PeerID) {
    peers[peer]?.sections.append((id, kind == .audio ? "audio" : "video", direction))
  }

  private static func offer(_ peer: Peer, _ number: PeerID) -> String {
    var lines = ["v=0", "o=- \(number) 1 IN IP4 127.0.0.1", "s=-", "t=0 0"]
    lines.append("a=group:BUNDLE " + peer.sections.indices.map(String.init).joined(separator: " "))
    for (mid, section) in peer.sections.enumerated() {
      let format = section.kind == "audio" ? (111, "opus/48000/2") : (96, "VP8/90000")
      lines += [
        "m=\(section.kind) 9 UDP/TLS/RTP/SAVPF \(format.0)", "c=IN IP4 0.0.0.0", "a=mid:\(mid)", "a=\(section.direction)"
      ]
      lines += ["a=ice-ufrag:u\(number)x\(peer.restarts)", "a=ice-pwd:0123456789012345678901", "a=setup:actpass", "a=rtcp-mux"]
      lines.append("a=fingerprint:sha-256 " + Array(repeating: "CD", count: 32).joined(separator: ":"))
      lines.append("a=rtpmap:\(format.0) \(format.1)")
    }
    return lines.joined(separator: "\r\n") + "\r\n"
  }

  // MARK: What it knows

  var isConnected: Bool { session.state == .connected }
  var id: String { session.connection?.id.string ?? "" }

  /// Its own, too.
  var roles: [String: String] {
    let all = session.connections + [session.connection].compactMap { $0 }
    return Dictionary(uniqueKeysWithValues: all.map { ($0.id.string, "\($0.role)".lowercased()) })
  }

  /// The publisher of each stream, the own ones included.
  var streams: [String: String] {
    var streams = Dictionary(uniqueKeysWithValues: session.streams.map { ($0.id.string, $0.connection.string) })
    for publication in session.publications { if let stream = publication.stream { streams[stream.string] = id } }
    return streams
  }

  /// The sounds and pictures that are to come.
  var subscriptions: [String] {
    session.streams.filter(\.isSubscribed).flatMap { stream in
      Array(repeating: stream.id.string, count: (stream.hasAudio ? 1 : 0) + (stream.hasVideo ? 1 : 0))
    }.sorted()
  }
}
