import CallCore
import JSON

/// As the objects that `Web/calls.js` reads.
extension MediaEffect {
  var message: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    write(to: &writer)
    writer.endObject()
    return writer.bytes
  }

  private func write(to writer: inout JSONWriter) {
    func begin(_ action: StaticString, peer: PeerID? = nil, _ writer: inout JSONWriter) {
      writer.key("do")
      writer.write(ByteString(stringLiteral: action))
      if let peer { writer.member("peer", Int64(peer)) }
    }
    switch self {
    case .capture(let source, let kind, let audio, let video):
      begin("capture", &writer)
      writer.member("source", Int64(source))
      writer.member("kind", kind == .camera ? "camera" as ByteString : kind == .screen ? "screen" : "microphone")
      writer.member("audio", audio)
      writer.member("video", video)
    case .release(let source):
      begin("release", &writer)
      writer.member("source", Int64(source))
    case .enable(let source, let kind, let isOn):
      begin("enable", &writer)
      writer.member("source", Int64(source))
      writer.member("kind", kind.name)
      writer.member("on", isOn)
    case .open(let peer, let servers):
      begin("open", peer: peer, &writer)
      writer.key("servers")
      writer.array { writer in
        for server in servers { server.write(to: &writer) }
      }
    case .close(let peer): begin("close", peer: peer, &writer)
    case .send(let peer, let section, let source, let kind, let receives):
      begin("send", peer: peer, &writer)
      writer.member("section", Int64(section))
      writer.member("source", Int64(source))
      writer.member("kind", kind.name)
      writer.member("receives", receives)
    case .receive(let peer, let section, let kind):
      begin("receive", peer: peer, &writer)
      writer.member("section", Int64(section))
      writer.member("kind", kind.name)
    case .stop(let peer, let section):
      begin("stop", peer: peer, &writer)
      writer.member("section", Int64(section))
    case .hold(let peer, let isOn):
      begin("hold", peer: peer, &writer)
      writer.member("on", isOn)
    case .describe(let peer, let round, let kind, let restartsICE, let milliseconds):
      begin("describe", peer: peer, &writer)
      writer.member("round", Int64(round))
      writer.member("kind", kind.name)
      writer.member("restarts", restartsICE)
      writer.member("gather", milliseconds)
    case .setRemote(let peer, let round, let kind, let sdp):
      begin("setRemote", peer: peer, &writer)
      writer.member("round", Int64(round))
      writer.member("kind", kind.name)
      writer.member("sdp", sdp)
    case .addCandidate(let peer, let candidate):
      begin("addCandidate", peer: peer, &writer)
      writer.key("candidate")
      candidate.write(to: &writer)
    case .attach(let peer, let mid, let stream):
      begin("attach", peer: peer, &writer)
      writer.member("mid", mid)
      writer.member("stream", stream)
    case .detach(let peer, let stream):
      begin("detach", peer: peer, &writer)
      writer.member("stream", stream)
    }
  }
}

extension TrackKind {
  fileprivate var name: ByteString { self == .audio ? "audio" : "video" }
}

extension DescriptionKind {
  fileprivate var name: ByteString { self == .offer ? "offer" : "answer" }
}

extension ICEServer {
  /// As WebRTC's `RTCIceServer`.
  fileprivate func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.key("urls")
      writer.array { writer in
        for url in urls { writer.write(url) }
      }
      if let username { writer.member("username", username) }
      if let credential { writer.member("credential", credential) }
    }
  }
}

extension MediaInput {
  /// What `Web/calls.js` tells, by the number of its kind there; nil for what is not known here.
  init?(_ json: JSON) {
    func number(_ key: StaticString) -> UInt32 { UInt32(truncatingIfNeeded: json[key]?.integer ?? 0) }
    func text(_ key: StaticString) -> ByteString { json[key]?.text ?? "" }
    let (peer, source, round) = (number("peer"), number("source"), number("round"))
    switch number("event") {
    case 1:
      self = .captured(
        source,
        CapturedMedia(
          stream: text("stream"), hasAudio: number("audio") != 0, hasVideo: number("video") != 0,
          width: Int64(number("width")), height: Int64(number("height"))))
    case 2: self = .captureFailed(source)
    case 3: self = .captureEnded(source)
    case 4:
      var mids: [SectionMID] = []
      if let listed = json["mids"] {
        for pair in listed.elements {
          guard let section = pair["section"]?.integer, let mid = pair["mid"]?.text else { continue }
          mids.append(SectionMID(SectionID(truncatingIfNeeded: section), mid))
        }
      }
      self = .described(peer, round: round, sdp: text("sdp"), mids)
    case 5: self = .remoteSet(peer, round: round)
    case 6: self = .failed(peer, round: round)
    case 7: self = .candidate(peer, json["candidate"].flatMap { ICECandidate($0) })
    case 8:
      let states: [ICEState] = [.checking, .connected, .disconnected, .failed]
      self = .ice(peer, states[Int(number("state") & 3)])
    case 9: self = .trackArrived(peer, mid: text("mid"), stream: text("stream"), number("video") != 0 ? .video : .audio)
    default: return nil
    }
  }
}
