/// A peer's offer: one bundled transport, and what it wants to send and receive on it. RFC 8829, RFC 9143.
package struct PeerOffer: Sendable {
  package let ufrag: String
  package let fingerprint: Fingerprint
  /// The peer waits for our handshake; otherwise it begins.
  package let isPassive: Bool
  /// One for each section of the offer, in order; nil for one that can only be refused.
  package let media: [MediaOffer?]
  private let description: SessionDescription

  /// What the router does with a section.
  package enum Choice: Sendable {
    case refuse
    /// Takes what the peer publishes, in this format.
    case receive(MediaOffer.Format)
    /// Sends to the peer, in this format; `stream` and `track` are what the browser shows as their IDs.
    case send(MediaOffer.Format, ssrc: UInt32, rtxSSRC: UInt32?, stream: String, track: String)
  }

  /// - Throws: `SDPError`.
  package init(_ text: String) throws(SDPError) {
    let description = try SessionDescription(text)
    let media = description.sections.map { MediaOffer($0) }
    // Of a bundle the first section's transport counts; attributes may stand above all sections.
    let first = description.sections.first
    func find(_ name: String) -> String? {
      first?[name] ?? description.attributes.first { $0.name == name }?.value
    }
    guard let ufrag = find("ice-ufrag"), (4...256).contains(ufrag.utf8.count),
      let fingerprint = find("fingerprint").flatMap({ Fingerprint($0) })
    else { throw .unsupported }
    let bundled =
      description.attributes.filter { $0.name == "group" }.compactMap(\.value)
      .first { $0.hasPrefix("BUNDLE") }?.split(separator: " ").dropFirst().map(String.init) ?? []
    let mids = media.compactMap { $0?.mid }
    guard mids.count <= 1 || mids.allSatisfy(bundled.contains), Set(mids).count == mids.count else { throw .unsupported }
    isPassive = find("setup") == "passive"
    self.ufrag = ufrag
    self.fingerprint = fingerprint
    self.description = description
    self.media = media
  }

  /// The answer of an ICE-lite agent. RFC 8829 §5.3, RFC 8839 §5.3.
  ///
  /// - Parameters:
  ///   - choices: one for each section.
  ///   - candidates: where the router listens, the best first; not empty.
  package func answer(
    _ choices: [Choice], credentials: ICECredentials, fingerprint: Fingerprint, candidates: [TransportAddress], number: UInt64
  ) -> String {
    precondition(choices.count == media.count && !candidates.isEmpty)
    var answer = SessionDescription()
    let writer = AnswerWriter(
      credentials: credentials, fingerprint: fingerprint, candidates: candidates, isActive: isPassive)
    var bundled: [String] = []
    for (i, choice) in choices.enumerated() {
      let section = writer.section(description.sections[i], media[i], choice)
      if section.port != 0, let mid = media[i]?.mid { bundled.append(mid) }
      answer.sections.append(section)
    }
    answer.attributes = [.init("ice-lite"), .init("group", "BUNDLE " + bundled.joined(separator: " "))]
    answer.attributes.append(.init("msid-semantic", " WMS *"))
    return answer.text(address: candidates[0].ip.description, number: number)
  }
}
