import JSON
import Testing

@testable import CallCore

/// Scripted exchanges of one or two clients with the server of decision 14.
struct SessionTests {
  let simulation = Simulation(seed: 7)

  private func client(_ name: String, _ server: TestServer, subscribesToAll: Bool = true) -> TestClient {
    TestClient(name, server, simulation, subscribesToAll: subscribesToAll)
  }

  private func connected(_ name: String, _ server: TestServer, token: ByteString = "token") -> TestClient {
    let client = client(name, server)
    client.connect(token: token)
    simulation.run(for: 1_000)
    #expect(client.session.state == .connected)
    return client
  }

  private func publishing(_ name: String, _ server: TestServer) -> TestClient {
    let client = connected(name, server)
    client.command(.publish(1, .camera, name: "n", audio: true, video: true))
    simulation.run(for: 2_000)
    return client
  }

  @Test func whatOnePublishesArrivesAtTheOther() throws {
    let server = TestServer(simulation)
    let ann = connected("ann", server)
    let bob = connected("bob", server)
    #expect(ann.session.connections.map(\.id) == [bob.session.connection?.id])
    let id = ann.command(.publish(1, .camera, name: "n", audio: true, video: true))
    simulation.run(for: 2_000)
    #expect(ann.result(of: id) == "")
    let stream = try #require(ann.session.publication(1)?.stream)
    #expect(bob.session.streams.map(\.id) == [stream])
    #expect(bob.session.streams.first?.isSubscribed == true)
    #expect(bob.host.peers[1]?.attached.values.sorted() == [stream.string, stream.string])
    #expect(bob.host.peers[1]?.iceServers == 1)

    ann.command(.unpublish(1))
    simulation.run(for: 2_000)
    #expect(bob.session.streams.isEmpty && server.streams.isEmpty)
    #expect(bob.host.peers[1]?.sections.isEmpty == true && ann.host.peers[1]?.sections.isEmpty == true)
    #expect(ann.host.captured.isEmpty)
  }

  @Test func changesDuringAnOfferGoIntoTheNext() {
    let server = TestServer(simulation)
    let ann = connected("ann", server)
    for source in 1...4 as ClosedRange<SourceID> {
      ann.command(.publish(source, source == 2 ? .screen : .camera, name: "n", audio: false, video: true))
    }
    let fifth = ann.command(.publish(5, .camera, name: "n", audio: true, video: false))
    #expect(ann.result(of: fifth) == "limit")
    simulation.run(for: 3_000)
    #expect(ann.member?.sections.count == 4)
    #expect((1...3).contains(ann.host.peers[1]?.offers ?? 0), "the four go out together")
  }

  // Proves Q19
  @Test func whatWasCapturedBeforeTheGreetingGoesOutWithTheFirstOffer() {
    let server = TestServer(simulation)
    let ann = publishing("ann", server)
    let bob = client("bob", server)
    let id = bob.command(.publish(1, .camera, name: "n", audio: true, video: true))
    simulation.run(for: 2_000)
    #expect(bob.session.state == .idle && bob.session.publication(1)?.media != nil)
    bob.connect()
    simulation.run(for: 2_000)
    #expect(bob.result(of: id) == "" && bob.member?.sections.count == 4)
    #expect(bob.host.peers[1]?.offers == 1 && ann.session.streams.count == 1)
  }

  // Proves Q19
  @Test func whatIsNotCapturedYetHoldsNothingUp() {
    let server = TestServer(simulation)
    let ann = publishing("ann", server)
    let bob = client("bob", server)
    bob.host.capturesAfter = 5_000...5_000
    bob.command(.publish(1, .camera, name: "n", audio: true, video: true))
    bob.connect()
    simulation.run(for: 2_000)
    #expect(bob.member?.sections.count == 2 && bob.host.peers[1]?.attached.count == 2)
    simulation.run(for: 5_000)
    #expect(bob.member?.sections.count == 4 && ann.session.streams.count == 1)
  }

  @Test func neitherSoundNorPictureIsNothingToPublish() {
    let ann = connected("ann", TestServer(simulation))
    let id = ann.command(.publish(1, .camera, name: "n", audio: false, video: false))
    #expect(ann.result(of: id) == "invalid" && ann.session.publications.isEmpty)
  }

