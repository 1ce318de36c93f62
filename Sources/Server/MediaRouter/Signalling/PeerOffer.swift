/// A peer's offer: one bundled transport, and what it wants to send and receive on it. The first one, or a later one that changes what it
/// sends and receives. RFC 8829, RFC 9143.
package struct PeerOffer: Sendable {
  /// What tells the peer connection from others of the same peer.
  package struct Identity: Sendable, Equatable {
    package let fingerprint: Fingerprint
    package var ufrag: String
    package let number: String?
  }

  package let identity: Identity
  /// What our checks of it are sealed with.
  package let password: String
  /// The peer waits for our handshake; otherwise it begins.
  package let isPassive: Bool
  /// One for each section of the offer, in order; nil for one that can only be refused.
  package let media: [MediaOffer?]
  private let description: SessionDescription

  /// What the router does with a section.
  package enum Choice: Sendable {
    /// Stops the section; a later offer may use its place for something else. RFC 8829 §5.2.2.
    case refuse
    /// Keeps it for later; nothing is sent either way.
    case rest
    /// Takes what the peer publishes, in this format.
    case receive(MediaOffer.Format)
    /// Sends to the peer, in this format; `stream` and `track` are what the browser shows as their IDs.
    case send(MediaOffer.Format, ssrc: UInt32, rtxSSRC: UInt32?, stream: String, track: String)
  }

  /// - Throws: `SDPError`; `unsupported` also where all sections are stopped, as no transport is left then.
  package init(_ text: String) throws(SDPError) {
    let description = try SessionDescription(text)
    let allowsMixed = description.attributes.contains { $0.name == MediaOffer.allowsMixed }
    let media = description.sections.map { MediaOffer($0, allowsMixed: allowsMixed) }
    let bundle =
      description.attributes.filter { $0.name == "group" }.compactMap(\.value)
      .first { $0.hasPrefix("BUNDLE") }?.split(separator: " ").dropFirst().map(String.init) ?? []
    // Of a bundle the transport of the first named section counts: the first of all may be stopped. Attributes may stand above all sections.
    let tagged = description.sections.first { section in section["mid"].map { bundle.first == $0 } ?? false }
    func find(_ name: String) -> String? {
      (tagged ?? description.sections.first)?[name] ?? description.attributes.first { $0.name == name }?.value
    }
    guard media.contains(where: { $0 != nil }), let ufrag = find("ice-ufrag"), (4...256).contains(ufrag.utf8.count),
      let password = find("ice-pwd"), (22...256).contains(password.utf8.count),
      let fingerprint = find("fingerprint").flatMap({ Fingerprint($0) })
    else { throw .unsupported }
    let mids = media.compactMap { $0?.mid }
    let bundled = Set(bundle)
    guard mids.count <= 1 || mids.allSatisfy(bundled.contains), Set(mids).count == mids.count else { throw .unsupported }
    isPassive = find("setup") == "passive"
    identity = Identity(fingerprint: fingerprint, ufrag: ufrag, number: description.number)
    self.password = password
    self.description = description
    self.media = media
  }

  /// The answer of an ICE-lite agent. RFC 8829 §5.3, RFC 8839 §5.3.
  ///
  /// - Parameters:
  ///   - choices: one for each section. What the offered direction does not allow is answered as `rest`.
  ///   - candidates: where the router listens, the best first; not empty.
  ///   - number: of the session, the same for all offers of a peer.
  ///   - version: 1 for the first answer, and one more for each that follows.
  ///   - isDTLSClient: of a living transport, the role that it has; nil for the first offer, which decides it.
  package func answer(
    _ choices: [Choice], credentials: ICECredentials, fingerprint: Fingerprint, candidates: [TransportAddress], number: UInt64,
    version: UInt64 = 1, isDTLSClient: Bool? = nil
  ) -> String {
    precondition(choices.count == media.count && !candidates.isEmpty)
    var answer = SessionDescription()
    let writer = AnswerWriter(
      credentials: credentials, fingerprint: fingerprint, candidates: candidates, isActive: isDTLSClient ?? isPassive)
    var bundled: [String] = []
    for (i, choice) in choices.enumerated() {
      var section = writer.section(description.sections[i], media[i], choice)
      if section.port != 0, let mid = media[i]?.mid {
        // One transport, one list of candidates. RFC 9143 §7.1.3.
        if bundled.isEmpty { section.attributes += writer.candidateLines }
        bundled.append(mid)
      }
      answer.sections.append(section)
    }
    answer.attributes = [.init("ice-lite")]
    if !bundled.isEmpty { answer.attributes.append(.init("group", "BUNDLE " + bundled.joined(separator: " "))) }
    if description.attributes.contains(.init(MediaOffer.allowsMixed)) {
      answer.attributes.append(.init(MediaOffer.allowsMixed))
    }
    answer.attributes.append(.init("msid-semantic", " WMS *"))
    return answer.text(address: candidates[0].ip.description, number: number, version: version)
  }
}

extension PeerOffer.Identity {
  /// Whether a later offer is of the same peer connection. All that a program makes may have one certificate (webrtcbin), some number each
  /// offer anew (aiortc), and a restart of ICE takes another ufrag.
  package func goesOn(in later: Self) -> Bool {
    fingerprint == later.fingerprint && (ufrag == later.ufrag || number == later.number)
  }
}
