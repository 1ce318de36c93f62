import JSON
import MatrixModel
import Testing

@testable import CallCore

/// Scripted calls between devices in a room.
struct MatrixCallTests {
  let simulation = Simulation(seed: 11)
  let room: TestRoom
  let ann: TestPhone
  let bob: TestPhone

  init() {
    room = TestRoom(simulation)
    ann = room.phone("ann", of: "@ann:a")
    bob = room.phone("bob", of: "@bob:b")
  }

  private func connect() {
    ann.place()
    simulation.run(for: 1_000)
    bob.answer()
    simulation.run(for: 3_000)
    #expect(ann.call?.state == .connected && bob.call?.state == .connected)
  }

  private func invite(_ id: String, lifetime: String = "90000", extra: String = "", version: String = "\"1\"") -> String {
    #"{"call_id":"\#(id)","version":\#(version),"party_id":"p\#(id)","lifetime":\#(lifetime),"offer":{"type":"offer","sdp":"v=0\nm=video 9\n"}\#(extra)}"#
  }

  // Proves A1, M34
  @Test func aCallIsPlacedAnsweredAndHungUp() throws {
    ann.place("@bob:b")
    simulation.run(for: 1_000)
    #expect(ann.call?.state == .calling && bob.call?.state == .ringing)
    #expect(bob.call?.opponent == ann.user)
    bob.answer()
    simulation.run(for: 3_000)
    #expect(ann.call?.state == .connected && bob.call?.state == .connected)
    #expect(ann.call?.opponent == bob.user && ann.call?.id == bob.call?.id)
    #expect(ann.call?.remote.map(\.stream) == ["bob-1"] && bob.call?.remote.map(\.purpose) == [.userMedia])
    #expect(ann.host.peers.values.first?.attached.count == 2 && bob.host.peers.values.first?.attached.count == 2)
    #expect(room.sent.map(\.type) == ["m.call.invite", "m.call.answer", "m.call.select_answer"])
    let invite = try #require(room.contents(of: "m.call.invite").first)
    #expect(invite["invitee"]?.string == "@bob:b" && invite["version"]?.string == "1" && invite["lifetime"]?.integer == 90_000)
    #expect((invite["party_id"]?.string?.utf8.count ?? 0) >= 8)
    let answer = try #require(room.contents(of: "m.call.answer").first)
    #expect(room.contents(of: "m.call.select_answer").first?["selected_party_id"]?.text == answer["party_id"]?.text)

    bob.order { .hangUp($0) }
    simulation.run(for: 1_000)
    #expect(bob.ends.values.first == .hungUp && ann.ends.values.first == .hungUpByOther(reason: "user_hangup"))
    #expect(ann.host.peers.isEmpty && bob.host.peers.isEmpty && ann.host.captured.isEmpty && bob.host.captured.isEmpty)
    #expect(ann.calls.calls.isEmpty || ann.call == nil)
  }

  // Proves A2
  @Test func aRejectedCallEndsEverywhere() {
    let tablet = room.phone("tablet", of: "@bob:b")
    ann.place()
    simulation.run(for: 1_000)
    #expect(tablet.call?.state == .ringing)
    bob.order { .reject($0) }
    simulation.run(for: 1_000)
    #expect(ann.ends.values.first == .rejected && tablet.ends.values.first == .rejectedElsewhere)
    #expect(room.sent.map(\.type) == ["m.call.invite", "m.call.reject", "m.call.select_answer"])
  }

  // Proves M36
  @Test func whereOneDeviceAnswersTheOtherStops() {
    let tablet = room.phone("tablet", of: "@bob:b")
    ann.place()
    simulation.run(for: 1_000)
    bob.answer()
    simulation.run(for: 3_000)
    #expect(bob.call?.state == .connected && tablet.ends.values.first == .answeredElsewhere)
  }

  // Proves M34
  @Test func ofTwoAnswersTheFirstIsSelected() {
    let tablet = room.phone("tablet", of: "@bob:b")
    ann.place()
    simulation.run(for: 1_000)
    bob.answer()
    tablet.answer()
    simulation.run(for: 5_000)
    let connected = [bob, tablet].filter { $0.call?.state == .connected }
    let ended = [bob, tablet].filter { $0.ends.values.first == .answeredElsewhere }
    #expect(connected.count == 1 && ended.count == 1 && ann.call?.state == .connected)
    #expect(ended.first?.host.captured.isEmpty == true)
    #expect(room.contents(of: "m.call.hangup").isEmpty)
  }

  // Proves M36
  @Test func silencedItRingsElsewhereStill() {
    let tablet = room.phone("tablet", of: "@bob:b")
    ann.place()
    simulation.run(for: 1_000)
    bob.order { .silence($0) }
    simulation.run(for: 1_000)
    #expect(bob.call?.rings == false && tablet.call?.state == .ringing && tablet.call?.rings == true)
    #expect(room.sent.count == 1)
  }

