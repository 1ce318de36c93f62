import CallCore
import JSON

/// As the objects that `Web/calls.js` reads.
extension MediaEffect {
  public var message: [UInt8] {
    var fields = Fields()
    fill(&fields)
    return fields.bytes
  }

  /// What the effects have, each some of it.
  private struct Fields {
    var action: ByteString = ""
    var peer: PeerID?
    var source: SourceID?
    var section: SectionID?
    var round: UInt32?
    var kind: ByteString?
    var isOn: Bool?
    var texts: [(name: ByteString, text: ByteString)] = []
    var raw: (name: ByteString, json: [UInt8])?

    var bytes: [UInt8] {
      var writer = JSONWriter()
      writer.beginObject()
      writer.member("do", action)
      for (name, number) in [("peer" as ByteString, peer), ("source", source), ("section", section), ("round", round)] {
        guard let number else { continue }
        writer.key(name)
        writer.write(Int64(number))
      }
      if let kind { writer.member("kind", kind) }
      if let isOn { writer.member("on", isOn) }
      for (name, text) in texts {
        writer.key(name)
        writer.write(text)
      }
      if let raw {
        writer.key(raw.name)
        writer.raw(raw.json)
      }
      writer.endObject()
      return writer.bytes
    }
  }

  private func fill(_ fields: inout Fields) {
    switch self {
    case .capture(let source, let kind, let audio, let video):
      switch kind {
      case .camera: fields.action = "openCamera"
      case .screen: fields.action = "openScreen"
      case .microphone: fields.action = "openMicrophone"
      case .custom: fields.action = "openGiven"
      }
      fields.source = source
      fields.kind = video ? audio ? "both" : "video" : "audio"
    case .release(let source): (fields.action, fields.source) = ("release", source)
    case .enable(let source, let kind, let isOn):
      (fields.action, fields.source, fields.kind, fields.isOn) = ("enable", source, kind.name, isOn)
    case .open(let peer, let servers):
      (fields.action, fields.peer) = ("open", peer)
      var writer = JSONWriter()
      writer.array { writer in
        for server in servers { server.write(to: &writer) }
      }
      fields.raw = ("servers", writer.bytes)
    case .close(let peer): (fields.action, fields.peer) = ("close", peer)
    case .send(let peer, let section, let source, let kind, let receives):
      (fields.action, fields.peer, fields.section, fields.source) = ("send", peer, section, source)
      (fields.kind, fields.isOn) = (kind.name, receives)
    case .receive(let peer, let section, let kind, let codec):
      (fields.action, fields.peer, fields.section, fields.kind) = ("receive", peer, section, kind.name)
      fields.texts = [("codec", codec)]
    case .stop(let peer, let section): (fields.action, fields.peer, fields.section) = ("stop", peer, section)
    case .hold(let peer, let isOn): (fields.action, fields.peer, fields.isOn) = ("hold", peer, isOn)
    case .describe(let peer, let round, let kind, let restartsICE, let milliseconds):
      (fields.action, fields.peer, fields.round, fields.kind) = ("describe", peer, round, kind.name)
      (fields.isOn, fields.section) = (restartsICE, SectionID(clamping: milliseconds))
    case .setRemote(let peer, let round, let kind, let sdp):
      (fields.action, fields.peer, fields.round, fields.kind) = ("setRemote", peer, round, kind.name)
      fields.texts = [("sdp", sdp)]
    case .addCandidate(let peer, let candidate):
      (fields.action, fields.peer) = ("addCandidate", peer)
      var writer = JSONWriter()
      candidate.write(to: &writer)
      fields.raw = ("candidate", writer.bytes)
    case .attach(let peer, let mid, let stream):
      (fields.action, fields.peer) = ("attach", peer)
      fields.texts = [("mid", mid), ("stream", stream)]
    case .detach(let peer, let stream):
      (fields.action, fields.peer) = ("detach", peer)
      fields.texts = [("stream", stream)]
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
  public init?(_ json: JSON) {
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
          guard let section = pair.integer("section"), let mid = pair.text("mid") else { continue }
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
