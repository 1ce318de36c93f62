@testable import MediaRouter
import TLSTesting
import Testing

/// A server's end of TLS, handed bytes as a network may.
@Suite struct TLSTests {
  private static let host = "turn.example.org"
  private static let pem = TestCertificate(host)

  private static func certificate(_ pem: TestCertificate = pem, host: String = host) throws -> TLSCertificate {
    try TLSCertificate(chain: pem.chain, key: pem.key, host: host)
  }

  /// A server with what it read, and whether it is over.
  private final class End {
    let session: TLSSession
    private(set) var plaintext: [UInt8] = []
    private(set) var isOver = false
    private let memory = UnsafeMutableRawPointer.allocate(byteCount: TLSSession.recordBytes, alignment: 16)

    init(_ certificate: TLSCertificate) { session = TLSSession(certificate) }
    deinit { memory.deallocate() }

    /// In pieces of so many bytes.
    func receive(_ bytes: [UInt8], pieces: Int = TLSSession.inputBytes) {
      for start in stride(from: 0, to: bytes.count, by: pieces) {
        bytes[start..<min(start + pieces, bytes.count)].withUnsafeBytes { session.receive($0) }
        reading: while true {
          switch session.read(into: memory) {
          case .plaintext(let count): plaintext += UnsafeRawBufferPointer(start: memory, count: count)
          case .waiting: break reading
          case .over:
            isOver = true
            return
          }
        }
      }
    }

    func take() -> [UInt8] {
      var output: [UInt8] = []
      session.drain(into: &output)
      return output
    }
  }

  /// Hands over until nobody says anything any more.
  private func connect(_ client: TLSClient, _ server: End, pieces: Int = TLSSession.inputBytes) {
    for _ in 0..<10 {
      server.receive(client.take(), pieces: pieces)
      _ = client.receive(server.take())
    }
  }

  @Test(arguments: [TLSClient.Version.v12, .v13], [1, 2, 7, 100, 4_096])
  func plaintextComesOutHoweverTheRecordsAreCut(_ version: TLSClient.Version, _ pieces: Int) throws {
    let (client, server) = (TLSClient(version, root: Self.pem.root), End(try Self.certificate()))
    connect(client, server, pieces: pieces)
    #expect(client.isEstablished && server.session.isEstablished)
    var random = SeededGenerator(seed: 6)
    let sent = random.bytes(40_000)
    client.write(sent)
    server.receive(client.take(), pieces: pieces)
    #expect(server.plaintext == sent && !server.isOver)
    let answer = random.bytes(1_200)
    #expect(answer.withUnsafeBytes { server.session.seal($0) })
    let sealed = server.take()
    #expect(sealed.count > answer.count && sealed.count <= answer.count + TLSSession.overheadBytes)
    #expect(client.receive(sealed) == answer)
  }

  @Test func `the chain is shown and old versions are refused`() throws {
    let (client, server) = (TLSClient(root: Self.pem.root), End(try Self.certificate()))
    connect(client, server)
    #expect(client.chainCount == 2)
    let (old, other) = (TLSClient(.v11, root: Self.pem.root), End(try Self.certificate()))
    connect(old, other)
    #expect(other.isOver && old.isOver && !old.isEstablished && !other.session.isEstablished)
  }

  @Test func `nothing is sealed before the handshake or after the end`() throws {
    let server = End(try Self.certificate())
    #expect(![1, 2].withUnsafeBytes { server.session.seal($0) })
    server.session.close()
    #expect(server.take().isEmpty)
    let (client, other) = (TLSClient(root: Self.pem.root), End(try Self.certificate()))
    connect(client, other)
    other.session.close()
    #expect(![1, 2].withUnsafeBytes { other.session.seal($0) })
    _ = client.receive(other.take())
    #expect(client.isOver)
  }

  // MARK: Strangers

  /// As a browser says it, once it is established.
  private func conversation(_ version: TLSClient.Version) throws -> [[UInt8]] {
    let (client, server) = (TLSClient(version, root: Self.pem.root), End(try Self.certificate()))
    var said: [[UInt8]] = []
    for _ in 0..<4 {
      said.append(client.take())
      server.receive(said.last!)
      _ = client.receive(server.take())
    }
    client.write([UInt8](repeating: 7, count: 300))
    said.append(client.take())
    return said.filter { !$0.isEmpty }
  }

  @Test(arguments: [TLSClient.Version.v12, .v13]) func `no hello traps`(_ version: TLSClient.Version) throws {
    let certificate = try Self.certificate()
    let hello = try conversation(version)[0]
    attack(hello, rounds: 500) { bytes in
      let server = End(certificate)
      server.receive(bytes)
      #expect(!server.session.isEstablished && server.plaintext.isEmpty)
    }
  }