  @Test func aStreamThatIsTooMuchForNowIsAnnouncedAgain() {
    let server = TestServer(simulation)
    let ann = connected("ann", server)
    server.refusedPublishes = 2
    let id = ann.command(.publish(1, .camera, name: "n", audio: true, video: true))
    simulation.run(for: 1_500)
    #expect(ann.result(of: id) == nil && ann.host.captured.count == 1 && server.refusedPublishes == 1)
    simulation.run(for: 4_000)
    #expect(ann.result(of: id) == "" && ann.member?.sections.count == 2)
    #expect(ann.texts.count { $0.contains(#""type":"publish""#) } == 3)
  }

  // Proves A15
  @Test func whatIsWantedOfAStreamIsAskedForOnce() {
    let server = TestServer(simulation)
    let ann = publishing("ann", server)
    let bob = connected("bob", server)
    let stream = ann.session.publication(1)?.stream ?? ""
    let asked = (1...5).map { _ in bob.command(.prefer(stream, StreamPreference(width: 320))) }
    let other = bob.command(.prefer(stream, StreamPreference(width: 640)))
    simulation.run(for: 1_000)
    #expect((asked + [other]).allSatisfy { bob.result(of: $0) == "" })
    #expect(bob.texts.count { $0.contains(#""type":"prefer""#) } == 2)
  }

  @Test func aStreamThatGetsSoundLaterGetsASectionForIt() {
    let server = TestServer(simulation)
    let bob = connected("bob", server)
    let ann = connected("ann", server)
    ann.command(.publish(1, .camera, name: "n", audio: true, video: true))
    ann.command(.update(1, hasAudio: false, hasVideo: nil))
    simulation.run(for: 2_000)
    #expect(bob.member?.sections.count == 1)
    #expect(ann.host.captured[1]?.audio == false)
    ann.command(.update(1, hasAudio: true, hasVideo: false))
    simulation.run(for: 2_000)
    #expect(bob.member?.sections.count == 2)
    #expect(bob.session.streams.first?.hasAudio == true && bob.session.streams.first?.hasVideo == false)
    #expect(ann.host.captured[1]?.audio == true && ann.host.captured[1]?.video == false)
  }

  @Test func oneChoosesStreamsOneself() {
    let server = TestServer(simulation)
    let ann = publishing("ann", server)
    let bob = client("bob", server, subscribesToAll: false)
    bob.connect()
    simulation.run(for: 1_000)
    #expect(bob.member?.sections.isEmpty == true)
    let stream = ann.session.publication(1)?.stream ?? ""
    bob.command(.subscribe(stream))
    let prefer = bob.command(.prefer(stream, StreamPreference(width: 320, height: 180, video: false)))
    simulation.run(for: 2_000)
    #expect(bob.member?.sections.count == 2 && bob.result(of: prefer) == "")
    bob.command(.unsubscribe(stream))
    simulation.run(for: 2_000)
    #expect(bob.member?.sections.isEmpty == true && bob.host.peers[1]?.attached.isEmpty == true)
    #expect(bob.result(of: bob.command(.subscribe("nothing"))) == "not_found")
  }

  @Test func whoOnlyPublishesIsRefusedASubscriptionAndGoesOn() {
    let server = TestServer(simulation)
    let ann = publishing("ann", server)
    let bob = connected("bob", server, token: "token-publisheronly")
    bob.command(.publish(1, .camera, name: "n", audio: true, video: true))
    let asked = bob.command(.subscribe(ann.session.publication(1)?.stream ?? ""))
    #expect(bob.result(of: asked) == "forbidden")
    simulation.run(for: 10_000)
    #expect(bob.session.state == .connected && bob.member?.sections.count == 2 && ann.session.streams.count == 1)
  }

