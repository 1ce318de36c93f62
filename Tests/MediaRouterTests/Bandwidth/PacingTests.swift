@testable import MediaRouter
import Testing

/// A key frame of many packets and a link of 1 Mbit/s, in front of which nothing may wait for longer than 60 ms.
@Suite struct PacingTests {
  private struct Scene {
    static let sound: UInt32 = 6000
    static let keyFramePackets = 60

    let simulation: Simulation
    let publisher: SimulatedPeer
    let subscriber: SimulatedPeer
    private var source = VP8Source(ssrc: 10)
    private var soundNumber: UInt16 = 0
    private var milliseconds = 0
    private var answered = 0

    /// - Parameter isMeasured: the subscriber tells when packets arrive.
    init(seed: UInt64, isMeasured: Bool) {
      simulation = Simulation(seed: seed)
      publisher = simulation.join()
      subscriber = simulation.join()
      simulation.conditions.delay = .milliseconds(20)
      simulation.conditions.rate = 1_000_000
      subscriber.asksAgain = false
      subscriber.repairs = [Call.ssrc + 1: Call.ssrc]
      if isMeasured { subscriber.feedbackExtension = 5 }
      var video = TrackParameters(codec: .vp8, payloadType: 96)
      video.hasPictureLoss = true
      simulation.command(.publish(Call.track, on: publisher.id, video))
      simulation.command(.publish(TrackID(2), on: publisher.id, TrackParameters(codec: .opus, payloadType: 111)))
      for (number, ssrc) in [Call.ssrc, Self.sound].enumerated() {
        var parameters = SubscriptionParameters(ssrc: ssrc, payloadType: number == 0 ? 96 : 111)
        parameters.extensions.transportSequence = isMeasured ? 5 : 0
        if number == 0 { (parameters.rtxSSRC, parameters.rtxPayloadType) = (Call.ssrc + 1, 97) }
        let id = SubscriptionID(UInt64(number))
        simulation.command(.subscribe(id, to: TrackID(UInt64(number + 1)), on: subscriber.id, parameters))
      }
    }

    var estimate: Double? { simulation.unit.transport(at: subscriber.address)?.path.sender?.known }
    var isEmpty: Bool { simulation.unit.transport(at: subscriber.address)?.pacer.isEmpty ?? true }
    var received: Int { subscriber.received[Call.ssrc]?.count ?? 0 }
    var sentPackets: Int { Int(source.sequenceNumber) - 100 }
    var soundCount: (sent: Int, received: Int) { (Int(soundNumber), subscriber.received[Self.sound]?.count ?? 0) }

    /// Frames of so many packets, 30 a second, and sound between them.
    mutating func play(milliseconds count: Int, packetsPerFrame: Int) {
      for _ in 0..<count {
        if milliseconds % 20 == 0 { sendSound() }
        if milliseconds % 33 == 0 {
          sendFrame(packetsPerFrame, isKey: source.frames == 0 || publisher.pictureLossCount > answered)
        }
        simulation.run(.milliseconds(1))
        milliseconds += 1
      }
    }

    mutating func sendFrame(_ packets: Int, isKey: Bool) {
      answered = publisher.pictureLossCount
      source.packetsPerFrame = packets
      for (packet, rollOver) in source.frame(isKey: isKey) { publisher.send(packet, rollOver: rollOver) }
    }

    private mutating func sendSound() {
      var packet: [UInt8] = [0x80, 111]
      packet.append(number: soundNumber)
      packet.append(number: UInt32(soundNumber) * 960)
      packet.append(number: UInt32(20))
      publisher.send(packet + [UInt8](repeating: 7, count: 80))
      soundNumber += 1
    }

    /// Too much for a while, so that it is known what the path carries; then what fits.
    mutating func learn() {
      play(milliseconds: 3_000, packetsPerFrame: 30)
      play(milliseconds: 6_000, packetsPerFrame: 6)
      simulation.conditions.queue = .milliseconds(60)
    }

    /// What of a key frame is lost, and the longest that anything waits for the link.
    mutating func sendKeyFrame() -> (lost: Int, queue: MediaTime.Interval) {
      simulation.run(.milliseconds(200))
      let (sent, got) = (sentPackets, received)
      sendFrame(Self.keyFramePackets, isKey: true)
      var longest = MediaTime.Interval.milliseconds(0)
      for _ in 0..<500 {
        if milliseconds % 20 == 0 { sendSound() }
        simulation.run(.milliseconds(1))
        milliseconds += 1
        longest = max(longest, simulation.queue(to: subscriber))
      }
      return (sentPackets - sent - (received - got), longest)
    }
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>) func aKeyFrameFindsRoomOnANarrowPathThatIsKnown(_ seed: UInt64) throws {
    var scene = Scene(seed: seed, isMeasured: true)
    scene.learn()
    let estimate = try #require(scene.estimate)
    #expect((400_000...1_300_000).contains(estimate), "\(estimate)")
    let sound = scene.soundCount
    let (lost, queue) = scene.sendKeyFrame()
    #expect(lost == 0, "queue \(queue)")
    let after = scene.soundCount
    #expect(after.sent - sound.sent == after.received - sound.received, "sound does not wait, nor is it lost")
    #expect(scene.isEmpty)
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>) func whereNothingIsKnownNothingWaitsAndSomeOfItIsLost(_ seed: UInt64) {
    var scene = Scene(seed: seed, isMeasured: false)
    scene.learn()
    let (lost, queue) = scene.sendKeyFrame()
    #expect(lost > 10 && queue > .milliseconds(55), "\(lost) lost, \(queue)")
  }