  // Proves A4
  @Test func nobodyAnswers() {
    ann.place()
    simulation.run(for: CallLimits.lifetimeMilliseconds - 2_000)
    #expect(ann.call?.state == .calling && bob.call?.state == .ringing)
    simulation.run(for: 4_000)
    #expect(ann.ends.values.first == .unanswered)
    #expect(room.contents(of: "m.call.hangup").first?["reason"]?.string == "invite_timeout")
    #expect(bob.ends.count == 1 && bob.call == nil)
  }

  // Proves A3
  @Test func busyIsToldToBridges() {
    ann.place()
    simulation.run(for: 1_000)
    bob.order { .busy($0) }
    simulation.run(for: 1_000)
    #expect(ann.ends.values.first == .hungUpByOther(reason: "user_busy"))
  }

  @Test func aCallDoesNotConnectForEver() {
    ann.place()
    simulation.run(for: 1_000)
    bob.host.onStable = { _, _ in }
    ann.host.onStable = { _, _ in }
    bob.answer()
    simulation.run(for: CallLimits.connectMilliseconds + 5_000)
    #expect(ann.call == nil && bob.call == nil)
    #expect([ann, bob].contains { $0.ends.values.first == .connectionFailed })
    #expect(room.contents(of: "m.call.hangup").first?["reason"]?.string == "ice_failed")
  }

  // Proves A12
  @Test func anInterruptedCallIsRestartedAndGivenUp() {
    connect()
    let peer = ann.call?.handle ?? 0
    bob.host.onStable = { _, _ in }
    ann.host.onStable = { _, _ in }
    ann.put(.media(.ice(peer, .disconnected)))
    simulation.run(for: CallLimits.iceDisconnectedMilliseconds + 2_000)
    #expect(ann.host.peers[peer]?.restarts == 1 && room.contents(of: "m.call.negotiate").count == 2)
    #expect(ann.call?.isInterrupted == true && ann.call?.state == .connected)
    ann.put(.media(.ice(peer, .connected)))
    #expect(ann.call?.isInterrupted == false)
    ann.put(.media(.ice(peer, .failed)))
    #expect(ann.call?.isInterrupted == true)
    simulation.run(for: CallLimits.interruptionMilliseconds + 1_000)
    #expect(ann.ends.values.first == .connectionLost)
    #expect(room.contents(of: "m.call.hangup").first?["reason"]?.string == "ice_timeout")
  }

  // Proves A5, M37
  @Test func mutingIsTold() throws {
    connect()
    ann.order { .mute($0, audio: true, video: nil) }
    simulation.run(for: 1_000)
    #expect(ann.host.captured.values.first?.audio == false)
    #expect(bob.call?.remote.first?.isAudioMuted == true && bob.call?.remote.first?.isVideoMuted == false)
    #expect(room.sent.last?.type == "m.call.sdp_stream_metadata_changed")
    ann.order { .mute($0, audio: true, video: nil) }
    simulation.run(for: 1_000)
    #expect(room.contents(of: "m.call.sdp_stream_metadata_changed").count == 1, "nothing has changed")
  }

  @Test func mutedWhileItRingsIsToldWhenItIsAnswered() {
    ann.place()
    simulation.run(for: 1_000)
    ann.order { .mute($0, audio: nil, video: true) }
    bob.answer()
    simulation.run(for: 3_000)
    #expect(bob.call?.remote.first?.isVideoMuted == true)
  }

