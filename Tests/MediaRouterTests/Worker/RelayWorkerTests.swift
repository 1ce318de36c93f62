import Addresses
import CLinux
import Glibc
@testable import MediaRouter
import TLSTesting
import Testing

/// The relay over the network of this machine: sockets, ports, the end.
@Suite struct RelayWorkerTests {
  private static let loopback = IPAddress("127.0.0.1")!

  private func worker(router: TransportAddress? = nil) throws -> RelayWorker {
    let configuration = RelayConfiguration(
      address: TransportAddress(Self.loopback, port: 0), publicAddresses: [Self.loopback], ports: 30_000...30_999,
      realm: "example.org", secret: RelayWorld.secret)
    let worker = try RelayWorker(configuration)
    try worker.start(routers: router.map { [$0] } ?? [])
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

  @Test func `a client reaches the router through its port and the port is closed with it`() async throws {
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

  // MARK: TLS

  /// A client that blocks, with its connection.
  private final class SecureClient {
    let tls: TLSClient
    private let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)

    /// nil where the server's certificate is not of this root.
    init?(_ port: UInt16, root: [UInt8]) {
      tls = TLSClient(root: root)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, 16) }
      }
      precondition(result == 0)
      while !tls.isEstablished { guard exchange() != nil else { return nil } }
    }

    deinit { close(descriptor) }

    /// Says what is to be said, and waits for something; nil where nothing comes any more.
    private func exchange() -> [UInt8]? {
      flush()
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      let count = tls.isOver ? 0 : recv(descriptor, &bytes, bytes.count, 0)
      return count > 0 ? tls.receive(Array(bytes[..<count])) : nil
    }

    private func flush() {
      let bytes = tls.take()
      if !bytes.isEmpty { _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
    }

    func ask(_ request: [UInt8]) -> STUNMessage? {
      tls.write(request)
      var answer: [UInt8] = []
      while STUNMessage(answer) == nil {
        guard let more = exchange() else { return nil }
        answer += more
      }
      return STUNMessage(answer)
    }
  }

  @Test func `a client allocates by TLS and stays when there is a new certificate`() async throws {
    let (first, second) = (TestCertificate("turn.example.org"), TestCertificate("turn.example.org"))
    func certificate(_ pem: TestCertificate) throws -> TLSCertificate {
      try TLSCertificate(chain: pem.chain, key: pem.key, host: "turn.example.org")
    }
    var configuration = RelayConfiguration(
      address: TransportAddress(Self.loopback, port: 0), publicAddresses: [Self.loopback], ports: 31_000...31_999,
      realm: "example.org", secret: RelayWorld.secret)
    configuration.secure = try .init(address: TransportAddress(Self.loopback, port: 0), certificate: certificate(first))
    let worker = try RelayWorker(configuration)
    try worker.start()
    let port = try #require(worker.secureAddress).port
    #expect(port != worker.address.port)
    let connection = try #require(SecureClient(port, root: first.root))
    let client = RelayClient(RelayWorld(), expires: .max / 2_000)
    var writer = STUNWriter(.allocateRequest, transactionID: client.transaction())
    client.nonce = try #require(connection.ask(writer.seal(key: nil))?.relay.nonce)
    func allocate() -> STUNMessage? {
      connection.ask(client.request(.allocateRequest, client.transaction()) { $0.requestedTransport(17) })
    }
    #expect(try (31_000...31_999).contains(#require(allocate()?.relay.relayed).port))

    #expect(SecureClient(port, root: second.root) == nil)
    try worker.use(certificate(second))
    while SecureClient(port, root: second.root) == nil { usleep(100_000) }
    #expect(SecureClient(port, root: first.root) == nil)
    // Still the same: one allocation has each connection.
    #expect(allocate()?.errorCode == 437)
    await worker.stop()
  }
}

private func datagramsOpen(_ address: TransportAddress, _ port: inout UInt16) -> Int32 {
  datagrams_open(address.high, address.low, &port, 1 << 16)
}
