@testable import MediaRouter
import Testing

/// How fast is sent again what a subscriber asks for.
@Suite struct RepairTests {
  /// Of 150 kbit/s, over a link of 1 Mbit/s.
  private static func call(isMeasured: Bool) -> Call {
    var call = Call(transportSequence: isMeasured ? 5 : 0)
    call.simulation.conditions.rate = 1_000_000
    call.subscriber.feedbackExtension = isMeasured ? 5 : 0
    call.publish(frames: 120)
    call.subscriber.asksAgain = false
    return call
  }

  /// The numbers of the last packets.
  private static func last(_ count: UInt64, of call: Call) -> [UInt64] {
    let highest = call.subscriber.received[Call.ssrc]!.keys.max()!
    return Array((highest - count + 1)...highest)
  }

  private static func ask(_ call: Call, for numbers: some Sequence<UInt64>) {
    call.subscriber.sendControl { $0.nack(sender: 77, media: Call.ssrc, lost: [NackPair](Array(numbers))) }
  }

  private static func repairs(_ call: Call) -> Int { call.received.count { $0.header.ssrc == Call.ssrc + 1 } }

  @Test(arguments: [true, false]) func manyAtOnceFillNoQueue(_ isMeasured: Bool) {
    let call = Self.call(isMeasured: isMeasured)
    // 50 KB: the link would need 400 ms.
    Self.ask(call, for: Self.last(200, of: call))
    var worst = MediaTime.Interval.milliseconds(0)
    for _ in 0..<1000 {
      call.simulation.run(.milliseconds(1))
      worst = max(worst, call.simulation.queue(to: call.subscriber))
    }
    #expect(worst > .milliseconds(20) && worst < .milliseconds(60), "\(worst.milliseconds) ms")
    #expect((80..<200).contains(Self.repairs(call)), "\(Self.repairs(call))")
    #expect(call.simulation.unit.transports[call.subscriber.id]!.repairs.first == nil, "what waited too long is forgotten")
  }

  @Test(arguments: [true, false]) func aFewComeAtOnce(_ isMeasured: Bool) {
    let call = Self.call(isMeasured: isMeasured)
    Self.ask(call, for: Self.last(10, of: call))
    // There, over the link, and back.
    call.simulation.run(.milliseconds(50)) { Self.repairs(call) == 10 }
    #expect(Self.repairs(call) == 10)
  }

  @Test func whoAsksAgainWhilePacketsWaitGetsEachOnce() {
    let call = Self.call(isMeasured: false)
    let numbers = Self.last(100, of: call)
    let transport = call.simulation.unit.transports[call.subscriber.id]!
    let before = call.simulation.unit.subscription(SubscriptionID(1))!.rtxIndex
    Self.ask(call, for: numbers)
    // Each 5 ms for the later half, which waits all the while.
    for _ in 0..<15 {
      call.simulation.run(.milliseconds(5))
      Self.ask(call, for: numbers.suffix(50))
    }
    call.simulation.run(.seconds(1))
    #expect(transport.repairs.first == nil)
    let sent = call.simulation.unit.subscription(SubscriptionID(1))!.rtxIndex - before
    #expect(sent == 100)
  }

  // Proves M15
  @Test(arguments: [
    RouterCommand.unsubscribe(SubscriptionID(1)), .unpublish(Call.track), .close(TransportID(1)), .close(TransportID(2))
  ]) func whatWaitsEndsWithItsSubscription(_ command: RouterCommand) {
    let call = Self.call(isMeasured: true)
    Self.ask(call, for: Self.last(200, of: call))
    let transport = call.simulation.unit.transports[call.subscriber.id]!
    call.simulation.run(.milliseconds(100)) { transport.repairs.first != nil }
    #expect(transport.repairs.first != nil)
    call.simulation.command(command)
    #expect(transport.repairs.first == nil)
    call.simulation.run(.seconds(1))
  }
}

@Suite struct SentHistoryTests {
  @Test func aPacketIsWantedOnceUntilItWasSentAgain() throws {
    var history = SentHistory()
    func want(_ number: UInt16, at milliseconds: Int64) -> UInt64? {
      history.want(number, now: .zero + .milliseconds(milliseconds))
    }
    #expect(want(7, at: 0) == nil)
    let output = StreamRewriter.Output(index: 7, timestamp: 0, marker: false)
    history.insert(SentHistory.Entry(output: output, source: 1, layer: 0, lastSent: .zero))
    #expect(want(7, at: 1) == 7, "the path may be short")
    #expect(want(7, at: 100) == nil)
    history.forgo(7)
    #expect(want(7, at: 100) == 7)
    history.resent(7, now: .zero + .milliseconds(110))
    #expect(history.wanted(7) == nil)
    for round in 1..<Int64(SentHistory.resendsLimit) {
      #expect(want(7, at: 110 * round + 10) == nil)
      #expect(want(7, at: 110 * (round + 1)) == 7)
      history.resent(7, now: .zero + .milliseconds(110 * (round + 1)))
    }
    #expect(want(7, at: 10_000) == nil)
  }
}