  // Proves A5, M37
  @Test func aCameraThatIsSwitchedOnLaterJoinsTheStreamThatIsThere() {
    ann.place(video: false)
    simulation.run(for: 1_000)
    bob.answer(video: false)
    simulation.run(for: 3_000)
    #expect(ann.call?.canOpenCamera == true && ann.call?.local[0].hasPicture == false)
    ann.order { .mute($0, audio: true, video: false) }
    #expect(ann.call?.local[0].isCameraOpening == true && ann.call?.canOpenCamera == false)
    // Once is enough.
    ann.order { .mute($0, audio: nil, video: false) }
    simulation.run(for: 3_000)
    #expect(ann.call?.local.count == 1 && ann.call?.local[0].hasPicture == true && ann.call?.canOpenCamera == false)
    #expect(bob.call?.remote.map(\.isVideoMuted) == [false] && bob.call?.remote.map(\.isAudioMuted) == [true])
    #expect(bob.host.peers.values.first?.attached.count == 2)
    bob.order { .mute($0, audio: nil, video: false) }
    simulation.run(for: 3_000)
    #expect(ann.call?.remote.count == 1 && ann.host.peers.values.first?.attached.count == 2)
    for side in [ann, bob] { #expect(side.call?.state == .connected && side.host.peers.values.first?.state == .stable) }
  }

  @Test func aCameraThatCannotBeOpenedLeavesTheCallAsItIs() {
    ann.place(video: false)
    simulation.run(for: 1_000)
    bob.answer(video: false)
    simulation.run(for: 3_000)
    ann.host.failsToCapture = true
    ann.order { .mute($0, audio: nil, video: false) }
    simulation.run(for: 3_000)
    #expect(ann.call?.state == .connected && ann.call?.canOpenCamera == true)
    // It is given up: nothing keeps the camera open.
    ann.host.failsToCapture = false
    ann.order { .mute($0, audio: nil, video: false) }
    ann.order { .hangUp($0) }
    simulation.run(for: 3_000)
    #expect(ann.call == nil && ann.host.captured.isEmpty && bob.call == nil)
  }

  // Proves A7, M37
  @Test func aScreenIsAStreamOfItsOwn() {
    connect()
    ann.order { .shareScreen($0, true) }
    simulation.run(for: 3_000)
    #expect(bob.call?.remote.map(\.purpose).contains(.screenShare) == true && bob.call?.remote.count == 2)
    #expect(bob.host.peers.values.first?.attached.count == 4)
    bob.order { .shareScreen($0, true) }
    simulation.run(for: 3_000)
    #expect(ann.call?.remote.count == 2)
    ann.order { .shareScreen($0, false) }
    simulation.run(for: 3_000)
    #expect(bob.call?.remote.count == 1 && bob.host.peers.values.first?.attached.count == 2)
    #expect(ann.host.captured.count == 1)
  }

  // Proves M34
  @Test func holdIsNegotiated() {
    connect()
    ann.order { .hold($0, true) }
    simulation.run(for: 3_000)
    #expect(ann.call?.isOnHold == true && bob.call?.isHeldByOpponent == true)
    ann.order { .hold($0, false) }
    simulation.run(for: 3_000)
    #expect(bob.call?.isHeldByOpponent == false && ann.host.peers.values.first?.isHeld == false)
  }

  // Proves M34
  @Test func candidatesComeInFewEvents() {
    ann.place()
    simulation.run(for: 1_000)
    let peer = ann.call?.handle ?? 0
    for i in 0..<5 { ann.put(.media(.candidate(peer, ICECandidate(candidate: ByteString("c\(i)"), mid: "0", lineIndex: 0)))) }
    simulation.run(for: 500)
    #expect(room.contents(of: "m.call.candidates").isEmpty, "they wait for each other")
    simulation.run(for: CallLimits.candidatesAfterInviteMilliseconds)
    #expect(room.contents(of: "m.call.candidates").first?["candidates"]?.count == 5)
    ann.put(.media(.candidate(peer, ICECandidate(candidate: "c5", mid: "0", lineIndex: 0))))
    ann.put(.media(.candidate(peer, nil)))
    simulation.run(for: 100)
    let last = room.contents(of: "m.call.candidates").last?["candidates"]
    #expect(last?.count == 2 && last?.elements.map { $0["candidate"]?.string } == ["c5", ""], "the end is told at once")
    bob.answer()
    simulation.run(for: 3_000)
    #expect(bob.host.peers.values.first?.candidates.count == 7, "those that came while it rang count too")
  }

  @Test func invitesThatComeLateDoNotRing() {
    room.send("@ann:a", "m.call.invite", invite("late", lifetime: "\(CallLimits.ringMilliseconds)"))
    room.send("@ann:a", "m.call.invite", invite("never", lifetime: "-9223372036854775808"))
    simulation.run(for: 1_000)
    #expect(bob.call == nil)
    room.send("@ann:a", "m.call.invite", invite("there", lifetime: "\(CallLimits.ringMilliseconds + 1_000)"))
    simulation.run(for: 1_000)
    #expect(bob.call?.state == .ringing)
    simulation.run(for: CallLimits.ringMilliseconds + 1_000)
    #expect(bob.ends["there"] == .unanswered)
    room.send("@ann:a", "m.call.invite", invite("long", lifetime: "9223372036854775807"))
    simulation.run(for: CallLimits.longestLifetimeMilliseconds + 1_000)
    #expect(bob.ends["long"] == .unanswered)
  }

  @Test func historyAndOthersDoNotRing() {
    func event(_ sender: String, _ content: String, isHistory: Bool = false, regard: MatrixCallEvent.Sender = .known) {
      let event = MatrixCallEvent(
        room: room.id, sender: UserID(sender)!, type: .callInvite, content: Array(content.utf8), ageMilliseconds: 0,
        regard: regard, isHistory: isHistory)
      bob.put(.event(event))
      bob.put(.synced)
    }
    event("@ann:a", invite("old"), isHistory: true)
    event("@eve:e", invite("ignored"), regard: .ignored)
    event("@ann:a", invite("other", extra: #","invitee":"@cid:c""#))
    event("@bob:b", invite("own"))
    #expect(bob.calls.calls.isEmpty)
    event("@eve:e", invite("stranger"), regard: .stranger)
    #expect(bob.call?.state == .ringing && bob.call?.rings == false && bob.rang.isEmpty)
    event("@bob:b", invite("myself", extra: #","invitee":"@bob:b""#))
    #expect(bob.rang == ["myself"], "users may call themselves")
  }

  @Test func whatEndedWithinTheSyncDoesNotRing() {
    bob.syncs = 5_000...5_000
    simulation.run(for: 100)
    ann.place()
    simulation.run(for: 1_000)
    ann.order { .hangUp($0) }
    simulation.run(for: 6_000)
    #expect(bob.rang.isEmpty && bob.call == nil)
  }

  @Test func anInviteThatComesAfterItsHangupDoesNotRing() {
    room.send("@ann:a", "m.call.hangup", #"{"call_id":"x","version":"1","party_id":"px"}"#)
    room.send("@ann:a", "m.call.invite", invite("x"))
    room.send("@ann:a", "m.call.invite", invite("y"))
    simulation.run(for: 1_000)
    #expect(bob.rang == ["y"])
  }

  @Test func aNegotiationWithoutAnswerIsMadeAnew() {
    connect()
    bob.put(.sendFailed(bob.call?.handle ?? 0))
    ann.order { .hold($0, true) }
    simulation.run(for: CallLimits.negotiationMilliseconds - 1_000)
    #expect(room.contents(of: "m.call.negotiate").count == 1)
    simulation.run(for: 2_000)
    #expect(room.contents(of: "m.call.negotiate").count == 2)
  }

  @Test func anOfferThatComesLateIsIgnored() throws {
    connect()
    let id = try #require(ann.call?.id.string)
    let party = try #require(room.contents(of: "m.call.answer").first?["party_id"]?.string)
    for (age, isTaken) in [(30_001, false), (29_000, true)] as [(Int64, Bool)] {
      let content =
        #"{"call_id":"\#(id)","version":"1","party_id":"\#(party)","lifetime":30000,"description":{"type":"offer","sdp":"v=0\na=inactive\n"}}"#
      ann.put(
        .event(
          MatrixCallEvent(
            room: room.id, sender: bob.user, type: .callNegotiate, content: Array(content.utf8), ageMilliseconds: age)))
      simulation.run(for: 1_000)
      #expect(ann.call?.isHeldByOpponent == isTaken)
    }
  }

  @Test func callsAreLimited() {
    for i in 0...CallLimits.calls { room.send("@u\(i / CallLimits.callsOfOne):a", "m.call.invite", invite("c\(i)")) }
    simulation.run(for: 1_000)
    #expect(bob.calls.calls.count == CallLimits.calls)
    bob.put(.command(.place(RoomID("!other:a")!, invitee: nil, audio: true, video: false)))
    #expect(bob.calls.calls.contains { $0.isOutgoing }, "what others ask for keeps nobody from calling")
  }

  @Test func onePersonAsksForSoManyCalls() {
    for i in 0...CallLimits.callsOfOne { room.send("@ann:a", "m.call.invite", invite("c\(i)")) }
    simulation.run(for: 1_000)
    #expect(bob.calls.calls.count == CallLimits.callsOfOne)
  }

  @Test func whoLeavesHasHungUp() {
    connect()
    bob.put(.left(room.id, ann.user))
    #expect(bob.ends.values.first == .left)
    ann.put(.left(room.id, ann.user))
    #expect(ann.ends.values.first == .left && ann.host.peers.isEmpty)
  }

  @Test func withoutCameraThereIsNoCall() {
    bob.host.failsToCapture = true
    ann.place()
    simulation.run(for: 1_000)
    bob.answer()
    simulation.run(for: 1_000)
    #expect(bob.ends.values.first == .mediaFailed)
    #expect(ann.ends.values.first == .hungUpByOther(reason: "user_media_failed"))
    bob.place()
    simulation.run(for: 1_000)
    #expect(bob.ends.count == 2 && ann.rang.isEmpty, "nobody hears of a call that could not begin")
  }

  @Test func withoutAnAnswerOfTheHostThereIsNoCall() {
    ann.place()
    simulation.run(for: 1_000)
    bob.host.failsToDescribe = true
    bob.answer()
    simulation.run(for: 1_000)
    #expect(bob.ends.values.first == .mediaFailed)
    #expect(ann.ends.values.first == .hungUpByOther(reason: "unknown_error"))
  }

  @Test func anInviteThatIsNotSentEndsIt() {
    ann.place()
    simulation.run(for: 100)
    ann.put(.sendFailed(ann.call?.handle ?? 0))
    #expect(ann.ends.values.first == .sendFailed && ann.host.peers.isEmpty)
  }
}
