import Addresses
import CLinux
import Glibc
@testable import MediaRouter
import TLSTesting
import Testing

/// Connections by TLS beside those without, at the ports of one `StreamSockets`.
@Suite(.serialized) struct SecureStreamTests {
  private static let pem = TestCertificate("turn.example.org")

  private static func certificate(_ pem: TestCertificate = pem) -> TLSCertificate {
    try! TLSCertificate(chain: pem.chain, key: pem.key, host: "turn.example.org")
  }

  /// Two ports, whose time the test makes.
  private final class Ports {
    let sockets: StreamSockets
    let plain: UInt16
    let secure: UInt16
    var now = MediaTime(microseconds: 0)
    var received: [(bytes: [UInt8], address: TransportAddress)] = []
    var lost: [TransportAddress] = []
    var known: Set<TransportAddress> = []

    init(_ limits: StreamLimits = StreamLimits()) {
      let loopback = TransportAddress(IPAddress("127.0.0.1")!, port: 0)
      var (plain, secure): (UInt16, UInt16) = (0, 0)
      let listeners = (
        streams_listen(loopback.high, loopback.low, &plain), streams_listen(loopback.high, loopback.low, &secure)
      )
      (self.plain, self.secure) = (plain, secure)
      let port = SecurePort(listener: listeners.1, certificate: SecureStreamTests.certificate(), limits: limits)
      sockets = StreamSockets(listener: listeners.0, framing: .turn, limits: limits, secure: port)!
      sockets.receive = { [unowned self] in received.append((Array($0), $1)) }
      sockets.isKnown = { [unowned self] in known.contains($0) }
      sockets.lost = { [unowned self] in lost.append($0) }
    }

    /// - Parameter receiveBytes: what the client's system holds for it; nil for its own choice.
    func connect(_ port: UInt16, receiveBytes: Int32? = nil) -> Int32 {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      if var receiveBytes { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBytes, 4) }
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

    func send(_ packets: [[UInt8]], to address: TransportAddress) {
      let batch = SendBatch()
      for packet in packets { batch.append(packet, to: address) }
      sockets.send(batch)
    }
  }

  /// A client with its connection.
  private final class Peer {
    let tls: TLSClient
    let descriptor: Int32
    let ports: Ports
    private(set) var heard: [UInt8] = []
    /// The connection is over, whatever TLS says.
    private(set) var isCut = false

    init(_ ports: Ports, _ version: TLSClient.Version = .v13, root: [UInt8] = pem.root, receiveBytes: Int32? = nil) {
      tls = TLSClient(version, root: root)
      descriptor = ports.connect(ports.secure, receiveBytes: receiveBytes)
      self.ports = ports
    }

    deinit { close(descriptor) }

    func say(_ bytes: [UInt8]) {
      var rest = bytes[...]
      while !rest.isEmpty {
        let sent = rest.withUnsafeBytes {
          send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        }
        if sent < 0, errno != EAGAIN { return }
        rest = rest.dropFirst(max(0, sent))
        ports.sockets.handle(now: ports.now)
      }
    }

    /// Takes what has come, or some of it.
    func hear(atMost pieces: Int = .max) {
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      for _ in 0..<pieces {
        let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
        guard count > 0 else {
          if count == 0 || errno != EAGAIN { isCut = true }
          return
        }
        heard += tls.receive(Array(bytes[..<count]))
      }
    }

    /// Both go on until something is so.
    func run(until condition: () -> Bool) {
      for _ in 0..<5_000 where !condition() {
        say(tls.take())
        ports.sockets.handle(now: ports.now)
        hear()
        if !condition() { usleep(500) }
      }
    }

    /// After a frame of it has been received: as somebody known, if wanted.
    func introduce(isKnown: Bool = true) -> TransportAddress {
      let before = ports.received.count
      run { tls.isEstablished }
      tls.write(SecureStreamTests.frame(1))
      run { ports.received.count > before }
      let address = ports.received.last!.address
      if isKnown { ports.known.insert(address) }
      return address
    }
  }

