import Addresses
@testable import MediaRouter
import Testing
import TimeTesting

@Suite struct OfferTests {
  private static let fingerprint = "sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":")
  private static let sendTime = HeaderExtension.sendTime.rawValue

  /// What a browser sends: sound, a picture of three layers, data.
  private static let offer = """
    v=0
    o=- 46 2 IN IP4 127.0.0.1
    s=-
    t=0 0
    a=group:BUNDLE 0 1 2
    m=audio 9 UDP/TLS/RTP/SAVPF 111 63
    c=IN IP4 0.0.0.0
    a=ice-ufrag:abcd
    a=ice-pwd:0123456789012345678901
    a=fingerprint:\(fingerprint)
    a=setup:actpass
    a=mid:0
    a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
    a=sendrecv
    a=rtcp-mux
    a=rtpmap:111 opus/48000/2
    a=fmtp:111 minptime=10;useinbandfec=1
    a=rtpmap:63 red/48000/2
    a=ssrc:1111 cname:x
    m=video 9 UDP/TLS/RTP/SAVPF 96 97 102 103 104
    c=IN IP4 0.0.0.0
    a=mid:1
    a=extmap:2/sendonly \(sendTime)
    a=extmap:3 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id
    a=extmap:15 urn:ietf:params:rtp-hdrext:sdes:mid
    a=sendonly
    a=rtcp-mux
    a=rtcp-rsize
    a=rtpmap:96 VP8/90000
    a=rtcp-fb:96 goog-remb
    a=rtcp-fb:96 nack
    a=rtcp-fb:96 nack pli
    a=rtcp-fb:* transport-cc
    a=rtcp-fb:96 x-unknown
    a=rtpmap:97 rtx/90000
    a=fmtp:97 apt=96
    a=rtpmap:102 H264/90000
    a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42e01f
    a=rtpmap:103 H264/90000
    a=fmtp:103 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=4d001f
    a=rtpmap:104 H264/90000
    a=fmtp:104 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f
    a=rid:h send
    a=rid:m send
    a=rid:l send
    a=simulcast:send l;m,x;~h
    m=application 9 UDP/DTLS/SCTP webrtc-datachannel
    c=IN IP4 0.0.0.0
    a=mid:2
    """

  private static let credentials = ICECredentials(
    ufrag: Array("ufrag".utf8), password: Array("passwordpasswordpassword".utf8))

  @Test func aPeerConnectionIsKnownByItsCertificateAndItsUfragOrNumber() throws {
    func identity(_ number: String, _ ufrag: String, _ fingerprint: String = Self.fingerprint) throws -> PeerOffer.Identity {
      let text = Self.offer.split(separator: "\n").filter { !$0.hasPrefix("o=") }.joined(separator: "\n")
        .replacing("v=0", with: "v=0\no=- \(number) 2 IN IP4 127.0.0.1")
        .replacing("a=ice-ufrag:abcd", with: "a=ice-ufrag:\(ufrag)")
        .replacing(Self.fingerprint, with: fingerprint)
      return try PeerOffer(text).identity
    }
    let first = try identity("7", "abcd")
    #expect(first.number == "7" && first.ufrag == "abcd")
    #expect(try first.goesOn(in: identity("7", "efgh")), "ICE was restarted")
    #expect(try first.goesOn(in: identity("8", "abcd")), "numbered each offer anew")
    #expect(try !first.goesOn(in: identity("8", "efgh")))
    #expect(try !first.goesOn(in: identity("7", "abcd", Self.fingerprint.replacing("AB", with: "CD"))))
  }

  @Test func whatAnOfferSaysMoreThanOnceOrInVainIsNotKept() throws {
    let many = (0..<100).map { "\na=rtcp-fb:* x\($0)\na=rtcp-fb:* nack" }.joined()
    let offer = try PeerOffer(Self.offer.replacing("a=rtcp-fb:96 x-unknown", with: "a=rtcp-fb:96 x-unknown" + many))
    let format = try #require(offer.media[1]?.format(.vp8))
    #expect(format.feedback.count == Set(format.feedback).count && format.feedback.contains("nack"))
    #expect(format.feedback.allSatisfy(AnswerWriter.feedback.contains))
    let twice = try PeerOffer(Self.offer.replacing("SAVPF 96", with: "SAVPF 96 96 96 96"))
    #expect(twice.media[1]?.formats.count == offer.media[1]?.formats.count)
  }

  // Proves Q11
  @Test func anOfferIsRead() throws {
    let offer = try PeerOffer(Self.offer)
    #expect(offer.identity.ufrag == "abcd")
    #expect(offer.identity.fingerprint.description == Self.fingerprint)
    #expect(!offer.isPassive)
    #expect(offer.media.count == 3 && offer.media[2] == nil)
    let audio = try #require(offer.media[0])
    #expect(audio.isAudio && audio.sends && audio.receives)
    #expect(audio.extensions.audioLevel == 1)
    #expect(audio.sources == [MediaOffer.Source(ssrc: 1111)])
    let video = try #require(offer.media[1])
    #expect(video.sends && !video.receives)
    #expect(video.rids == ["l", "m", "h"])
    #expect(video.extensions.sendTime == 2 && video.extensions.streamID == 3 && video.extensions.mid == 0)
    let format = try #require(video.format(.vp8))
    #expect(format.rtxPayloadType == 97)
    #expect(format.feedback.contains("nack pli") && format.feedback.contains("transport-cc"))
  }

