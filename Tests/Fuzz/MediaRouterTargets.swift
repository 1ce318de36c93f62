#if DEBUG || FUZZING
  @testable import MediaRouter

  /// What the network may send to the media router, parser by parser.
  func fuzzSTUN(_ bytes: UnsafeRawBufferPointer) { MediaRouterFuzzing.stun(bytes) }
  func fuzzRTP(_ bytes: UnsafeRawBufferPointer) { MediaRouterFuzzing.rtp(bytes) }
  func fuzzRTCP(_ bytes: UnsafeRawBufferPointer) { MediaRouterFuzzing.rtcp(bytes) }
  func fuzzSRTP(_ bytes: UnsafeRawBufferPointer) { MediaRouterFuzzing.srtp(bytes) }
  func fuzzPayloads(_ bytes: UnsafeRawBufferPointer) { MediaRouterFuzzing.payload(bytes) }
  func fuzzSDP(_ bytes: UnsafeRawBufferPointer) { MediaRouterFuzzing.sdp(bytes) }

  private enum MediaRouterFuzzing {
    // MARK: STUN

    private static let stranger = HMACSHA1(key: Array("a password that no input knows".utf8))

    /// A message that is read can be written and read again; none is authentic.
    static func stun(_ bytes: UnsafeRawBufferPointer) {
      let span = bytes.bytes
      guard let message = STUNMessage(span) else { return }
      guard !message.isAuthentic(span, key: stranger) else { fatalError("nobody wrote this tag") }
      _ = message.hasFingerprint(span)
      var writer = STUNWriter(message.kind, transactionID: message.transactionID)
      if let username = message.username { writer.username(username) }
      if let priority = message.priority { writer.priority(priority) }
      if message.useCandidate { writer.useCandidate() }
      if let address = message.mappedAddress { writer.mappedAddress(address) }
      let written = writer.seal(key: stranger)
      guard let again = STUNMessage(written.span.bytes), again.isAuthentic(written.span.bytes, key: stranger),
        again.hasFingerprint(written.span.bytes), again.username == message.username, again.priority == message.priority,
        again.mappedAddress == message.mappedAddress, again.useCandidate == message.useCandidate
      else { fatalError("a message came back as another") }
    }

    // MARK: RTP and RTCP

    /// What a header says lies within its packet.
    static func rtp(_ bytes: UnsafeRawBufferPointer) {
      let span = bytes.bytes
      _ = DatagramKind(span)
      for isSealed in [true, false] {
        guard let header = RTPHeader(span, isSealed: isSealed) else { continue }
        guard header.payload.upperBound <= bytes.count, header.extensions.upperBound <= bytes.count else {
          fatalError("the header reaches beyond its packet")
        }
        guard var elements = HeaderExtensions(header) else { continue }
        while let element = elements.next(in: span) {
          guard element.id != 0, header.extensions.lowerBound <= element.value.lowerBound,
            element.value.upperBound <= header.extensions.upperBound
          else { fatalError("an element reaches beyond the extension") }
        }
      }
    }

    /// Feedback that is read can be written and read again.
    static func rtcp(_ bytes: UnsafeRawBufferPointer) {
      var reader = RTCPReader()
      while let packet = reader.next(in: bytes.bytes) {
        switch packet {
        case .transportFeedback(let feedback): check(feedback)
        case .nack(_, _, let lost): for pair in lost { pair.forEach { _ in } }
        default: break
        }
      }
    }

    private static func check(_ feedback: TransportFeedback) {
      var written: [UInt8] = []
      feedback.append(to: &written)
      guard let again = TransportFeedback(written.span.bytes), again.base == feedback.base, again.number == feedback.number
      else { fatalError("feedback cannot be read again") }
      // The reference has 24 bits and may wrap.
      func relative(_ arrivals: [Int64?]) -> [Int64?] {
        let first = arrivals.lazy.compactMap { $0 }.first ?? 0
        return arrivals.map { $0.map { $0 - first } }
      }
      guard relative(again.arrivals) == relative(feedback.arrivals) else { fatalError("feedback came back as other") }
    }

    // MARK: SRTP

    private static func master(_ profile: SRTPProfile) -> SRTPMaster {
      SRTPMaster(
        key: [UInt8](repeating: 0x5A, count: SRTPProfile.keyBytes), salt: [UInt8](repeating: 0xA5, count: profile.saltBytes))
    }

    /// The bytes as what came are not authentic; as what goes they come back, and with one bit changed they do not.
    ///
    /// The first two bytes choose the bit.
    static func srtp(_ bytes: UnsafeRawBufferPointer) {
      guard (2...1200).contains(bytes.count) else { return }
      let chosen = Int(bytes[0]) << 8 | Int(bytes[1])
      for profile in SRTPProfile.allCases {
        let receiver = SRTPReceiver(profile, master(profile), streamsLimit: 4)
        var copy = Array(bytes)
        let isOpen = copy.withUnsafeMutableBytes { receiver.open($0) != nil || receiver.openControl($0) != nil }
        guard !isOpen else { fatalError("nobody sealed this packet") }
        sealAndOpen(Array(bytes.dropFirst(2)), chosen, profile, receiver)
      }
    }

    private static func sealAndOpen(_ packet: [UInt8], _ chosen: Int, _ profile: SRTPProfile, _ receiver: SRTPReceiver) {
      guard let header = RTPHeader(packet.span.bytes, isSealed: true) else { return }
      let sender = SRTPSender(profile, master(profile))
      var sealed = packet + [UInt8](repeating: 0, count: profile.tagBytes)
      let count = sealed.withUnsafeMutableBytes {
        sender.seal(
          $0.baseAddress!, header: header.payload.lowerBound, count: packet.count, ssrc: header.ssrc,
          index: UInt64(header.sequenceNumber))
      }
      guard count == sealed.count else { fatalError("a tag of another length") }
      var forged = sealed
      forged[chosen % count] ^= 1 << (UInt8(truncatingIfNeeded: chosen >> 8) % 8)
      guard forged.withUnsafeMutableBytes({ receiver.open($0) }) == nil else { fatalError("a changed packet was opened") }
      guard sealed.withUnsafeMutableBytes({ receiver.open($0) }) == packet.count, Array(sealed.prefix(packet.count)) == packet
      else { fatalError("a packet came back as another") }
    }

    // MARK: Payloads

    /// The first byte chooses the codec. Of the dependency descriptor the next one says where a second one begins, which is read by the
    /// structure of the first.
    static func payload(_ bytes: UnsafeRawBufferPointer) {
      guard bytes.count > 2 else { return }
      let codecs: [Codec] = [.vp8, .vp9, .h264, .av1]
      let codec = codecs[Int(bytes[0] & 3)]
      let rest = UnsafeRawBufferPointer(rebasing: bytes[1...])
      if codec == .av1 { return descriptors(rest) }
      let description = codec.describe(rest.bytes, 0..<rest.count)
      guard !description.isKeyFrame || description.startsFrame else { fatalError("a key frame that does not start") }
      for case let field? in [description.pictureID, description.baseLayerIndex] {
        guard Int(field.offset) + field.bytes <= rest.count, field.value & ~field.mask == 0 else {
          fatalError("a field beyond the payload")
        }
      }
      var copy = Array(rest)
      copy.withUnsafeMutableBytes {
        description.rewrite($0, StreamRewriter.Output(index: 1, timestamp: 2, pictureID: 77, baseLayerIndex: 8))
      }
      let again = codec.describe(copy.span.bytes, 0..<copy.count)
      guard again.pictureID?.value == description.pictureID.map({ _ in 77 }), again.startsFrame == description.startsFrame,
        again.baseLayerIndex?.value == description.baseLayerIndex.map({ _ in 8 })
      else { fatalError("what was rewritten is read as something else") }
    }

    private static func descriptors(_ bytes: UnsafeRawBufferPointer) {
      let rest = bytes.bytes.extracting(1...)
      let position = min(Int(bytes[0]), rest.byteCount)
      let first = DependencyDescriptor(rest.extracting(..<position), structure: nil)
      _ = DependencyDescriptor(rest.extracting(position...), structure: first?.newStructure)
    }

    // MARK: SDP

    /// Each offer that can be read is answered section by section, and the answer can be read.
    static func sdp(_ bytes: UnsafeRawBufferPointer) {
      guard let offer = try? PeerOffer(String(decoding: bytes, as: UTF8.self)) else { return }
      for turn in 0..<3 {
        let choices = offer.media.map { choice($0, turn) }
        let text = offer.answer(
          choices, credentials: ICECredentials(ufrag: Array("ours".utf8), password: [UInt8](repeating: 97, count: 22)),
          fingerprint: offer.identity.fingerprint, candidates: [TransportAddress(high: 0, low: 0xFFFF_7F00_0001, port: 9)],
          number: 1)
        // The answer may be longer than what is taken as an offer.
        guard text.utf8.count <= SessionDescription.bytesLimit else { continue }
        guard let answer = try? SessionDescription(text), answer.sections.count == offer.media.count else {
          fatalError("the answer cannot be read")
        }
        for (section, media) in zip(answer.sections, offer.media) {
          guard section.port == 0 || section["mid"] == media?.mid else { fatalError("a section was answered by another name") }
        }
      }
    }

    private static func choice(_ media: MediaOffer?, _ turn: Int) -> PeerOffer.Choice {
      guard let media, let format = media.formats.first(where: { $0.codec != nil }) else { return .refuse }
      _ = media.trackParameters(format)
      _ = media.format(.h264, like: format.parameters)
      return switch turn {
      case 0: .rest
      case 1: .receive(format)
      default: .send(format, ssrc: 5, rtxSSRC: 6, stream: "s", track: "t")
      }
    }
  }
#endif