  @Test func signalsReachAllOrOne() {
    let server = TestServer(simulation)
    let (ann, bob, cid) = (connected("ann", server), connected("bob", server), connected("cid", server))
    ann.command(.signal(kind: "chat", data: "all", to: nil))
    ann.command(.signal(kind: "chat", data: "bob", to: bob.session.connection?.id))
    let lost = ann.command(.signal(kind: "chat", data: "nobody", to: ""))
    #expect(ann.result(of: lost) == "not_found")
    simulation.run(for: 1_000)
    #expect(bob.signals.map(\.data) == ["all", "bob"] && cid.signals.map(\.data) == ["all"])
    #expect(bob.signals.first?.from == ann.session.connection?.id)
    let kind = ByteString(String(repeating: "k", count: CallLimits.signalKindBytes))
    let data = ByteString(String(repeating: "d", count: CallLimits.signalBytes))
    let fits = ann.command(.signal(kind: kind, data: data, to: nil))
    let long = ann.command(.signal(kind: kind, data: ByteString(data.string + "d"), to: nil))
    simulation.run(for: 1_000)
    #expect(ann.result(of: fits) == "" && ann.result(of: long) == "too_large")
  }

  @Test func requestsWithoutAnswerAreLimited() {
    let server = TestServer(simulation)
    let ann = connected("ann", server)
    ann.drop()
    let ids = (0...CallLimits.requests).map { ann.command(.signal(kind: "n", data: ByteString("\($0)"), to: nil)) }
    #expect(ann.result(of: ids[CallLimits.requests]) == "limit" && ann.result(of: ids[0]) == nil)
    simulation.run(for: 10_000)
    #expect(ids.dropLast().allSatisfy { ann.result(of: $0) == "" }, "the others wait for the next socket, which takes them all")
  }