  @Test func aFormatOfH264IsChosenByItsProfile() throws {
    let video = try #require(try PeerOffer(Self.offer).media[1])
    #expect(video.format(.h264)?.payloadType == 103)
    #expect(video.format(.h264, like: "profile-level-id=42e028;packetization-mode=1")?.payloadType == 104)
    #expect(video.format(.h264, like: "profile-level-id=640028")?.payloadType == 103)
    #expect(video.format(.av1) == nil)
  }

  @Test func theTrackHasWhatTheOfferSays() throws {
    let video = try #require(try PeerOffer(Self.offer).media[1])
    let track = try #require(video.trackParameters(video.format(.vp8)!))
    #expect(track.payloadType == 96 && track.rtxPayloadType == 97)
    #expect(track.layers.map(\.rid) == ["l", "m", "h"].map { Array($0.utf8) })
    #expect(track.hasNack && track.hasPictureLoss && track.hasTransportFeedback && track.hasReceiverEstimate)
  }

  @Test func aSubscriberTellsArrivalsOrEstimatesItself() throws {
    let transport = "a=extmap:4 \(HeaderExtension.transportSequence.rawValue)\na=extmap:2/sendonly"
    for hasFeedback in [true, false] {
      var text = Self.offer.replacing("a=extmap:2/sendonly", with: transport)
      if !hasFeedback { text = text.replacing("a=rtcp-fb:* transport-cc\n", with: "") }
      let video = try #require(try PeerOffer(text).media[1])
      let subscription = video.subscriptionParameters(try #require(video.format(.vp8)), ssrc: 1, rtxSSRC: 2)
      #expect(subscription.extensions.transportSequence == (hasFeedback ? 4 : 0))
      #expect(subscription.extensions.sendTime == (hasFeedback ? 0 : 2))
    }
  }

  @Test func layersAreDescribedOnlyWhereBothFormsOfExtensionsMayCome() throws {
    let descriptor = "a=extmap:5 \(HeaderExtension.dependencyDescriptor.rawValue)\na=extmap:2/sendonly"
    let text = Self.offer.replacing("a=extmap:2/sendonly", with: descriptor)
    #expect(try PeerOffer(text).media[1]?.extensions.dependencyDescriptor == 0)
    let mixed = [
      text.replacing("t=0 0", with: "t=0 0\na=extmap-allow-mixed"),
      text.replacing("a=mid:1", with: "a=mid:1\na=extmap-allow-mixed")
    ]
    for (i, text) in mixed.enumerated() {
      let offer = try PeerOffer(text)
      #expect(offer.media[1]?.extensions.dependencyDescriptor == 5)
      let answer = try SessionDescription(
        offer.answer(
          [.refuse, .receive(try #require(offer.media[1]?.format(.vp8))), .refuse], credentials: Self.credentials,
          fingerprint: offer.identity.fingerprint, candidates: [TransportAddress(IPAddress("192.0.2.7")!, port: 5000)],
          number: 9))
      #expect(answer.attributes.contains(.init("extmap-allow-mixed")) == (i == 0))
      #expect(answer.sections[1].has("extmap-allow-mixed") == (i == 1))
    }
  }

  // Proves M2
  @Test func theAnswerIsThatOfALiteAgent() throws {
    let offer = try PeerOffer(Self.offer)
    var addresses = ["192.0.2.7", "2001:db8::7"].map { TransportAddress(IPAddress($0)!, port: 5000) }
    addresses.append(TransportAddress(IPAddress("192.0.2.7")!, port: 5000, isStream: true))
    let format = try #require(offer.media[1]?.format(.vp8))
    let sound = try #require(offer.media[0]?.format(.opus))
    let text = offer.answer(
      [.send(sound, ssrc: 5, rtxSSRC: nil, stream: "s", track: "t"), .receive(format), .refuse],
      credentials: Self.credentials, fingerprint: offer.identity.fingerprint, candidates: addresses, number: 9)
    #expect(text.hasSuffix("\r\n") && text.utf8.count > 500)
    let answer = try SessionDescription(text)
    #expect(answer.attributes.contains(.init("ice-lite")))
    #expect(answer.attributes.contains(.init("group", "BUNDLE 0 1")))
    let (audio, video, data) = (answer.sections[0], answer.sections[1], answer.sections[2])
    #expect(audio.has("sendonly") && audio["msid"] == "s t" && audio.all("ssrc").first == "5 cname:martlet")
    #expect(video.formats == ["96", "97"] && video.has("recvonly") && video["setup"] == "passive")
    // The candidates of the one transport stand once, the better first.
    #expect(
      audio.all("candidate") == [
        "1 1 udp 2130706431 192.0.2.7 5000 typ host", "2 1 udp 2130706175 2001:db8::7 5000 typ host",
        "3 1 tcp 1520434687 192.0.2.7 5000 typ host tcptype passive"
      ])
    #expect(!video.has("candidate") && video["ice-ufrag"] == "ufrag")
    #expect(video.all("rid") == ["l recv", "m recv", "h recv"] && video["simulcast"] == "recv l;m;h")
    #expect(video.all("rtcp-fb").count == 4 && !video.all("rtcp-fb").contains("96 x-unknown"))
    #expect(video.all("extmap") == ["3 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id", "2 \(Self.sendTime)"])
    #expect(data.port == 0 && data["mid"] == "2")
  }

  @Test(arguments: [
    ("v=0", "v=1", SDPError.malformed), ("m=audio 9", "m=audio x", .malformed), ("a=mid:0", "a", .malformed),
    ("a=ice-ufrag:abcd", "a=ice-ufrag:abc", .unsupported), ("a=ice-pwd:0", "a=ice-pwd:", .unsupported),
    ("a=fingerprint:sha-256", "a=fingerprint:md5", .unsupported),
    ("a=group:BUNDLE 0 1 2", "a=group:BUNDLE 0 2", .unsupported), ("a=mid:1", "a=mid:0", .unsupported)
  ]) func offersThatCannotBeAnswered(_ old: String, _ new: String, _ error: SDPError) {
    #expect(throws: error) { try PeerOffer(Self.offer.replacing(old, with: new)) }
  }

  @Test func aSectionOfManyFormatsIsReadWhole() throws {
    let formats = (0..<SessionDescription.formatsLimit).map(String.init)
    var section = "m=video 9 UDP/TLS/RTP/SAVPF \(formats.joined(separator: " "))\na=mid:0\na=ice-ufrag:abcd\n"
    section +=
      "a=ice-pwd:0123456789012345678901\na=fingerprint:sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":")
      + "\n"
    section += formats.map { "a=rtpmap:\($0) VP8/90000\n" }.joined()
    section += formats.map { "a=rtcp-fb:\($0) nack\n" }.joined()
    section += (1...200).map { "a=ssrc:\($0) cname:x\n" }.joined()
    let offer = try PeerOffer("v=0\na=group:BUNDLE 0\n" + section)
    #expect(offer.media[0]?.formats.count == 128 && offer.media[0]?.formats.allSatisfy { $0.feedback == ["nack"] } == true)
    #expect(offer.media[0]?.sources.count == 200)
  }

  @Test func limitsHoldOnBothSides() throws {
    func sections(_ count: Int) -> String { "v=0\n" + String(repeating: "m=audio 9 X 0\n", count: count) }
    #expect(try SessionDescription(sections(SessionDescription.sectionsLimit)).sections.count == 256)
    #expect(throws: SDPError.tooLarge) { try SessionDescription(sections(SessionDescription.sectionsLimit + 1)) }
    func formats(_ count: Int) -> String { "v=0\nm=audio 9 X" + String(repeating: " 0", count: count) + "\n" }
    #expect(try SessionDescription(formats(SessionDescription.formatsLimit)).sections[0].formats.count == 128)
    #expect(throws: SDPError.tooLarge) { try SessionDescription(formats(SessionDescription.formatsLimit + 1)) }
    func attributes(_ count: Int) -> String { "v=0\n" + String(repeating: "a=x\n", count: count) }
    #expect(try SessionDescription(attributes(SessionDescription.attributesLimit)).attributes.count == 512)
    #expect(throws: SDPError.tooLarge) { try SessionDescription(attributes(SessionDescription.attributesLimit + 1)) }
    let long = "v=0\n" + String(repeating: "s=-\n", count: SessionDescription.bytesLimit / 4)
    #expect(throws: SDPError.tooLarge) { try SessionDescription(long) }
  }

  /// Two texts are the same where they mean the same, and of marks the order means nothing: to compare these took minutes.
  @Test func marksOnOneLetterTakeNoLongerThanLetters() throws {
    func text(_ marks: [String]) -> String {
      "v=0\na=x" + marks.map { String(repeating: $0, count: 120_000) }.joined() + "\nm=audio 9 X 0\n"
    }
    let plain = processorTime { _ = try? PeerOffer(text(["ab", "cd"])) }
    let marked = processorTime { _ = try? PeerOffer(text(["\u{301}", "\u{323}"])) }
    #expect(marked < plain * 20 + .seconds(1))
    #expect(try PeerOffer(Self.offer + "i=ü\n").media.count == PeerOffer(Self.offer).media.count)
  }

  @Test func noInputTraps() {
    attack(Array(Self.offer.utf8), rounds: 300) { _ = try? PeerOffer(String(decoding: $0, as: UTF8.self)) }
  }
}
