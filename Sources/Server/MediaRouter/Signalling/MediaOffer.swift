/// What a peer's offer says of one media section. RFC 8829 §5.
package struct MediaOffer: Sendable, Equatable {
  package struct Format: Sendable, Equatable {
    package var payloadType: UInt8
    /// nil for a codec that the router does not know.
    package var codec: Codec?
    /// As in `a=rtpmap`, with clock rate and channels.
    package var encoding: String
    package var parameters: String?
    /// Of `AnswerWriter.feedback`, each once.
    package var feedback: [String] = []
    /// Of RTX that repairs this one. RFC 4588 §8.1.
    package var rtxPayloadType: UInt8?
  }

  package var mid: String
  package var isAudio: Bool
  package var sends: Bool
  package var receives: Bool
  package var formats: [Format]
  /// By name; unknown ones are left out.
  package var extensions: ExtensionIDs
  /// Layers in the order of `a=simulcast`; empty where there is no simulcast.
  package var rids: [String]
  /// `a=ssrc` and `a=ssrc-group:FID`: each media SSRC with that of its repair.
  package var sources: [Source]
  /// As offered, for an answer that leaves it out.
  let section: SessionDescription.Section

  package struct Source: Sendable, Equatable {
    package var ssrc: UInt32
    package var rtxSSRC: UInt32?
  }

  static let allowsMixed = "extmap-allow-mixed"

  /// nil for a section that is neither audio nor video, refused, or without a name.
  ///
  /// - Parameter allowsMixed: packets of one stream may have header extensions of both forms. RFC 8285 §6.
  init?(_ section: SessionDescription.Section, allowsMixed: Bool) {
    guard section.kind == "audio" || section.kind == "video", let mid = section["mid"], (1...16).contains(mid.utf8.count),
      section.port != 0 || section.has("bundle-only"), section.transport.hasSuffix("RTP/SAVPF")
    else { return nil }
    self.section = section
    self.mid = mid
    isAudio = section.kind == "audio"
    sends = !section.has("recvonly") && !section.has("inactive")
    receives = !section.has("sendonly") && !section.has("inactive")
    formats = Self.formats(section)
    extensions = Self.extensions(section)
    // A structure of layers is longer than the short form can say, and most packets have the short form.
    if !allowsMixed && !section.has(Self.allowsMixed) { extensions.dependencyDescriptor = 0 }
    rids = Self.rids(section)
    sources = Self.sources(section)
  }

  private static func formats(_ section: SessionDescription.Section) -> [Format] {
    let (encodings, parameters) = (values(section.all("rtpmap")), values(section.all("fmtp")))
    var feedback: [Substring: [String]] = [:]
    for line in section.all("rtcp-fb") {
      let (format, value) = split(line)
      // Each once, and only what there is an answer to: what is for all formats is copied to each.
      guard AnswerWriter.feedback.contains(value), !(feedback[format]?.contains(value) ?? false) else { continue }
      feedback[format, default: []].append(value)
    }
    var formats: [Format] = []
    var positions: [UInt8: Int] = [:]
    var repairs: [(repair: UInt8, repaired: UInt8)] = []
    for text in section.formats {
      guard let payloadType = UInt8(text), payloadType < 128, positions[payloadType] == nil,
        let encoding = encodings[text[...]]
      else { continue }
      let name = encoding.prefix { $0 != "/" }
      let own = parameters[text[...]]
      if name.lowercased() == "rtx", let repaired = own?.split(separator: "=").last.flatMap({ UInt8($0) }) {
        repairs.append((payloadType, repaired))
        continue
      }
      positions[payloadType] = formats.count
      let named = feedback[text[...]] ?? []
      formats.append(
        Format(
          payloadType: payloadType, codec: Codec(name: name), encoding: encoding, parameters: own,
          feedback: named + (feedback["*"] ?? []).filter { !named.contains($0) }))
    }
    for (repair, repaired) in repairs {
      if let i = positions[repaired] { formats[i].rtxPayloadType = repair }
    }
    return formats
  }

  /// Of `96 VP8/90000` what follows the number, by it. The first one counts.
  private static func values(_ lines: [String]) -> [Substring: String] {
    var values: [Substring: String] = [:]
    for line in lines {
      let (format, value) = split(line)
      if values[format] == nil { values[format] = value }
    }
    return values
  }

  private static func split(_ line: String) -> (format: Substring, value: String) {
    let format = line.prefix { $0 != " " }
    return (format, String(line[format.endIndex...].dropFirst()))
  }

  private static func extensions(_ section: SessionDescription.Section) -> ExtensionIDs {
    var identifiers = ExtensionIDs()
    for line in section.all("extmap") {
      let words = line.split(separator: " ")
      // `3/recvonly URI` says a direction too. One byte of ID, of which 15 is reserved.
      guard words.count >= 2, let id = UInt8(words[0].prefix { $0 != "/" }), (1...14).contains(id),
        let name = HeaderExtension(rawValue: String(words[1]))
      else { continue }
      identifiers[name] = id
    }
    return identifiers
  }

  /// RFC 8853 §5.1: `send a;b,c;~d`; of alternatives the first counts, a paused one as any.
  private static func rids(_ section: SessionDescription.Section) -> [String] {
    let words = (section["simulcast"] ?? "").split(separator: " ")
    guard let position = words.firstIndex(of: "send"), position + 1 < words.count else { return [] }
    let known = Set(section.all("rid").compactMap { $0.split(separator: " ").first.map(String.init) })
    let rids = words[position + 1].split(separator: ";").compactMap { alternatives -> String? in
      alternatives.split(separator: ",").first.map { String($0.first == "~" ? $0.dropFirst() : $0) }
    }
    return Array(rids.filter { known.contains($0) && $0.utf8.count <= 16 }.prefix(TrackParameters.layersLimit))
  }

  private static func sources(_ section: SessionDescription.Section) -> [Source] {
    var repairs: [UInt32: UInt32] = [:]
    for line in section.all("ssrc-group") {
      let words = line.split(separator: " ")
      guard words.count == 3, words[0] == "FID", let media = UInt32(words[1]), let repair = UInt32(words[2]) else { continue }
      repairs[media] = repair
    }
    var sources: [Source] = []
    var known = Set(repairs.values)
    for line in section.all("ssrc") {
      guard let ssrc = line.split(separator: " ").first.flatMap({ UInt32($0) }), known.insert(ssrc).inserted else { continue }
      sources.append(Source(ssrc: ssrc, rtxSSRC: repairs[ssrc]))
    }
    return sources
  }
}
