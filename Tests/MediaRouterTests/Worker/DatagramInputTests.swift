import CLinux
import Glibc
@testable import MediaRouter
import Testing

@Suite struct DatagramInputTests {
  /// Waits for so many datagrams, or ten seconds for one; how many messages they came in.
  private static func receive(
    _ count: Int, _ input: DatagramInput, _ socket: Socket
  ) -> (found: [[UInt8]], from: Set<UInt16>, messages: Int) {
    var (found, from, messages): ([[UInt8]], Set<UInt16>, Int) = ([], [], 0)
    while found.count < count, socket.wait(milliseconds: 10_000) {
      messages += input.read()
      input.forEachDatagram {
        found.append(Array($0))
        from.insert($1.port)
      }
    }
    return (found, from, messages)
  }

  // Proves M14
  @Test(arguments: [true, false], [true, false])
  func whatIsSentAsOneMessageIsCutIntoItsDatagrams(_ isCoalescing: Bool, _ isSegmenting: Bool) {
    let (from, to) = (Socket(), Socket())
    let input = DatagramInput(to.descriptor, isCoalescing: isCoalescing)
    let sent = (0..<100).map { [UInt8](repeating: UInt8($0), count: $0 % 10 == 9 ? 500 : 1100) }
    let batch = SendBatch()
    for bytes in sent { batch.append(bytes, to: to.address) }
    DatagramOutput(from.descriptor, isSegmenting: isSegmenting).send(batch)
    let (found, ports, messages) = Self.receive(100, input, to)
    #expect(found == sent)
    #expect(ports == [from.address.port])
    // The last of each ten is shorter and ends a message.
    if !input.isCoalescing { #expect(messages == 100) } else if isSegmenting { #expect(messages == 10) }
  }

  @Test func datagramsOfSeveralSendersStayApart() {
    let (senders, to) = ((0..<3).map { _ in Socket() }, Socket())
    let input = DatagramInput(to.descriptor)
    for round in 0..<20 {
      for (i, sender) in senders.enumerated() {
        sender.send((0..<6).map { [UInt8(i), UInt8(round), UInt8($0)] + [UInt8](repeating: 9, count: 900) }, to: to.address)
      }
    }
    let found = Self.receive(360, input, to).found
    for i in 0..<3 {
      let expected = (0..<20).flatMap { round in (0..<6).map { [UInt8(i), UInt8(round), UInt8($0)] } }
      #expect(found.filter { $0[0] == i }.map { Array($0.prefix(3)) } == expected)
    }
  }

  @Test func ofAMessageThatIsCutOnlyWholeDatagramsCount() throws {
    let (from, to) = (Socket(), Socket())
    try #require(datagrams_coalesce(to.descriptor) == 0)
    from.send((1...5).map { [UInt8](repeating: UInt8($0), count: 1000) }, to: to.address)
    #expect(to.wait(milliseconds: 10_000))
    var memory = [UInt8](repeating: 0xEE, count: 4000)
    var received = datagram()
    memory.withUnsafeMutableBufferPointer { bytes in
      #expect(datagrams_receive(to.descriptor, bytes.baseAddress!, 2500, 1, &received) == 1)
      var found: [[UInt8]] = []
      received.forEachSegment { found.append(Array($0)) }
      #expect(found == [[UInt8](repeating: 1, count: 1000), [UInt8](repeating: 2, count: 1000)])
    }
    #expect(memory[2500...].allSatisfy { $0 == 0xEE })
  }

  /// An empty datagram is one too.
  @Test func anEmptyDatagramHarmsNothing() {
    let (from, to) = (Socket(), Socket())
    let input = DatagramInput(to.descriptor)
    var bytes: UInt8 = 0
    var empty = withUnsafeMutablePointer(to: &bytes) {
      datagram(
        bytes: $0, count: 0, segment_bytes: 0, port: to.address.port, address_high: to.address.high,
        address_low: to.address.low)
    }
    #expect(datagrams_send(from.descriptor, &empty, 1) == 1)
    from.send([[1]], to: to.address)
    #expect(Self.receive(2, input, to).found == [[], [1]])
  }

  @Test(arguments: [
    (0, 0, [0]), (0, 7, [0]), (100, 0, [100]), (100, 100, [100]), (100, 101, [100]), (100, 65_535, [100]),
    (100, 30, [30, 30, 30, 10]), (100, 50, [50, 50]), (3, 1, [1, 1, 1])
  ]) func aMessageIsCutByWhatItsSegmentsHave(_ count: Int, _ segment: Int, _ expected: [Int]) {
    var bytes = (0..<UInt8(max(1, count))).map { $0 }
    bytes.withUnsafeMutableBufferPointer { buffer in
      let message = datagram(
        bytes: buffer.baseAddress!, count: UInt32(count), segment_bytes: UInt16(segment), port: 0, address_high: 0,
        address_low: 0)
      var found: [[UInt8]] = []
      message.forEachSegment { found.append(Array($0)) }
      #expect(found.map(\.count) == expected)
      #expect(found.flatMap { $0 } == Array(buffer.prefix(count)))
    }
  }
}