  @Test(arguments: [TLSClient.Version.v12, .v13]) func `no record of a connection traps`(_ version: TLSClient.Version) throws {
    let certificate = try Self.certificate()
    var random = SeededGenerator(seed: 9)
    for round in 0..<200 {
      let (client, server) = (TLSClient(version, root: Self.pem.root), End(certificate))
      connect(client, server)
      client.write([UInt8](repeating: 1, count: 200))
      var bytes = client.take()
      if round % 2 == 0 {
        bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
      } else {
        bytes = [UInt8.random(in: 20...24, using: &random), 3, 3] + random.bytes(Int.random(in: 0...300, using: &random))
      }
      server.receive(bytes + random.bytes(400))
      #expect(server.isOver || server.plaintext.isEmpty)
      // Also what comes after the end.
      server.receive(bytes)
      server.session.close()
      #expect(server.plaintext.count <= 200)
    }
  }

  /// Each part of a conversation in the place of each other, as somebody may who has overheard one.
  @Test(arguments: [TLSClient.Version.v12, .v13]) func `what was overheard says nothing`(_ version: TLSClient.Version) throws {
    let certificate = try Self.certificate()
    let said = try conversation(version)
    for first in said {
      for second in said {
        let server = End(certificate)
        for bytes in [first, second] + said { server.receive(bytes) }
        #expect(server.plaintext.isEmpty && !server.session.isEstablished)
      }
    }
  }

  @Test func `another handshake on the same connection is refused`() throws {
    let (client, server) = (TLSClient(.v12, root: Self.pem.root), End(try Self.certificate()))
    connect(client, server)
    client.renegotiate()
    let request = client.take()
    #expect(!request.isEmpty)
    server.receive(request)
    // A warning at most: no hello of the server, which would come with its certificate.
    #expect(server.take().count < 100)
    #expect(server.session.isEstablished)
  }

  @Test func `new keys are made as often as they are asked for`() throws {
    let (client, server) = (TLSClient(root: Self.pem.root), End(try Self.certificate()))
    connect(client, server)
    for _ in 0..<20 {
      client.changeKeys()
      server.receive(client.take())
    }
    client.write([3])
    server.receive(client.take())
    #expect(server.plaintext == [3])
    let answer = [UInt8](repeating: 4, count: 9)
    #expect(answer.withUnsafeBytes { server.session.seal($0) })
    // OpenSSL has answered each. `StreamSockets` handles peers that read no answer.
    #expect(client.receive(server.take()) == answer)
  }

  // MARK: Files

  private func refusal(_ chain: [UInt8], _ key: [UInt8], host: String = host) -> TLSCertificateError? {
    do throws(TLSCertificateError) {
      _ = try TLSCertificate(chain: chain, key: key, host: host)
      return nil
    } catch {
      return error
    }
  }

  @Test func `files that are of no use say why`() {
    let (pem, other) = (Self.pem, TestCertificate(Self.host))
    #expect(refusal([], pem.key) == .noCertificate)
    #expect(refusal(pem.key, pem.key) == .noCertificate)
    #expect(refusal(Array("no PEM".utf8), pem.key) == .noCertificate)
    // The first is whole, the one behind it is not.
    #expect(refusal(Array(pem.chain.dropLast(40)), pem.key) == .noCertificate)
    #expect(refusal(pem.chain, []) == .noKey)
    #expect(refusal(pem.chain, pem.chain) == .noKey)
    #expect(refusal(pem.chain, TestCertificate(Self.host, password: "swordfish").key) == .noKey)
    #expect(refusal(pem.chain, other.key) == .otherKey)
    #expect(refusal(pem.chain, pem.key, host: "turn.example.com") == .otherHost("turn.example.com"))
    #expect(refusal(pem.chain, pem.key) == nil)
    // In one file, whichever comes first.
    #expect(refusal(pem.key + pem.chain, pem.chain + pem.key) == nil)
  }

  @Test(arguments: [
    (["a.example", "b.example"], "b.example", true), (["*.example.org"], "turn.example.org", true),
    (["*.example.org"], "a.turn.example.org", false), (["TURN.example.org"], "turn.EXAMPLE.org", true),
    (["192.0.2.7"], "192.0.2.7", true), (["192.0.2.7"], "192.0.2.8", false), (["turn.example.org"], "192.0.2.7", false)
  ])
  func aCertificateIsForItsHosts(_ hosts: [String], _ host: String, _ isFor: Bool) {
    let pem = hosts.count == 2 ? TestCertificate(hosts[0], hosts[1]) : TestCertificate(hosts[0])
    #expect(refusal(pem.chain, pem.key, host: host) == (isFor ? nil : .otherHost(host)))
  }
}