  @Test func aModeratorIsObeyed() {
    let server = TestServer(simulation)
    let ann = publishing("ann", server)
    let mod = connected("mod", server, token: "token-moderator")
    let stream = ann.session.publication(1)?.stream ?? ""
    let done = mod.command(.mute(stream: stream))
    let refused = ann.command(.record(true))
    simulation.run(for: 1_000)
    #expect(mod.result(of: done) == "" && ann.result(of: refused) == "forbidden")

    let id = ann.session.connection?.id.string ?? ""
    server.happen("muted", #""stream":"\#(stream)""#, to: id)
    server.happen("muted", #""active":true"#, to: id)
    simulation.run(for: 1_000)
    #expect(ann.session.publication(1)?.isMutedByForce == true && ann.host.captured[1]?.audio == false)
    #expect(ann.session.isMuteOfAllActive && ann.session.publication(1)?.hasAudio == false)
    ann.command(.update(1, hasAudio: true, hasVideo: nil))
    #expect(ann.session.publication(1)?.isMutedByForce == false)

    server.destroy(stream.string, "forced")
    simulation.run(for: 1_000)
    #expect(ann.session.publications.isEmpty && ann.host.captured.isEmpty)
  }

  @Test func anotherRoleIsTaken() {
    let server = TestServer(simulation)
    let (ann, bob) = (connected("ann", server), connected("bob", server))
    let (own, other) = (ann.session.connection?.id.string ?? "", bob.session.connection?.id.string ?? "")
    for id in [own, other, "nobody"] {
      server.happen("connection_changed", #""connection":"\#(id)","role":"moderator""#, to: own)
    }
    simulation.run(for: 1_000)
    #expect(ann.session.connection?.role == .moderator && ann.session.connections.map(\.role) == [.moderator])
    let told = ann.changes.compactMap { if case .connection(let id) = $0 { id.string } else { nil } }
    #expect(told == [other, own, other])
  }

  @Test func whatTheServerTellsIsShown() {
    let server = TestServer(simulation)
    let ann = publishing("ann", server)
    let bob = connected("bob", server)
    simulation.run(for: 1_000)
    let (stream, id) = (ann.session.publication(1)?.stream ?? "", bob.session.connection?.id.string ?? "")
    server.happen("speaker", #""stream":"\#(stream)""#, to: id)
    server.happen("recording_started", #""archive":"a1","name":"n""#, to: id)
    server.happen("video_disabled", #""stream":"\#(stream)","reason":"quality""#, to: id)
    server.happen("nobody_knows_this", #""x":1"#, to: id)
    simulation.run(for: 1_000)
    #expect(bob.session.speaker == stream && bob.session.recording == "a1" as ByteString)
    #expect(bob.session.stream(stream)?.videoDisabled == "quality" as ByteString)
    server.happen("recording_stopped", #""archive":"a1""#, to: id)
    server.happen("video_enabled", #""stream":"\#(stream)","reason":"quality""#, to: id)
    server.happen("session_ended", #""x":1"#, to: id)
    simulation.run(for: 1_000)
    #expect(bob.session.state == .ended(.closed("ended")))
    #expect(bob.host.peers.isEmpty && !bob.hasSocket)
  }

  @Test func thatNoPictureComesEndsWithTheSubscription() {
    let server = TestServer(simulation)
    let ann = publishing("ann", server)
    let bob = connected("bob", server)
    let (stream, id) = (ann.session.publication(1)?.stream ?? "", bob.session.connection?.id.string ?? "")
    func loses() {
      server.happen("video_disabled", #""stream":"\#(stream)","reason":"quality""#, to: id)
      simulation.run(for: 1_000)
      #expect(bob.session.stream(stream)?.videoDisabled == "quality" as ByteString)
    }
    loses()
    bob.command(.unsubscribe(stream))
    bob.command(.subscribe(stream))
    #expect(bob.session.stream(stream)?.videoDisabled == nil)
    simulation.run(for: 1_000)
    loses()
    let told = bob.changesOfStreams
    server.happen("transport", #""state":"ended""#, to: id)
    simulation.run(for: 1_000)
    #expect(bob.session.stream(stream)?.videoDisabled == nil && bob.changesOfStreams == told + 1)
  }

  @Test func aBadTokenEndsIt() {
    let server = TestServer(simulation)
    let eve = client("eve", server)
    let id = eve.command(.connect(CallToken("no"), session: "s"))
    simulation.run(for: 1_000)
    #expect(eve.session.state == .ended(.closed("unauthorized")) && eve.result(of: id) == "connection_lost")
  }

  @Test func aServerThatIsNotThereIsGivenUp() {
    let ann = client("ann", TestServer(simulation))
    ann.canConnect = false
    ann.connect()
    simulation.run(for: CallLimits.reconnectMilliseconds - 20_000)
    #expect(ann.session.state == .connecting)
    simulation.run(for: 40_000)
    #expect(ann.session.state == .ended(.unreachable))
  }

  @Test func aSilentSocketIsReplaced() {
    let server = TestServer(simulation)
    let ann = connected("ann", server)
    ann.drop(tellsClient: false)
    let id = ann.command(.signal(kind: "n", data: "x", to: nil))
    simulation.run(for: CallLimits.answerMilliseconds - 1_000)
    #expect(ann.session.state == .connected && ann.result(of: id) == nil)
    simulation.run(for: 5_000)
    #expect(ann.session.state == .connected && ann.result(of: id) == "" && server.gone == 0)
  }

  @Test func anotherNetworkIsTriedAtOnce() {
    let server = TestServer(simulation)
    let ann = publishing("ann", server)
    ann.put(.networkChanged)
    simulation.run(for: 1_000)
    #expect(ann.session.state == .connected && server.members.count == 1 && ann.host.peers[1]?.restarts == 1)
  }

  @Test func afterGoneEverythingIsMadeAnew() throws {
    let server = TestServer(simulation)
    let (ann, bob) = (publishing("ann", server), publishing("bob", server))
    let stream = try #require(bob.session.publication(1)?.stream)
    ann.command(.prefer(stream, StreamPreference(width: 160)))
    simulation.run(for: 1_000)
    let before = try #require(ann.member)
    server.forget(before)
    ann.drop()
    simulation.run(for: 10_000)
    #expect(ann.session.state == .connected && server.gone == 1)
    #expect(ann.member?.id != before.id && ann.member?.sections.count == 4)
    #expect(ann.session.stream(stream)?.preference.width == 160)
    #expect(bob.session.streams.map(\.id) == [ann.session.publication(1)?.stream])
    #expect(ann.host.peers.count == 1 && ann.host.captured.count == 1)
  }

  @Test func itComesBackWhenTheServerSays() throws {
    let server = TestServer(simulation)
    server.goneForMilliseconds = 4_000
    let ann = publishing("ann", server)
    server.forget(try #require(ann.member))
    ann.drop()
    while server.gone == 0 { simulation.run(for: 1) }
    simulation.run(for: 4_000)
    #expect(ann.session.state == .reconnecting && server.members.isEmpty)
    // Not all at once, but soon.
    simulation.run(for: CallLimits.backoffFirstMilliseconds + 200)
    #expect(ann.session.state == .connected && server.members.count == 1)
  }

  // Proves A12
  @Test func aTransportThatIsLostIsRestarted() throws {
    let server = TestServer(simulation)
    let ann = publishing("ann", server)
    let id = try #require(ann.session.connection?.id.string)
    ann.put(.media(.ice(1, .connected)))
    ann.put(.media(.ice(1, .disconnected)))
    simulation.run(for: CallLimits.iceDisconnectedMilliseconds - 1_000)
    #expect(ann.host.peers[1]?.restarts == 0)
    ann.put(.media(.ice(1, .connected)))
    simulation.run(for: 5_000)
    #expect(ann.host.peers[1]?.restarts == 0, "it came back by itself")
    ann.put(.media(.ice(1, .disconnected)))
    simulation.run(for: CallLimits.iceDisconnectedMilliseconds + 100)
    #expect(ann.host.peers[1]?.restarts == 1)
    ann.put(.media(.ice(1, .connected)))
    simulation.run(for: 60_000)
    #expect(ann.host.peers[1]?.restarts == 1)
    let sections = ann.member?.sections.values.sorted()
    server.happen("transport", #""state":"lost""#, to: id)
    simulation.run(for: 1_000)
    #expect(ann.host.peers[1]?.restarts == 2, "the server hears nothing")
    server.happen("transport", #""state":"connected""#, to: id)
    simulation.run(for: 60_000)
    #expect(ann.host.peers[1]?.restarts == 2)
    server.happen("stream_destroyed", #""stream":"\#(ann.session.publication(1)?.stream ?? "")","reason":"lost""#, to: id)
    server.happen("transport", #""state":"ended""#, to: id)
    simulation.run(for: 1_000)
    #expect(
      Array(ann.host.peers.keys) == [2] && ann.host.peers[2]?.sections.count == 2, "a new peer connection, the same on it")
    #expect(ann.member?.sections.values.sorted() == sections)
    server.happen("transport", #""state":"connected""#, to: id)
    simulation.run(for: 60_000)
    #expect(ann.host.peers[2]?.restarts == 0 && ann.host.captured.count == 1)
  }

  @Test func aStreamThatHadNoMediaInTimeIsPublishedAnew() throws {
    let server = TestServer(simulation)
    let ann = publishing("ann", server)
    let stream = try #require(ann.session.publication(1)?.stream)
    let count = try #require(ann.member?.sections.count)
    server.end(stream.string, "no_media")
    simulation.run(for: 2_000)
    let other = try #require(ann.session.publication(1)?.stream)
    #expect(other != stream && ann.host.captured.count == 1 && ann.host.peers.count == 1)
    let sections = try #require(ann.member?.sections)
    #expect(sections.count == count && sections.values.allSatisfy { $0 == "publish \(other)" })
  }

  @Test func aHostThatFailsGetsANewPeerConnectionAFewTimes() {
    let server = TestServer(simulation)
    let ann = publishing("ann", server)
    ann.host.failsToDescribe = true
    ann.command(.publish(2, .screen, name: "", audio: false, video: true))
    for _ in 0..<2_000 where ann.host.peers[2] == nil { simulation.run(for: 1) }
    ann.host.failsToDescribe = false
    simulation.run(for: 5_000)
    #expect(ann.session.state == .connected && ann.host.peers.count == 1 && ann.member?.sections.count == 3)
    ann.host.failsToDescribe = true
    ann.command(.unpublish(2))
    simulation.run(for: 60_000)
    #expect(ann.session.state == .ended(.mediaFailed) && server.members.isEmpty && ann.host.captured.isEmpty)
  }

  @Test func whileAllAreMutedOneBeginsSo() {
    let server = TestServer(simulation)
    let ann = connected("ann", server)
    server.mutesAll = true
    ann.command(.publish(1, .camera, name: "n", audio: true, video: true))
    simulation.run(for: 2_000)
    #expect(ann.session.publication(1)?.isMutedByForce == true && ann.host.captured[1]?.audio == false)
    #expect(!ann.texts.contains { $0.contains(#""type":"update""#) }, "it does not take it back by itself")
  }

  @Test func whoComesWhileAllAreMutedIsToldAndAgainWhereThatHasEnded() throws {
    let server = TestServer(simulation)
    server.mutesAll = true
    let ann = connected("ann", server)
    #expect(ann.session.isMuteOfAllActive && ann.changesOfMuting == 1)
    server.mutesAll = false
    server.forget(try #require(ann.member))
    ann.drop()
    simulation.run(for: 10_000)
    #expect(ann.session.state == .connected && !ann.session.isMuteOfAllActive && ann.changesOfMuting == 2)
  }

  @Test func acknowledgementsKeepTheServersBacklogSmall() {
    let server = TestServer(simulation)
    let (ann, bob) = (connected("ann", server), connected("bob", server))
    for i in 0..<200 {
      ann.command(.signal(kind: "n", data: ByteString("\(i)"), to: nil))
      simulation.run(for: 50)
    }
    simulation.run(for: CallLimits.ackMilliseconds + 1_000)
    #expect(bob.signals.count == 200)
    #expect((bob.member?.most ?? 0) < 32 && bob.member?.kept.isEmpty == true)
  }

  @Test func anOfferThatIsTooLongIsTriedAgainUntilItIsNot() {
    let server = TestServer(simulation)
    let (ann, bob) = (connected("ann", server), connected("bob", server))
    ann.host.padding = CallLimits.descriptionMessageBytes
    ann.command(.publish(1, .camera, name: "n", audio: true, video: true))
    simulation.run(for: 60_000)
    #expect(ann.session.state == .connected && bob.session.streams.isEmpty)
    ann.host.padding = 0
    simulation.run(for: 60_000)
    #expect(bob.session.streams.count == 1 && ann.host.peers.values.allSatisfy { $0.state == .stable })
  }

  @Test func aMessageThatIsMissingIsAskedForAgain() throws {
    let server = TestServer(simulation)
    let ann = connected("ann", server)
    let socket = ann.session.socket.id
    ann.put(.text(socket, Array(#"{"seq":5,"type":"speaker","stream":"x"}"#.utf8)))
    #expect(ann.session.state == .reconnecting && ann.session.speaker == nil)
    simulation.run(for: 5_000)
    #expect(ann.session.state == .connected)
    for bad in ["", "[]", "{}", #"{"seq":1}"#, #"{"type":7}"#, "{\"seq\":1,\"type\":\"speaker\"", #"{"seq":-1,"type":"x"}"#] {
      ann.put(.text(ann.session.socket.id, Array(bad.utf8)))
      simulation.run(for: 5_000)
      #expect(ann.session.state == .connected)
    }
  }

  @Test func tokensStandInNoDescription() {
    let secret: ByteString = "secret"
    let input = SessionInput.command(.connect(CallToken(secret), session: "s"), id: 1)
    #expect(!"\(input)".contains("secret"))
    var session = CallSession(randomSeed: 1)
    var said = session.handle(input, now: 0)
    said += session.handle(.socketOpened(1), now: 1)
    #expect(!"\(said)".contains("secret") && !"\(said)".contains("115, 101, 99"))
    #expect(!"\(session.credentials)".contains("secret"))
  }

  @Test func nothingStaysBehindAfterLeaving() {
    let server = TestServer(simulation)
    let (ann, bob) = (publishing("ann", server), publishing("bob", server))
    ann.command(.leave)
    bob.drop()
    bob.command(.leave)
    simulation.run(for: 60_000)
    #expect(server.members.isEmpty && server.streams.isEmpty)
    for client in [ann, bob] {
      #expect(client.session.state == .ended(.left) && client.host.peers.isEmpty && client.host.captured.isEmpty)
      #expect(!client.hasSocket && client.session.streams.isEmpty && client.session.connections.isEmpty)
    }
  }
}
