import MediaRouter
import Testing

@testable import Recording

@Suite struct JitterBufferTests {
  private func packet(_ sequence: UInt64, at time: Int64 = 0) -> JitterBuffer.Packet {
    let head = TappedBatch.Packet(
      subscription: SubscriptionID(1), sequence: sequence, timestamp: 0, marker: false, startsFrame: true, isKeyFrame: false,
      arrival: milliseconds(time), media: 0..<0)
    return JitterBuffer.Packet(head: head, media: [])
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func whateverComesGoesOutInOrderOnceAndGapsAreTold(_ seed: UInt64) {
    var random = Numbers(state: seed)
    var buffer = JitterBuffer()
    buffer.insert(packet(100))
    var sent: Set<UInt64> = [100]
    var taken: [JitterBuffer.Packet] = []
    for time in 0..<2_000 as Range<Int64> {
      let sequence = 100 + UInt64(time) + UInt64.random(in: 0..<40, using: &random) * 2
      buffer.insert(packet(sequence, at: time))
      sent.insert(sequence)
      while let one = buffer.take(now: milliseconds(time)) { taken.append(one) }
    }
    while let one = buffer.take(now: milliseconds(2_000), isOver: true) { taken.append(one) }
    let numbers = taken.map(\.head.sequence)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 } && Set(numbers).isSubset(of: sent))
    #expect(zip(taken, taken.dropFirst()).allSatisfy { $1.follows == ($1.head.sequence == $0.head.sequence + 1) })
    #expect(taken.count > 500)
  }

  @Test func whatWaitsIsBounded() {
    var buffer = JitterBuffer()
    buffer.insert(packet(1))
    #expect(buffer.take(now: .init(microseconds: 0))?.head.sequence == 1)
    for sequence in stride(from: 10_000, to: 0, by: -2) as StrideTo<Int> { buffer.insert(packet(UInt64(sequence) + 2)) }
    var count = 0
    while buffer.take(now: .init(microseconds: 0), isOver: true) != nil { count += 1 }
    #expect(count == 2 * JitterBuffer.packetsLimit)
  }
}
