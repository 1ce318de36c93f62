import Addresses
import CLinux
import Glibc
@testable import MediaRouter
import Testing

/// The relay over the network of this machine: sockets, ports, the end.
@Suite struct RelayWorkerTests {
  private static let loopback = IPAddress("127.0.0.1")!

  private func worker(router: TransportAddress? = nil) throws -> RelayWorker {
    let configuration = RelayConfiguration(
      address: TransportAddress(Self.loopback, port: 0), publicAddresses: [Self.loopback], ports: 30_000...30_999,
      realm: "example.org", secret: RelayWorld.secret)
    let worker = try RelayWorker(configuration)
    try worker.start(router: router)
    return worker
  }

  /// Says something until it is answered: by UDP, and a test must not depend on one packet.
  private func ask(_ socket: Socket, _ bytes: [UInt8], _ worker: RelayWorker) throws -> [UInt8] {
    for _ in 0..<100 {
      socket.send([bytes], to: worker.address)
      if socket.wait(milliseconds: 200), let answer = socket.read().first { return answer }
    }
    throw CancellationError()
  }

  @Test func aClientReachesTheRouterThroughItsPortAndThePortIsClosedWithIt() async throws {
    let router = Socket()
    let worker = try worker(router: router.address)
    let socket = Socket()
    // Only its credentials are of use here: what it says goes by the network.
    let client = RelayClient(RelayWorld(), expires: .max / 2_000)
    var writer = STUNWriter(.allocateRequest, transactionID: client.transaction())
    let challenge = try #require(STUNMessage(ask(socket, writer.seal(key: nil), worker)))
    client.nonce = try #require(challenge.relay.nonce)
    let answer = try #require(
      STUNMessage(ask(socket, client.request(.allocateRequest, client.transaction()) { $0.requestedTransport(17) }, worker)))
    let relayed = try #require(answer.relay.relayed)
    #expect((30_000...30_999).contains(relayed.port) && answer.mappedAddress == socket.address)
    let bound = client.request(.channelRequest, client.transaction()) {
      $0.channel(0x4000)
      $0.peerAddress(router.address)
    }
    #expect(try STUNMessage(ask(socket, bound, worker))?.kind == .channelSuccess)
    socket.send([RelayClient.frame(0x4000, [1, 2, 3])], to: worker.address)
    #expect(router.receive(1) == [[1, 2, 3]])
    router.send([[4, 5]], to: relayed)
    #expect(socket.receive(1) == [RelayClient.frame(0x4000, [4, 5])])
    let release = client.request(.refreshRequest, client.transaction()) { $0.lifetime(0) }
    #expect(try STUNMessage(ask(socket, release, worker))?.kind == .refreshSuccess)
    // The port is free again, once no process that another test is just starting holds a copy of its socket.
    var (port, again) = (relayed.port, Int32(-1))
    for _ in 0..<200 where again < 0 {
      again = datagramsOpen(relayed, &port)
      if again < 0 { usleep(50_000) }
    }
    #expect(again >= 0)
    close(again)
    await worker.stop()
    await worker.stop()
  }
}

private func datagramsOpen(_ address: TransportAddress, _ port: inout UInt16) -> Int32 {
  datagrams_open(address.high, address.low, &port, 1 << 16)
}
