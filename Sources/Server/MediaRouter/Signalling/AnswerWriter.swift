/// Writes the sections of an answer.
struct AnswerWriter {
  typealias Attribute = SessionDescription.Attribute

  let credentials: ICECredentials
  let fingerprint: Fingerprint
  let candidates: [TransportAddress]
  /// We begin the handshake.
  let isActive: Bool

  /// Feedback that the router understands from a subscriber, or gives to a publisher.
  /// What the router does something with.
  static let feedback = ["nack", "nack pli", "ccm fir", "goog-remb", "transport-cc"]

  func section(
    _ offered: SessionDescription.Section, _ media: MediaOffer?, _ choice: PeerOffer.Choice
  ) -> SessionDescription.Section {
    guard let media else { return refused(offered) }
    switch choice {
    case .refuse: return refused(offered)
    case .receive(let format) where media.sends:
      var section = accepted(offered, media, format, "recvonly")
      if !media.rids.isEmpty {
        section.attributes += media.rids.map { Attribute("rid", $0 + " recv") }
        section.attributes.append(Attribute("simulcast", "recv " + media.rids.joined(separator: ";")))
      }
      return section
    case .send(let format, let ssrc, let rtxSSRC, let stream, let track) where media.receives:
      var section = accepted(offered, media, format, "sendonly")
      section.attributes.append(Attribute("msid", "\(stream) \(track)"))
      if let rtxSSRC { section.attributes.append(Attribute("ssrc-group", "FID \(ssrc) \(rtxSSRC)")) }
      for ssrc in [ssrc, rtxSSRC].compactMap({ $0 }) {
        section.attributes.append(Attribute("ssrc", "\(ssrc) cname:martlet"))
        section.attributes.append(Attribute("ssrc", "\(ssrc) msid:\(stream) \(track)"))
      }
      return section
    case .rest, .receive, .send:
      // An answer names a format even where nothing flows. RFC 3264 §6.1.
      guard let format = media.formats.first(where: { $0.codec != nil }) else { return refused(offered) }
      return accepted(offered, media, format, "inactive")
    }
  }

  /// RFC 8829 §5.3.1: the port 0.
  private func refused(_ offered: SessionDescription.Section) -> SessionDescription.Section {
    var section = offered
    section.port = 0
    section.formats = Array(offered.formats.prefix(1))
    section.attributes = [Attribute("inactive")]
    if let mid = offered["mid"] { section.attributes.append(Attribute("mid", mid)) }
    return section
  }

  private func accepted(
    _ offered: SessionDescription.Section, _ media: MediaOffer, _ format: MediaOffer.Format, _ direction: String
  ) -> SessionDescription.Section {
    let repair = format.rtxPayloadType
    var section = SessionDescription.Section(
      kind: offered.kind, port: Int(candidates[0].port), transport: offered.transport,
      formats: [format.payloadType, repair].compactMap { $0 }.map(String.init))
    section.attributes = [Attribute("mid", media.mid), Attribute(direction), Attribute("rtcp-mux")]
    if offered.has("rtcp-rsize") { section.attributes.append(Attribute("rtcp-rsize")) }
    if offered.has(MediaOffer.allowsMixed) { section.attributes.append(Attribute(MediaOffer.allowsMixed)) }
    section.attributes += transport
    for name in HeaderExtension.allCases where media.extensions[name] != 0 {
      section.attributes.append(Attribute("extmap", "\(media.extensions[name]) \(name.rawValue)"))
    }
    section.attributes.append(Attribute("rtpmap", "\(format.payloadType) \(format.encoding)"))
    if let parameters = format.parameters {
      section.attributes.append(Attribute("fmtp", "\(format.payloadType) \(parameters)"))
    }
    for name in format.feedback {
      section.attributes.append(Attribute("rtcp-fb", "\(format.payloadType) \(name)"))
    }
    if let repair {
      let clock = format.encoding.split(separator: "/").dropFirst().first ?? "90000"
      section.attributes.append(Attribute("rtpmap", "\(repair) rtx/\(clock)"))
      section.attributes.append(Attribute("fmtp", "\(repair) apt=\(format.payloadType)"))
    }
    return section
  }

  private var transport: [Attribute] {
    [
      Attribute("ice-ufrag", String(decoding: credentials.ufrag, as: UTF8.self)),
      Attribute("ice-pwd", String(decoding: credentials.password, as: UTF8.self)),
      Attribute("fingerprint", fingerprint.description), Attribute("setup", isActive ? "active" : "passive")
    ]
  }

  var candidateLines: [Attribute] {
    candidates.enumerated().map { i, candidate in
      // RFC 8445 §5.1.2.1: host candidates, the first preferred. RFC 6544 §4.2: by TCP less so, and 4 for one that waits.
      let priority =
        candidate.isStream ? 90 << 24 | (4 << 13 | max(0, 8_191 - i)) << 8 | 255 : 126 << 24 | max(0, 65_535 - i) << 8 | 255
      let start = "\(i + 1) 1 \(candidate.isStream ? "tcp" : "udp") \(priority)"
      let end = candidate.isStream ? " tcptype passive" : ""
      return Attribute("candidate", "\(start) \(candidate.ip) \(candidate.port) typ host" + end)
    } + [Attribute("end-of-candidates")]
  }
}
