@testable import MediaRouter
import Testing

/// Of how many packets a subscriber's feedback may tell.
@Suite struct FeedbackBudgetTests {
  private static func feedback(_ base: Int, _ arrivals: [Int64?]) -> TransportFeedback {
    TransportFeedback(
      sender: 77, media: 0, base: UInt16(truncatingIfNeeded: base), number: 0, arrivals: arrivals)
  }

  /// As the router reads a datagram; whether the feedback in it was read.
  @discardableResult private static func receive(
    _ feedback: TransportFeedback, _ estimate: inout SenderEstimate, now: MediaTime
  ) -> Bool {
    var writer = RTCPWriter()
    writer.transportFeedback(feedback)
    let budget = estimate.budget.left
    var reader = RTCPReader(feedbackPackets: budget)
    var isRead = false
    while let packet = reader.next(in: writer.bytes.span.bytes) {
      guard case .transportFeedback(let feedback) = packet else { continue }
      estimate.receive(feedback, now: now)
      isRead = true
    }
    estimate.charge(budget - reader.feedbackPackets)
    return isRead
  }

  private static func estimate(of call: Call) -> SenderEstimate {
    call.simulation.unit.transports[call.subscriber.id]!.path.sender!
  }

  @Test func aSubscriberThatTellsOfMoreThanWasSentIsNotReadUntilMoreIsSent() {
    var call = Call(transportSequence: 5)
    call.publish(frames: 90)
    let sent = 90 * call.sources[0].packetsPerFrame
    #expect(Self.estimate(of: call).budget.left == sent * FeedbackBudget.tellings)

    // 24 bytes each, and 4,096 packets nobody knows.
    for _ in 0..<100 {
      call.subscriber.sendControl { writer in
        for _ in 0..<10 { writer.transportFeedback(Self.feedback(20_000, Array(repeating: nil, count: 4096))) }
      }
    }
    call.simulation.run(.milliseconds(40))
    let left = Self.estimate(of: call).budget.left
    #expect(left < 4096)
    call.subscriber.sendControl { $0.transportFeedback(Self.feedback(20_000, Array(repeating: nil, count: left))) }
    call.simulation.run(.milliseconds(40))
    #expect(Self.estimate(of: call).budget.left == 0)

    // Now even the truth is not read, …
    func tell(from first: Int, _ count: Int) {
      let arrivals = (0..<count).map { Int64($0) * 20 }
      call.subscriber.sendControl { $0.transportFeedback(Self.feedback(first, arrivals)) }
      call.simulation.run(.milliseconds(40))
    }
    tell(from: sent - 200, 200)
    #expect(Self.estimate(of: call).arriving == nil)
    // … until more has gone to it.
    call.publish(frames: 10)
    tell(from: sent - 200, 200)
    #expect(Self.estimate(of: call).arriving != nil)
  }

  @Test func feedbackThatIsCutIsPaidForToo() {
    // 4,096 small deltas are claimed, and none is there.
    let claim = hex("8fcd0005 00000001 00000002 0000 1000 000000 00 3000 0000")
    var reader = RTCPReader(feedbackPackets: 10_000)
    #expect(reader.next(in: claim.span.bytes) == nil)
    #expect(reader.feedbackPackets == 10_000 - 4096)
  }

  /// Each report tells of the last half second again, as if a packet of then had just come; and some reports come late, or in another order.
  @Test(arguments: [50, 230, 1000, 2000]) func whoTellsOfEachPacketTenTimesLosesNothing(_ packetsPerSecond: Int) {
    var (estimate, random) = (SenderEstimate(), SeededGenerator(seed: 4))
    var underWay: [TransportFeedback] = []
    for report in 1...400 {
      let now = MediaTime(microseconds: Int64(report) * 50_000)
      let (first, end) = ((report - 1) * packetsPerSecond / 20, report * packetsPerSecond / 20)
      for number in first..<end { estimate.send(UInt16(truncatingIfNeeded: number), bytes: 1000, now: now) }
      let base = max(0, end - packetsPerSecond / 2)
      underWay.append(Self.feedback(base, (base..<end).map { Int64($0) * 4000 / Int64(packetsPerSecond) }))
      guard report % 4 == 0 || Bool.random(using: &random) else { continue }
      for feedback in underWay.shuffled(using: &random) { #expect(Self.receive(feedback, &estimate, now: now)) }
      underWay = []
      for number in first..<end {
        let isUntold = estimate.packets.knows(UInt16(truncatingIfNeeded: number))
        #expect(!isUntold)
      }
    }
  }

  @Test func whoHeardNothingForLongMayTellOfAllThatWasLost() {
    var estimate = SenderEstimate()
    for number in 0..<4000 { estimate.send(UInt16(number), bytes: 1000, now: .zero + .milliseconds(Int64(number))) }
    let now = MediaTime.zero + .seconds(5)
    let (lost, arrived) = ([Int64?](repeating: nil, count: 3900), (0..<96).map { Int64?($0 * 4) })
    #expect(Self.receive(Self.feedback(0, lost + arrived), &estimate, now: now))
    #expect(!estimate.packets.knows(3990) && estimate.packets.knows(3890))
  }

  @Test func aReceiverWhoseClockStandsStillIsNotRememberedForEver() {
    var arrivals = ArrivalRate()
    for _ in 0..<100_000 { arrivals.add(1000, at: 0) }
    arrivals.add(1000, at: 200_000)
    let most = Double(ArrivalRate.arrivalsLimit) * 1000 * 8 / 0.2
    #expect(arrivals.bitsPerSecond().map { $0 <= most } ?? false)
  }
}