  private static func frame(_ byte: UInt8, count: Int = 4) -> [UInt8] {
    [0x40, 0, UInt8(count >> 8), UInt8(count & 255)] + [UInt8](repeating: byte, count: count)
  }

  private func isOver(_ descriptor: Int32) -> Bool {
    var byte: UInt8 = 0
    let count = recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT))
    return count == 0 || count < 0 && errno != EAGAIN
  }

  // MARK: What is carried

  @Test(arguments: [TLSClient.Version.v12, .v13]) func `frames come and go`(_ version: TLSClient.Version) {
    let ports = Ports()
    let peer = Peer(ports, version)
    let address = peer.introduce()
    #expect(address.isSecure && address.isStream && address.description.hasSuffix("/tls"))
    ports.send([Self.frame(2, count: 1_000), Self.frame(3, count: 1_000), Self.frame(4)], to: address)
    let expected = Self.frame(2, count: 1_000) + Self.frame(3, count: 1_000) + Self.frame(4)
    peer.run { peer.heard.count >= expected.count }
    #expect(peer.heard == expected)
    #expect(ports.received.map(\.bytes) == [Self.frame(1)])
  }

  /// Whole records of 16 KB that begin and end within frames, in pieces of the network's choice.
  @Test(arguments: [1, 1_000, 1_448, 16_384, 60_000]) func `records of full length are cut anywhere`(_ pieces: Int) {
    let ports = Ports()
    let peer = Peer(ports)
    _ = peer.introduce()
    let frames = (0..<(pieces == 1 ? 20 : 80)).map { Self.frame(UInt8($0), count: 1_200) }
    peer.tls.write(frames.flatMap { $0 })
    let sealed = peer.tls.take()
    for start in stride(from: 0, to: sealed.count, by: pieces) {
      peer.say(Array(sealed[start..<min(start + pieces, sealed.count)]))
    }
    peer.run { ports.received.count > frames.count }
    #expect(ports.received.dropFirst().map(\.bytes) == frames)
  }

  @Test func `one who speaks at both ports from one address is two`() {
    let address = IPAddress("192.0.2.1")!
    let (plain, secure) = (
      TransportAddress(address, port: 7, isStream: true), TransportAddress(address, port: 7, isSecure: true)
    )
    #expect(plain != secure && secure.isStream && plain.network == secure.network)
    let world = RelayWorld()
    let nonce = world.relay.credentials.nonce(for: plain, now: world.now.monotonic)
    #expect(!world.relay.credentials.isFresh(nonce, for: secure, now: world.now.monotonic))
  }

  // MARK: Strangers

  @Test func `half a handshake and silence last ten seconds`() {
    let ports = Ports()
    let half = Peer(ports)
    half.say(half.tls.take())
    let whole = Peer(ports)
    _ = whole.introduce(isKnown: false)
    let silent = ports.connect(ports.secure)
    defer { close(silent) }
    ports.handle { ports.sockets.secureSessions == 2 }
    #expect(ports.sockets.secureSessions == 2)
    ports.pass(seconds: 9)
    #expect(!isOver(silent) && ports.lost.isEmpty)
    ports.pass(seconds: 1)
    #expect(isOver(silent) && ports.lost.count == 3 && ports.sockets.isEmpty)
    whole.run { whole.tls.isOver }
    // Not cut, but said goodbye to.
    #expect(whole.tls.isOver)
  }

  @Test func `many that say nothing cost no TLS and leave room for nobody else`() {
    var limits = StreamLimits()
    (limits.strangers, limits.strangersOfNetwork) = (100, 100)
    let ports = Ports(limits)
    let silent = (0..<101).map { _ in ports.connect(ports.secure) }
    defer { for descriptor in silent { close(descriptor) } }
    ports.handle { isOver(silent[100]) }
    #expect(isOver(silent[100]) && silent.dropLast().allSatisfy { !isOver($0) })
    #expect(ports.sockets.secureSessions == 0)
    ports.pass(seconds: 10)
    #expect(ports.sockets.isEmpty)
    let peer = Peer(ports)
    #expect(peer.introduce().isSecure)
  }

  @Test func `strangers of both ports are counted together`() {
    var limits = StreamLimits()
    limits.strangersOfNetwork = 2
    let ports = Ports(limits)
    let all = [ports.secure, ports.plain, ports.secure, ports.plain].map { ports.connect($0) }
    #expect(all.map { isOver($0) } == [false, false, true, true])
    for descriptor in all { close(descriptor) }
  }

  @Test func `handshakes of a network and of all have a rate`() {
    for isOfNetwork in [true, false] {
      var limits = StreamLimits()
      if isOfNetwork { limits.handshakesPerSecondOfNetwork = 2 } else { limits.handshakesPerSecond = 2 }
      let ports = Ports(limits)
      let peers = (0..<5).map { _ in Peer(ports) }
      for peer in peers { peer.run { peer.tls.isEstablished || peer.isCut } }
      #expect(peers.map(\.tls.isEstablished) == [true, true, true, true, false])
      ports.pass(seconds: 1)
      let later = Peer(ports)
      later.run { later.tls.isEstablished }
      #expect(later.tls.isEstablished)
    }
  }

  @Test func `what is no hello ends the connection`() {
    let ports = Ports()
    var random = SeededGenerator(seed: 3)
    let words = [
      Array("GET / HTTP/1.1\r\nHost: turn.example.org\r\n\r\n".utf8), [UInt8](repeating: 0, count: 100),
      [0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 1, count: 12), [22, 3, 1, 0xFF, 0xFF, 1],
      [22, 3, 1, 0, 4, 1, 0xFF, 0xFF, 0xFF], [21, 3, 3, 0, 2, 1, 0], [23, 3, 3, 0, 20] + random.bytes(20), random.bytes(60_000)
    ]
    for bytes in words {
      let descriptor = ports.connect(ports.secure)
      _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) }
      shutdown(descriptor, Int32(SHUT_WR))
      ports.handle { ports.sockets.isEmpty }
      #expect(ports.sockets.isEmpty, "\(bytes.prefix(8))")
      close(descriptor)
    }
    #expect(ports.received.isEmpty && ports.lost.count == words.count)
  }

  /// What stands within the records is still a stranger's.
  @Test func `a frame that cannot be ends a secure connection`() {
    let ports = Ports()
    let peer = Peer(ports)
    peer.run { peer.tls.isEstablished }
    peer.tls.write(Self.frame(1) + [0x80, 0, 0, 0] + Self.frame(2))
    peer.run { peer.isCut }
    #expect(peer.isCut && ports.received.map(\.bytes) == [Self.frame(1)] && ports.sockets.isEmpty)
  }

  // MARK: Ends

  @Test(arguments: 0..<5) func `a goodbye at any place ends it`(_ place: Int) {
    let ports = Ports()
    let peer = Peer(ports)
    switch place {
    // Before, and in the midst of a handshake: the alert as it is, which nobody has sealed.
    case 0: peer.say([21, 3, 3, 0, 2, 1, 0])
    case 1: peer.say(peer.tls.take() + [21, 3, 3, 0, 2, 1, 0])
    case 2:
      peer.run { peer.tls.isEstablished }
      peer.tls.sayGoodbye()
    case 3:
      _ = peer.introduce()
      // With the beginning of a frame before it.
      peer.tls.write([0x40, 0])
      peer.tls.sayGoodbye()
    default:
      _ = peer.introduce()
      peer.tls.write(Self.frame(9))
      peer.tls.sayGoodbye()
      // And something behind it, which is nothing any more.
      peer.say(peer.tls.take() + [23, 3, 3, 0, 3, 1, 2, 3])
    }
    if place > 1 { peer.say(peer.tls.take()) }
    ports.handle { ports.sockets.isEmpty }
    #expect(ports.sockets.isEmpty && ports.lost.count == 1)
    #expect(ports.received.last?.bytes == (place == 4 ? Self.frame(9) : place == 3 ? Self.frame(1) : nil))
  }

  /// OpenSSL answers each wish for new keys, whether anybody reads the answer or not.
  @Test func `who asks for new keys and reads nothing is not waited for`() {
    var limits = StreamLimits()
    limits.outputBytes = 4 << 10
    let ports = Ports(limits)
    let peer = Peer(ports, receiveBytes: 8_192)
    let address = peer.introduce()
    // Until the system's own buffers hold no more.
    for _ in 0..<100_000 where ports.sockets.waitingBytes < 3 << 10 { ports.send([Self.frame(5, count: 1_000)], to: address) }
    var most = 0
    for _ in 0..<2_000 where !ports.sockets.isEmpty {
      peer.tls.changeKeys()
      peer.say(peer.tls.take())
      ports.sockets.handle(now: ports.now)
      most = max(most, ports.sockets.waitingBytes)
    }
    #expect(ports.sockets.isEmpty && ports.lost == [address])
    #expect(most <= 8 << 10)
  }

  // MARK: Slow readers

  @Test func `who reads slowly loses packets but no record`() {
    let ports = Ports()
    let peer = Peer(ports)
    let address = peer.introduce()
    let frame = Self.frame(5, count: 1_000)
    var sent = 0
    for _ in 0..<4 {
      // Until neither the system nor we have room, and then some.
      for _ in 0..<1_000 where ports.sockets.waitingBytes < 254 << 10 {
        ports.send([[UInt8]](repeating: frame, count: 50), to: address)
        sent += 50
      }
      ports.send([[UInt8]](repeating: frame, count: 50), to: address)
      sent += 50
      #expect(ports.sockets.waitingBytes > 254 << 10 && ports.sockets.waitingBytes <= 256 << 10)
      peer.hear(atMost: 16)
      ports.sockets.handle(now: ports.now)
      ports.pass(seconds: 4)
    }
    #expect(ports.lost.isEmpty && !peer.tls.isOver)
    peer.run { ports.sockets.waitingBytes == 0 }
    ports.send([Self.frame(6)], to: address)
    peer.run { peer.heard.suffix(8) == Self.frame(6)[...] }
    #expect(peer.heard.suffix(8) == Self.frame(6)[...] && !peer.tls.isOver)
    #expect((peer.heard.count - 8) % frame.count == 0 && peer.heard.count < sent * frame.count)
  }

  @Test func `who reads nothing is let go`() {
    var limits = StreamLimits()
    limits.outputBytes = 64 << 10
    let ports = Ports(limits)
    let peer = Peer(ports, receiveBytes: 8_192)
    let address = peer.introduce()
    // More than the system's own buffers hold.
    for _ in 0..<40 {
      for _ in 0..<10 { ports.send([[UInt8]](repeating: Self.frame(5, count: 1_000), count: 50), to: address) }
    }
    #expect(ports.sockets.waitingBytes > 60 << 10 && ports.sockets.waitingBytes <= 64 << 10)
    ports.pass(seconds: 1)
    ports.pass(seconds: 9)
    #expect(ports.lost.isEmpty)
    ports.pass(seconds: 1)
    #expect(ports.lost == [address] && ports.sockets.isEmpty)
  }

  // MARK: Certificates

  @Test func `a new certificate is for those who come and nobody is lost`() {
    let ports = Ports()
    let old = Peer(ports)
    let address = old.introduce()
    let begun = Peer(ports)
    begun.say(begun.tls.take())
    ports.handle { ports.sockets.secureSessions == 2 }
    let pem = TestCertificate("turn.example.org")
    ports.sockets.secure?.certificate = Self.certificate(pem)
    let new = Peer(ports, root: pem.root)
    #expect(new.introduce().isSecure)
    #expect(begun.introduce().isSecure)
    let mistaken = Peer(ports)
    mistaken.run { mistaken.tls.isOver }
    #expect(mistaken.tls.isOver && !mistaken.tls.isEstablished)
    ports.send([Self.frame(7)], to: address)
    old.run { old.heard == Self.frame(7) }
    #expect(old.heard == Self.frame(7))
  }
}
