import Addresses
import CLinux
import Glibc
@testable import MediaRouter
import Testing

/// Connections that carry packets: their frames, and what they may cost.
@Suite struct StreamTests {
  /// A port with connections, whose time the test makes.
  private final class Port {
    let sockets: StreamSockets
    let port: UInt16
    var now = MediaTime(microseconds: 0)
    var received: [(bytes: [UInt8], address: TransportAddress)] = []
    var lost: [TransportAddress] = []
    var known: Set<TransportAddress> = []

    init(_ framing: StreamFraming, _ limits: StreamLimits = StreamLimits()) {
      var port: UInt16 = 0
      let loopback = TransportAddress(IPAddress("127.0.0.1")!, port: 0)
      let listener = streams_listen(loopback.high, loopback.low, &port)
      self.port = port
      sockets = StreamSockets(listener: listener, framing: framing, limits: limits)!
      sockets.receive = { [unowned self] in received.append((Array($0), $1)) }
      sockets.isKnown = { [unowned self] in known.contains($0) }
      sockets.lost = { [unowned self] in lost.append($0) }
    }

    func connect() -> Int32 {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, 16) }
      }
      precondition(result == 0)
      sockets.handle(now: now)
      return descriptor
    }

    /// Handles what comes until there is so much.
    func handle(until condition: () -> Bool) {
      for _ in 0..<5_000 where !condition() {
        sockets.handle(now: now)
        usleep(1_000)
      }
    }

    func pass(seconds: Int64) {
      for _ in 0..<seconds {
        now = now + .seconds(1)
        sockets.sweep(now: now)
      }
    }
  }

  private func isOver(_ descriptor: Int32) -> Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) == 0
  }

  /// Connects as somebody who is known.
  private func befriend(_ port: Port) -> (descriptor: Int32, address: TransportAddress) {
    let descriptor = port.connect()
    say([0, 1, 1], on: descriptor)
    port.handle { !port.received.isEmpty }
    let address = port.received[0].address
    port.known = [address]
    return (descriptor, address)
  }

  private func say(_ bytes: [UInt8], on descriptor: Int32) {
    precondition(write(descriptor, bytes, bytes.count) == bytes.count)
  }

  @Test(
    arguments: [
      (.lengths, [0, 2, 7, 8, 0, 0, 0, 1, 9], [[7, 8], [], [9]]),
      (.turn, [0x40, 0, 0, 1, 5, 0, 0, 0, 0x40, 1, 0, 0], [[0x40, 0, 0, 1, 5, 0, 0, 0], [0x40, 1, 0, 0]])
    ] as [(StreamFraming, [UInt8], [[UInt8]])])
  func framesAreReadHoweverTheyComeInPieces(_ framing: StreamFraming, _ bytes: [UInt8], _ frames: [[UInt8]]) {
    for cut in 0...bytes.count {
      let port = Port(framing)
      let descriptor = port.connect()
      defer { close(descriptor) }
      for part in [bytes[..<cut], bytes[cut...]] where !part.isEmpty {
        say(Array(part), on: descriptor)
        usleep(2_000)
        port.sockets.handle(now: port.now)
      }
      port.handle { port.received.count == frames.count }
      #expect(port.received.map(\.bytes) == frames, "cut at \(cut)")
    }
  }

  @Test(
    arguments: [
      (.lengths, [0x08, 0x01], false), (.lengths, [0x08, 0x00], true), (.turn, [0x80, 0, 0, 0], false),
      (.turn, [0x40, 0, 0x07, 0xFC], true), (.turn, [0x40, 0, 0x08, 0], false), (.turn, [0, 1, 0x07, 0xF0], false)
    ] as [(StreamFraming, [UInt8], Bool)])
  func aFrameThatCannotBeEndsTheConnection(_ framing: StreamFraming, _ start: [UInt8], _ isTaken: Bool) {
    let port = Port(framing)
    let descriptor = port.connect()
    defer { close(descriptor) }
    say(start, on: descriptor)
    if isTaken {
      say([UInt8](repeating: 0, count: 2_048), on: descriptor)
      port.handle { !port.received.isEmpty }
      #expect(port.received.count == 1 && !isOver(descriptor))
    } else {
      port.handle { isOver(descriptor) }
      #expect(isOver(descriptor) && port.sockets.isEmpty && port.received.isEmpty)
    }
  }

  // Proves M18
  @Test func aStrangerHasTenSecondsAndSomebodyKnownStays() {
    let port = Port(.lengths)
    let (stranger, friend) = (port.connect(), port.connect())
    defer { for descriptor in [stranger, friend] { close(descriptor) } }
    say([0, 1, 1], on: friend)
    port.handle { !port.received.isEmpty }
    port.known = [port.received[0].address]
    port.pass(seconds: 9)
    #expect(!isOver(stranger))
    port.pass(seconds: 1)
    #expect(isOver(stranger) && !isOver(friend))
    port.known = []
    port.pass(seconds: 9)
    #expect(!isOver(friend))
    port.pass(seconds: 1)
    #expect(isOver(friend) && port.sockets.isEmpty && port.lost.count == 2)
  }

  @Test func strangersAndConnectionsAreCounted() {
    var limits = StreamLimits()
    (limits.strangersOfNetwork, limits.strangers) = (2, 3)
    let port = Port(.lengths, limits)
    let first = (0..<3).map { _ in port.connect() }
    #expect(first.map { isOver($0) } == [false, false, true])
    limits = StreamLimits()
    (limits.strangersOfNetwork, limits.strangers, limits.connections) = (9, 2, 9)
    let other = Port(.lengths, limits)
    let second = (0..<3).map { _ in other.connect() }
    #expect(second.map { isOver($0) } == [false, false, true])
    limits.connections = 1
    let last = Port(.lengths, limits)
    let third = (0..<2).map { _ in last.connect() }
    #expect(third.map { isOver($0) } == [false, true])
    for descriptor in first + second + third { close(descriptor) }
  }

  /// An attacker with one address of a network has all of them.
  @Test(arguments: [
    ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("192.0.2.1", "::ffff:192.0.2.1", true),
    ("2001:db8::1", "2001:db8::ffff:1", true), ("2001:db8::1", "2001:db8:0:1::1", false), ("::1", "192.0.2.1", false)
  ])
  func strangersAreCountedByNetwork(_ one: String, _ other: String, _ isSame: Bool) {
    let networks = [one, other].map { TransportAddress(IPAddress($0)!, port: 1, isStream: true).network }
    #expect((networks[0] == networks[1]) == isSame)
  }

  @Test func whatIsSentComesAsFrames() {
    let port = Port(.lengths)
    let descriptor = port.connect()
    defer { close(descriptor) }
    say([0, 1, 1], on: descriptor)
    port.handle { !port.received.isEmpty }
    let batch = SendBatch()
    for bytes: [UInt8] in [[1, 2], [3, 4], [5]] { batch.append(bytes, to: port.received[0].address) }
    port.sockets.send(batch)
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = recv(descriptor, &bytes, 32, 0)
    #expect(Array(bytes.prefix(max(0, count))) == [0, 2, 1, 2, 0, 2, 3, 4, 0, 1, 5])
  }

  /// As where the system has no descriptors left: also while nobody is connected, who would have it looked after.
  @Test func whereNobodyCanBeAcceptedItIsTriedAgain() {
    var ends: [Int32] = [0, 0]
    precondition(pipe(&ends) == 0)
    defer { close(ends[1]) }
    // Can be read, and accepts nobody.
    say([1], on: ends[1])
    let sockets = StreamSockets(listener: ends[0], framing: .lengths)!
    #expect(sockets.isIdle)
    for second in 1...3 as ClosedRange<Int64> {
      sockets.handle(now: .zero + .seconds(second))
      #expect(sockets.isEmpty && !sockets.isIdle)
      sockets.sweep(now: .zero + .seconds(second))
      #expect(sockets.isIdle)
    }
  }

  @Test func whoReadsNothingCostsNoMoreThanItsBufferAndIsLetGo() {
    var limits = StreamLimits()
    limits.outputBytes = 64 << 10
    let port = Port(.lengths, limits)
    let (descriptor, address) = befriend(port)
    defer { close(descriptor) }
    let batch = SendBatch()
    var packets = 0
    // More than the system's own buffers hold.
    for _ in 0..<40 {
      for _ in 0..<500 { batch.append([UInt8](repeating: 1, count: 1_000), to: address) }
      packets += 500
      port.sockets.send(batch)
      batch.removeAll()
    }
    #expect(port.sockets.waitingBytes > 60 << 10 && port.sockets.waitingBytes <= 64 << 10)
    port.pass(seconds: 1)
    port.pass(seconds: 9)
    #expect(port.lost.isEmpty)
    port.pass(seconds: 1)
    #expect(port.lost == [address] && port.sockets.isEmpty)
  }

  @Test func whoReadsSlowlyStaysAndLosesPackets() {
    let port = Port(.lengths)
    let (descriptor, address) = befriend(port)
    defer { close(descriptor) }
    let batch = SendBatch()
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    var total = 0
    for _ in 0..<15 {
      for _ in 0..<20 {
        for _ in 0..<500 { batch.append([UInt8](repeating: 1, count: 1_000), to: address) }
        port.sockets.send(batch)
        batch.removeAll()
      }
      total += max(0, recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT)))
      port.sockets.handle(now: port.now)
      port.pass(seconds: 1)
    }
    #expect(port.lost.isEmpty && total > 0)
    let whole = bytes.withUnsafeBytes { StreamFraming.lengths.next(in: $0.bytes, at: 0) }
    #expect(whole != .malformed)
  }
}