  // Proves M15
  @Test func whatWaitsEndsWithItsSubscription() {
    for command in [
      RouterCommand.unsubscribe(SubscriptionID(0)), .unpublish(Call.track), .close(TransportID(1)), .close(TransportID(2))
    ] {
      var scene = Scene(seed: 1, isMeasured: true)
      scene.learn()
      scene.sendFrame(Scene.keyFramePackets, isKey: true)
      scene.simulation.run(.milliseconds(40))
      #expect(!scene.isEmpty && !scene.simulation.unit.pacedTransports.isEmpty)
      scene.simulation.command(command)
      #expect(scene.isEmpty)
      scene.simulation.run(.milliseconds(10))
      #expect(scene.simulation.unit.pacedTransports.isEmpty)
    }
  }

  // Proves M15
  @Test func whatComesSteadilyIsNotHeldBackByAnEstimateThatIsTooLow() throws {
    var scene = Scene(seed: 1, isMeasured: true)
    scene.learn()
    // The path carries ten times as much from now on, and what comes is twice what was known.
    scene.simulation.conditions.rate = 10_000_000
    scene.play(milliseconds: 3_000, packetsPerFrame: 30)
    let (sent, got) = (scene.sentPackets, scene.received)
    scene.play(milliseconds: 1_000, packetsPerFrame: 30)
    #expect(scene.isEmpty)
    #expect(scene.received - got >= scene.sentPackets - sent - 30)
  }

  // Proves M15
  @Test func aUsualPictureGoesAtOnceHoweverLargeItIs() {
    var (pacer, now) = (Pacer(), MediaTime(microseconds: 5_000_000))
    // Five pictures of 20,000 bytes a second, as a screen has them.
    pacer.pace(carried: 900_000, coming: 800_000, picture: 20_000, now: now)
    for _ in 0..<10 {
      let isPaced = pacer.begin(now)
      #expect(isPaced)
      for _ in 0..<20 {
        #expect(!pacer.mustWait)
        pacer.spend(1_000)
      }
      now = now + .milliseconds(200)
    }
    var sizes = PictureBytes()
    for number in 0..<200 as Range<UInt32> {
      for _ in 0..<(number == 190 ? 100 : 10) { sizes.add(1_000, timestamp: number * 3_000) }
    }
    #expect((9_500...14_000).contains(sizes.usual), "\(sizes.usual)")
  }

  // Proves M15
  @Test func theFirstPacketsGoAtOnceTheNextWhenThereIsRoomAndTooManyDoNotWait() throws {
    let call = Call()
    let subscription = try #require(call.simulation.unit.subscription(SubscriptionID(1)))
    var (pacer, now) = (Pacer(), MediaTime(microseconds: 5_000_000))
    let held = Pacer.Held(subscription: subscription, output: subscription.rewriter.last, sequence: 1, position: 0)
    let unpaced = pacer.begin(now)
    #expect(!unpaced, "nothing is known")
    pacer.pace(carried: 800_000, coming: 0, picture: 0, now: now)
    // 40 ms are 4,000 bytes.
    var isPaced = pacer.begin(now)
    #expect(isPaced && !pacer.mustWait)
    for _ in 0..<4 { pacer.spend(1_000) }
    #expect(!pacer.mustWait)
    pacer.spend(1_000)
    #expect(pacer.mustWait)
    for _ in 0..<3 { pacer.hold(held) }
    var taken = pacer.take(isForced: false)
    #expect(taken == nil)
    now = now + .milliseconds(10)
    isPaced = pacer.begin(now)
    taken = pacer.take(isForced: false)
    #expect(isPaced && taken != nil)
    pacer.spend(1_000)
    taken = pacer.take(isForced: false)
    #expect(taken == nil && pacer.mustWait)
    // What comes steadily passes.
    pacer.pace(carried: 800_000, coming: 8_000_000, picture: 0, now: now)
    now = now + .milliseconds(1)
    _ = pacer.begin(now)
    taken = pacer.take(isForced: false)
    #expect(taken != nil && pacer.mustWait, "those behind it keep their turn")
    while !pacer.isFull { pacer.hold(held) }
    var count = 0
    while pacer.take(isForced: true) != nil { count += 1 }
    #expect(count == Pacer.packetsLimit && pacer.isEmpty)
  }
}
