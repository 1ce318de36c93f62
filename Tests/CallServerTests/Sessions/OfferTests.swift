import JSON
import MediaRouter
import Testing

@testable import CallServer

@Suite struct OfferTests {
  private static let both = OfferText([("audio", "recvonly"), ("video", "recvonly")])

  private static func uses(_ stream: StreamID, _ use: String = "subscribe") -> String {
    #""0":{"\#(use)":"\#(stream)"},"1":{"\#(use)":"\#(stream)"}"#
  }

  /// Directions of an answer's sections; `-` for a stopped one.
  private static func directions(_ answer: JSON) -> [String] {
    let sections = (answer["sdp"]?.string ?? "").split(separator: "m=").dropFirst()
    return sections.map { section in
      if section.split(separator: " ").dropFirst().first == "0" { return "-" }
      let lines = section.split(whereSeparator: \.isNewline)
      return ["sendonly", "recvonly", "inactive"].first { lines.contains("a=\($0)") } ?? "?"
    }
  }

  // Proves M25
  @Test func `a stream is announced when its media arrives, to all but its publisher`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(), try fixture.connect())
    let answer = try fixture.ask(alice, "publish", #""stream":{"name":"n","video_type":"screen","width":640,"height":480}"#)
    let stream = try #require(StreamID(answer["stream"]?["id"]))
    let offer = OfferText([("audio", "sendonly"), ("video", "sendonly")])
    #expect(Self.directions(try fixture.offer(alice, offer.text, Self.uses(stream, "publish"))) == ["recvonly", "recvonly"])
    #expect(fixture.types(bob).isEmpty)
    let track = try #require(fixture.state.streams[stream]?.video)
    fixture.handle(.trackStarted(track.id))
    fixture.handle(.trackStarted(try #require(fixture.state.streams[stream]?.audio).id))
    let told = fixture.told(bob)
    #expect(told.map { $0["type"]?.string } == ["stream_created"])
    #expect(told[0]["stream"]?["video_type"]?.string == "screen" && told[0]["stream"]?["width"]?.integer == 640)
    // So that subscribers need not offer all existing codecs.
    #expect(told[0]["stream"]?["video_codec"]?.string == "VP8")
    #expect(!fixture.types(alice).contains("stream_created"))
  }

  @Test func `sixty cameras fit into one offer with all that browsers say, and the answer into one message`() throws {
    let fixture = SessionFixture()
    let streams = try (0..<60).map { _ in
      fixture.now.monotonic += 1_000
      return try fixture.publish(try fixture.connect())
    }
    let viewer = try fixture.connect(.subscriber)
    var offer = OfferText(streams.flatMap { _ in [("audio", "recvonly"), ("video", "recvonly")] })
    let extensions = HeaderExtension.allCases.enumerated().map { "a=extmap:\($0 + 1) \($1.rawValue)" }
    let profiles = (100...112).map {
      "a=fmtp:\($0) level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f"
    }
    offer.lines = extensions + profiles
    let uses = streams.enumerated().map {
      #""\#(2 * $0)":{"subscribe":"\#($1)"},"\#(2 * $0 + 1)":{"subscribe":"\#($1)"}"#
    }
    let answer = try fixture.offer(viewer, offer.text, uses.joined(separator: ","))
    #expect(offer.text.utf8.count > 200 << 10)
    #expect(Self.directions(answer) == Array(repeating: "sendonly", count: 120))
    #expect(answer.bytes.count > 64 << 10 && answer.bytes.count < CallLimits.offerMessageBytes)
  }

  @Test func `a stream without media gives its place back, and its publisher is told; one that had some stays`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(), try fixture.connect())
    let kept = try fixture.publish(alice)
    let answer = try fixture.ask(alice, "publish", #""stream":{}"#)
    let stream = try #require(StreamID(answer["stream"]?["id"]))
    _ = (fixture.told(alice), fixture.told(bob))
    fixture.pass(CallLimits.firstMediaMilliseconds - 1)
    #expect(fixture.state.streams[stream] != nil)
    // The one that was looked for may still send it.
    fixture.lose(alice)
    fixture.pass(1)
    let last = try #require(fixture.state.connections[alice.id]?.outbox.last)
    #expect(fixture.state.streams[stream] != nil && fixture.resume(alice, after: last))
    _ = fixture.told(alice)
    // The media of the other one is gone, but it had some.
    let transport = try #require(fixture.state.transports.first { $0.value == alice.id }?.key)
    fixture.handle(.ended(transport, .silence))
    _ = (fixture.told(alice), fixture.told(bob))
    #expect(fixture.state.deadline == fixture.now.monotonic + CallLimits.firstMediaMilliseconds)
    fixture.pass(CallLimits.firstMediaMilliseconds)
    let told = fixture.told(alice)
    #expect(told.map { $0["type"]?.string } == ["stream_destroyed"])
    #expect(StreamID(told[0]["stream"]) == stream && told[0]["reason"]?.string == "no_media")
    #expect(fixture.types(bob).isEmpty && fixture.state.deadline == nil)
    #expect(Array(fixture.state.streams.keys) == [kept] && fixture.state.connections[alice.id]?.streams == [kept])
  }

  @Test func `a stream whose sound and picture are off lacks no media until one is on`() throws {
    let fixture = SessionFixture()
    let alice = try fixture.connect()
    let answer = try fixture.ask(alice, "publish", #""stream":{"has_audio":false,"has_video":false}"#)
    let stream = try #require(StreamID(answer["stream"]?["id"]))
    for _ in 0..<3 { fixture.pass(CallLimits.firstMediaMilliseconds) }
    #expect(fixture.state.streams[stream] != nil)
    _ = try fixture.ask(alice, "update", #""stream":"\#(stream)","has_audio":true"#)
    fixture.pass(CallLimits.firstMediaMilliseconds)
    #expect(fixture.state.streams.isEmpty)
  }

  @Test func `between peers there is no media that a stream could lack`() throws {
    let fixture = SessionFixture(isRouted: false)
    let alice = try fixture.connect()
    #expect(try fixture.refusal(alice, "publish", #""stream":{}"#) == nil)
    fixture.pass(10 * CallLimits.firstMediaMilliseconds)
    #expect(fixture.state.streams.count == 1)
  }

  @Test(arguments: [(["H264", "VP8"], Codec.vp8), (["AV1", "VP9"], .vp9), (["VP9", "H264"], .h264), (["AV1"], .av1)])
  func `a picture's codec is the first that we like of those offered`(codecs: [String], expected: Codec) throws {
    let fixture = SessionFixture()
    let alice = try fixture.connect()
    let answer = try fixture.ask(alice, "publish", #""stream":{}"#)
    let stream = try #require(StreamID(answer["stream"]?["id"]))
    var offer = OfferText([("video", "sendonly")])
    offer.codecs = codecs
    _ = try fixture.offer(alice, offer.text, #""0":{"publish":"\#(stream)"}"#)
    #expect(fixture.state.streams[stream]?.video?.codec == expected)
  }

  @Test func `a subscriber gets both kinds, and none that it cannot decode`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(), try fixture.connect(.subscriber))
    let stream = try fixture.publish(alice)
    var router = RouterModel()
    router.take(fixture.takeCommands())
    #expect(Self.directions(try fixture.offer(bob, Self.both.text, Self.uses(stream))) == ["sendonly", "sendonly"])
    router.take(fixture.takeCommands())
    #expect(router.subscriptions.count == 2 && router.transports.count == 2)
    let carol = try fixture.connect()
    var offer = Self.both
    offer.codecs = ["H264"]
    #expect(Self.directions(try fixture.offer(carol, offer.text, Self.uses(stream))).first == "sendonly")
    router.take(fixture.takeCommands())
    #expect(router.subscriptions.count == 3)
  }

  @Test func `what is not there, another's or of the wrong direction is no reason to refuse the rest`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(), try fixture.connect())
    let stream = try fixture.publish(alice)
    let nobody = "00000000-0000-4000-8000-000000000000"
    let offer = OfferText([("audio", "recvonly"), ("video", "recvonly"), ("audio", "sendonly"), ("video", "recvonly")])
    let answer = try fixture.offer(
      bob, offer.text,
      #""0":{"subscribe":"\#(stream)"},"1":{"subscribe":"\#(nobody)"},"2":{"publish":"\#(stream)"},"9":{"subscribe":"\#(stream)"}"#
    )
    #expect(answer["type"]?.string == "done" && Self.directions(answer).first == "sendonly")
    #expect(!Self.directions(answer).dropFirst().contains { $0 == "sendonly" || $0 == "recvonly" })
    #expect(fixture.state.subscriptions.count == 1)
  }

  @Test func `a track goes to a connection once, whatever sections ask for it`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(), try fixture.connect())
    let stream = try fixture.publish(alice)
    let offer = OfferText([("audio", "recvonly"), ("audio", "recvonly")])
    #expect(Self.directions(try fixture.offer(bob, offer.text, Self.uses(stream))) == ["sendonly", "inactive"])
    // The other one may have it once the first does without.
    let answer = try fixture.offer(bob, offer.text, #""1":{"subscribe":"\#(stream)"}"#)
    #expect(Self.directions(answer) == ["inactive", "sendonly"] && fixture.state.subscriptions.count == 1)
  }

  @Test func `what one section had another may have in the same offer`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(), try fixture.connect())
    let stream = try fixture.publish(alice)
    let offer = OfferText([("audio", "recvonly"), ("audio", "recvonly")])
    for mid in [1, 0, 1] {
      let answer = try fixture.offer(bob, offer.text, #""\#(mid)":{"subscribe":"\#(stream)"}"#)
      #expect(Self.directions(answer)[mid] == "sendonly" && fixture.state.subscriptions.count == 1)
    }
  }

  @Test func `a later offer keeps what stays and ends what does not`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(), try fixture.connect())
    let stream = try fixture.publish(alice)
    var router = RouterModel()
    _ = try fixture.offer(bob, Self.both.text, Self.uses(stream))
    router.take(fixture.takeCommands())
    let before = Set(router.subscriptions.keys)
    let first = fixture.state.connections[bob.id]?.peer?.sections["0"]?.ssrc
    _ = try fixture.offer(bob, Self.both.text, Self.uses(stream))
    #expect(fixture.takeCommands().isEmpty)
    #expect(fixture.state.connections[bob.id]?.peer?.sections["0"]?.ssrc == first)
    _ = try fixture.offer(bob, Self.both.text, #""0":{"subscribe":"\#(stream)"}"#)
    router.take(fixture.takeCommands())
    #expect(router.subscriptions.count == 1 && before.isSuperset(of: router.subscriptions.keys))
    _ = try fixture.offer(bob, Self.both.text, Self.uses(stream))
    router.take(fixture.takeCommands())
    #expect(router.subscriptions.count == 2 && fixture.state.subscriptions.count == 2)
  }

  @Test func `an invalid offer is refused and has no effect`() throws {
    let fixture = SessionFixture()
    let alice = try fixture.connect()
    for text in ["", "v=0", "hello", OfferText([("audio", "sendonly")], ufrag: "").text] {
      #expect(try fixture.offer(alice, text, "")["code"]?.string == "invalid")
    }
    let long = String(repeating: "a", count: 100_000)
    #expect(try fixture.offer(alice, long, "")["type"]?.string == "refused")
    #expect(try fixture.refusal(alice, "offer", #""sdp":"v=0""#) == "invalid")
    #expect(try fixture.offer(alice, "v=0", #""0":{}"#)["code"]?.string == "invalid")
    #expect(fixture.takeCommands().isEmpty && fixture.state.transports.isEmpty)
  }

  @Test func `a subscription ends with its stream, and its place is free`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(), try fixture.connect())
    let stream = try fixture.publish(alice)
    var router = RouterModel()
    _ = try fixture.offer(bob, Self.both.text, Self.uses(stream))
    try fixture.ask(alice, "unpublish", #""stream":"\#(stream)""#)
    router.take(fixture.takeCommands())
    #expect(router.tracks.isEmpty && router.subscriptions.isEmpty && fixture.state.subscriptions.isEmpty)
    #expect(fixture.told(bob).last?["reason"]?.string == "unpublished")
    let again = try fixture.publish(alice)
    #expect(Self.directions(try fixture.offer(bob, Self.both.text, Self.uses(again))) == ["sendonly", "sendonly"])
  }

  @Test func `another ufrag restarts ICE on the living transport, another certificate is another one`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(), try fixture.connect())
    let stream = try fixture.publish(alice)
    let first = try fixture.offer(bob, Self.both.text, Self.uses(stream))
    _ = fixture.takeCommands()
    var offer = Self.both
    offer.ufrag = "other"
    let second = try fixture.offer(bob, offer.text, Self.uses(stream))
    let commands = fixture.takeCommands()
    guard case .restart(let transport, let credentials, let remote, _)? = commands.first, commands.count == 1 else {
      throw CallRefusal(.invalid, "no restart")
    }
    #expect(fixture.state.transports[transport] == bob.id && remote == Array("other".utf8))
    func line(_ answer: JSON, _ start: String) -> String? {
      answer["sdp"]?.string?.split(whereSeparator: \.isNewline).first { $0.hasPrefix(start) }.map(String.init)
    }
    #expect(line(second, "a=ice-ufrag:") == "a=ice-ufrag:" + String(decoding: credentials.ufrag, as: UTF8.self))
    #expect(line(first, "a=ice-ufrag:") != line(second, "a=ice-ufrag:"))
    #expect(line(first, "o=")?.contains(" 1 IN") == true && line(second, "o=")?.contains(" 2 IN") == true)
    offer.fingerprint = Array(repeating: "EF", count: 32).joined(separator: ":")
    _ = try fixture.offer(bob, offer.text, Self.uses(stream))
    #expect(fixture.state.transports[transport] == nil && fixture.state.subscriptions.count == 2)
  }

  @Test func `a transport that falls silent is told, also when it comes back`() throws {
    let fixture = SessionFixture()
    let alice = try fixture.connect()
    _ = try fixture.publish(alice)
    let transport = try #require(fixture.state.connections[alice.id]?.peer?.transport)
    for event in [.connected(transport), .silent(transport), .recovered(transport)] as [RouterEvent] { fixture.handle(event) }
    #expect(fixture.told(alice).map { $0["state"]?.string } == ["connected", "lost", "connected"])
  }

  @Test func `a peer connection goes on after its transport only where it was never connected`() throws {
    for wasConnected in [false, true] {
      let fixture = SessionFixture()
      let alice = try fixture.connect()
      let stream = try fixture.publish(alice)
      let transport = try #require(fixture.state.connections[alice.id]?.peer?.transport)
      if wasConnected { fixture.handle(.connected(transport)) }
      fixture.handle(.ended(transport, wasConnected ? .silence : .handshake))
      let offer = OfferText([("audio", "sendonly"), ("video", "sendonly")], ufrag: "again")
      let answer = try fixture.offer(alice, offer.text, Self.uses(stream, "publish"))
      #expect((answer["code"]?.string == "gone") == wasConnected)
      #expect(fixture.isClosed(alice.socket) == wasConnected)
      if wasConnected { #expect(fixture.told(alice).last?["retry"]?.bool == true) }
    }
  }

  @Test func `another peer connection with the same certificate is another transport, also after one that has ended`() throws {
    let fixture = SessionFixture()
    let alice = try fixture.connect()
    let stream = try fixture.publish(alice)
    func transport() throws -> TransportID { try #require(fixture.state.connections[alice.id]?.peer?.transport) }
    let first = try transport()
    fixture.handle(.connected(first))
    _ = fixture.takeCommands()
    var offer = OfferText([("audio", "sendonly"), ("video", "sendonly")], ufrag: "second")
    offer.number = 2
    #expect(Self.directions(try fixture.offer(alice, offer.text, Self.uses(stream, "publish"))) == ["recvonly", "recvonly"])
    let second = try transport()
    #expect(second != first && fixture.state.transports == [second: alice.id])
    fixture.handle(.connected(second))
    fixture.handle(.ended(second, .silence))
    offer = OfferText([("audio", "sendonly"), ("video", "sendonly")], ufrag: "third")
    offer.number = 3
    #expect(Self.directions(try fixture.offer(alice, offer.text, Self.uses(stream, "publish"))) == ["recvonly", "recvonly"])
    #expect(try transport() != second && !fixture.isClosed(alice.socket))
  }

  @Test func `a transport that is lost takes its streams away until they are sent anew`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(), try fixture.connect())
    let stream = try fixture.publish(alice)
    _ = try fixture.offer(bob, Self.both.text, Self.uses(stream))
    var router = RouterModel()
    router.take(fixture.takeCommands())
    _ = (fixture.told(alice), fixture.told(bob))
    let transport = try #require(fixture.state.connections[alice.id]?.peer?.transport)
    router.end(transport)
    fixture.handle(.ended(transport, .silence))
    #expect(fixture.told(alice).first?["state"]?.string == "ended")
    #expect(fixture.told(bob).map { $0["reason"]?.string } == ["lost"])
    var offer = OfferText([("audio", "sendonly"), ("video", "sendonly")], ufrag: "anew")
    offer.fingerprint = Array(repeating: "EF", count: 32).joined(separator: ":")
    #expect(Self.directions(try fixture.offer(alice, offer.text, Self.uses(stream, "publish"))) == ["recvonly", "recvonly"])
    router.take(fixture.takeCommands())
    #expect(router.tracks.count == 2 && router.subscriptions.isEmpty)
    fixture.handle(.trackStarted(try #require(fixture.state.streams[stream]?.audio).id))
    #expect(fixture.types(bob) == ["stream_created"])
  }

  @Test func `another ufrag restarts ICE on the living transport, and what is on it stays`() throws {
    let fixture = SessionFixture()
    let alice = try fixture.connect()
    let stream = try fixture.publish(alice)
    var router = RouterModel()
    router.take(fixture.takeCommands())
    let peer = try #require(fixture.state.connections[alice.id]?.peer)
    fixture.handle(.silent(peer.transport))
    #expect(fixture.told(alice).map { $0["state"]?.string } == ["lost"])
    let offer = OfferText([("audio", "sendonly"), ("video", "sendonly")], ufrag: "anew")
    let answer = try fixture.offer(alice, offer.text, Self.uses(stream, "publish"))
    #expect(Self.directions(answer) == ["recvonly", "recvonly"])
    guard case .restart(peer.transport, let credentials, let ufrag, _) = fixture.takeCommands().first else {
      Issue.record("no restart")
      return
    }
    #expect(credentials != peer.credentials && ufrag == Array("anew".utf8))
    #expect(answer["sdp"]?.string?.contains("a=ice-ufrag:" + String(decoding: credentials.ufrag, as: UTF8.self)) == true)
    #expect(fixture.state.connections[alice.id]?.peer?.transport == peer.transport)
    fixture.handle(.recovered(peer.transport))
    #expect(fixture.told(alice).map { $0["state"]?.string } == ["connected"])
  }

  @Test func `preferences become limits and pauses`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(), try fixture.connect())
    let stream = try fixture.publish(alice)
    _ = try fixture.offer(bob, Self.both.text, Self.uses(stream))
    var router = RouterModel()
    router.take(fixture.takeCommands())
    _ = fixture.told(bob)
    try fixture.ask(bob, "prefer", #""stream":"\#(stream)","video":false"#)
    router.take(fixture.takeCommands())
    #expect(router.paused.count == 1)
    #expect(fixture.told(bob).map { $0["reason"]?.string } == ["subscriber"])
    try fixture.ask(bob, "prefer", #""stream":"\#(stream)","frame_rate":15,"audio":false"#)
    router.take(fixture.takeCommands())
    #expect(router.paused.count == 1 && router.limits.values.contains { $0.temporal == 1 })
    #expect(fixture.types(bob) == ["video_enabled"])
    for bad in [#""frame_rate":0"#, #""width":-1"#, #""video":1"#, #""width":1e9"#] {
      #expect(try fixture.refusal(bob, "prefer", #""stream":"\#(stream)",\#(bad)"#) == "invalid")
    }
  }

  @Test(
    arguments: [
      (nil, nil, 3), (320, nil, 0), (321, nil, 1), (640, 360, 1), (640, 361, 2), (5_000, nil, 3), (1, 1, 0)
    ] as [(Int64?, Int64?, Int)])
  func `the lowest layer that is large enough is taken`(width: Int64?, height: Int64?, layer: Int) throws {
    var preference = Preference()
    (preference.width, preference.height) = (width, height)
    let stream = try StreamDescription(try JSON.parse(Array(#"{"width":1280,"height":720}"#.utf8)))
    #expect(SessionLogic.limit(preference, stream, layers: 3).spatial == layer)
  }

  // Proves A8
  @Test func `a path that carries no picture, and a speaker, are told`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(), try fixture.connect())
    let stream = try fixture.publish(alice)
    _ = try fixture.offer(bob, Self.both.text, Self.uses(stream))
    let video = try #require(fixture.state.subscriptions.first { !$0.value.isAudio }?.key)
    _ = fixture.told(bob)
    for layer in [2, nil, nil, 0, 1] { fixture.handle(.layer(video, layer)) }
    let told = fixture.told(bob)
    #expect(told.map { $0["type"]?.string } == ["video_disabled", "video_enabled"])
    #expect(told.allSatisfy { $0["reason"]?.string == "quality" && StreamID($0["stream"]) == stream })
    fixture.handle(.speaker(session: 7, try #require(fixture.state.streams[stream]?.audio).id))
    #expect(fixture.told(bob).map { StreamID($0["stream"]) } == [stream])
  }

  @Test func `sound that a moderator takes away is not forwarded until its publisher gives it back`() throws {
    let fixture = SessionFixture()
    let (alice, bob, moderator) = (try fixture.connect(), try fixture.connect(), try fixture.connect(.moderator))
    let stream = try fixture.publish(alice)
    _ = (fixture.told(alice), fixture.told(bob))
    var router = RouterModel()
    router.take(fixture.takeCommands())
    try fixture.ask(moderator, "mute", #""stream":"\#(stream)""#)
    router.take(fixture.takeCommands())
    #expect(router.muted == [try #require(fixture.state.streams[stream]?.audio).id])
    #expect(fixture.told(alice).map { StreamID($0["stream"]) } == [stream])
    let told = try #require(fixture.told(bob).first)
    #expect(told["type"]?.string == "stream_changed" && told["muted"]?.bool == true && told["has_audio"]?.bool == false)
    #expect(try fixture.refusal(bob, "update", #""stream":"\#(stream)","has_audio":true"#) == "forbidden")
    try fixture.ask(alice, "update", #""stream":"\#(stream)","has_audio":true"#)
    router.take(fixture.takeCommands())
    #expect(router.muted.isEmpty && fixture.told(bob).first?["muted"]?.bool == false)
  }

  @Test func `the mute of all holds for streams to come, but for those excepted and when it is over`() throws {
    let fixture = SessionFixture()
    let (alice, moderator) = (try fixture.connect(), try fixture.connect(.moderator))
    let (one, other) = (try fixture.publish(alice), try fixture.publish(moderator))
    try fixture.ask(moderator, "mute", #""all":true,"except":["\#(other)"]"#)
    #expect(fixture.state.streams[one]?.isMuted == true && fixture.state.streams[other]?.isMuted == false)
    #expect(try fixture.ask(alice, "publish", #""stream":{}"#)["stream"]?["muted"]?.bool == true)
    try fixture.ask(moderator, "mute", #""all":true,"active":false"#)
    #expect(try fixture.ask(alice, "publish", #""stream":{}"#)["stream"]?["muted"]?.bool == false)
    #expect(fixture.told(alice).last?["active"]?.bool == false)
  }

  @Test func `a picture that its publisher takes away is not forwarded, and its subscribers know why`() throws {
    let fixture = SessionFixture()
    let (alice, bob) = (try fixture.connect(), try fixture.connect())
    let stream = try fixture.publish(alice)
    _ = try fixture.offer(bob, Self.both.text, Self.uses(stream))
    _ = fixture.told(bob)
    var router = RouterModel()
    router.take(fixture.takeCommands())
    try fixture.ask(alice, "update", #""stream":"\#(stream)","has_video":false"#)
    router.take(fixture.takeCommands())
    #expect(router.muted.count == 1)
    let told = fixture.told(bob)
    #expect(told.map { $0["type"]?.string } == ["stream_changed", "video_disabled"] && told[1]["reason"]?.string == "publisher")
  }
}
