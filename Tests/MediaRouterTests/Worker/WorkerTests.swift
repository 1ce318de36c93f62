import Addresses
import CLinux
import Glibc
@testable import MediaRouter
import Testing

private let loopback = TransportAddress(IPAddress("127.0.0.1")!, port: 0)

@Suite struct WorkerTests {
  // Proves M14
  @Test(arguments: [true, false]) func aBatchArrivesDatagramByDatagram(_ isSegmenting: Bool) {
    let (from, first, second) = (Socket(), Socket(), Socket())
    let batch = SendBatch()
    let sent = (0..<100).map { [UInt8](repeating: UInt8($0), count: $0 % 10 == 9 ? 500 : 1100) }
    for i in 0..<100 {
      batch.append(sent[i], to: first.address)
      if i % 20 == 0 { batch.append([UInt8(i)], to: second.address) }
    }
    let output = DatagramOutput(from.descriptor, isSegmenting: isSegmenting)
    output.send(batch)
    #expect(output.dropped == 0)
    #expect(first.receive(100) == sent)
    #expect(second.receive(5) == [[0], [20], [40], [60], [80]])
  }

  // Proves M14
  @Test func whereSegmentsAreRefusedEachDatagramIsSentFromThenOn() {
    let (from, to) = (Socket(), Socket())
    // Linux segments nothing without checksums.
    var yes: Int32 = 1
    #expect(setsockopt(from.descriptor, SOL_SOCKET, SO_NO_CHECK, &yes, 4) == 0)
    let output = DatagramOutput(from.descriptor)
    for round in 0..<2 {
      let batch = SendBatch()
      for i in 0..<10 { batch.append([UInt8](repeating: UInt8(i), count: 1000), to: to.address) }
      output.send(batch)
      #expect(to.receive(10).map { $0[0] } == Array(0..<10))
      #expect(!output.isSegmenting, "round \(round)")
    }
  }

  @Test func anAddressNobodyCanReachCostsOnlyItsOwn() {
    let (from, to) = (Socket(), Socket())
    let batch = SendBatch()
    batch.append([1], to: TransportAddress(IPAddress("192.0.2.1")!, port: 0))
    batch.append([2], to: to.address)
    let output = DatagramOutput(from.descriptor)
    output.send(batch)
    #expect(output.dropped == 1)
    #expect(to.receive(1) == [[2]])
  }

  /// By each family that the machine has.
  // Proves M22
  @Test(arguments: [("127.0.0.1", "127.0.0.1"), ("::", "127.0.0.1"), ("::", "::1"), ("0.0.0.0", "127.0.0.1")])
  func aWorkerAnswersOverTheNetworkUntilItIsStopped(_ listening: String, _ asked: String) async throws {
    let ip = try #require(IPAddress(asked))
    let socket = Socket(ip)
    guard socket.descriptor >= 0 else { return #expect(!ip.isIPv4, "no IPv6 here") }
    let worker = try MediaWorker(DTLSIdentity(), address: TransportAddress(IPAddress(listening)!, port: 0)) { _ in }
    try worker.start()
    let local = ICECredentials(ufrag: Array("user".utf8), password: Array("password".utf8))
    worker.submit([.open(TransportID(1), TransportParameters(local: local, fingerprint: worker.fingerprint))])
    var answer: [UInt8]?
    // The command may come after the first check.
    for _ in 0..<50 where answer == nil {
      socket.send([SimulatedPeer.check(local)], to: TransportAddress(ip, port: worker.address.port))
      if socket.wait(milliseconds: 200) { answer = socket.receive(1).first }
    }
    let message = try #require(answer.flatMap { STUNMessage($0) })
    #expect(message.mappedAddress == socket.address)
    await worker.stop()
    await worker.stop()
  }

  // Proves M23
  @Test func candidatesAreWhatIsAnnouncedThenWhatTheMachineHas() throws {
    let announced = [IPAddress("198.51.100.9")!]
    let one = try MediaWorker(DTLSIdentity(), address: loopback) { _ in }
    #expect(one.candidates() == [one.address])
    #expect(one.candidates(announced: announced) == [TransportAddress(announced[0], port: one.address.port), one.address])
    #expect(one.candidates(announced: [loopback.ip]) == [one.address])
    let any = try MediaWorker(DTLSIdentity(), address: TransportAddress(IPAddress("0.0.0.0")!, port: 0)) { _ in }
    #expect(any.candidates().map(\.ip) == HostAddresses.list().filter(\.isIPv4))
    #expect(any.candidates().allSatisfy { $0.port == any.address.port } && !any.candidates().isEmpty)
  }

  @Test func ofEachInterfaceOneAddressOfEachFamilyIsUsable() {
    func choose(_ found: [(String, String)]) -> [String] {
      HostAddresses.choose(found.map { ($0.0, IPAddress($0.1)!) }).map(\.description)
    }
    let all = [
      ("lo", "127.0.0.1"), ("lo", "::1"), ("eth0", "169.254.3.4"), ("eth0", "10.0.0.5"), ("eth0", "10.0.0.6"),
      ("eth0", "fe80::1"), ("eth0", "2001:db8::5"), ("eth0", "2001:db8::6"), ("eth1", "192.0.2.1")
    ]
    #expect(choose(all) == ["10.0.0.5", "2001:db8::5", "192.0.2.1"])
    #expect(choose(Array(all.prefix(3))) == ["127.0.0.1", "::1"])
    #expect(choose((0..<40).map { ("eth\($0)", "10.0.0.\($0)") }).count == HostAddresses.limit)
  }

  @Test func anAddressInUseIsRefused() throws {
    let worker = try MediaWorker(DTLSIdentity(), address: loopback) { _ in }
    #expect(throws: MediaWorkerError.self) { try MediaWorker(DTLSIdentity(), address: worker.address) { _ in } }
  }
}
