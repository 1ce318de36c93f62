import Addresses
import CSSL
@testable import MediaRouter

/// A relay, its clients and peers, in simulated time. The machine is 198.51.100.1, in a network of 8 bits, with a router on ports 7000 and 7001.
final class RelayWorld {
  static let machine = IPAddress("198.51.100.1")!
  static let peer = TransportAddress(IPAddress("8.8.4.4")!, port: 9000)
  static let secret = "a secret that both know"

  var now = RelayTime(monotonic: MediaTime(microseconds: 5_000_000), unixSeconds: 1_000_000)
  private(set) var relay: Relay!
  private(set) var toClients: [(bytes: [UInt8], client: TransportAddress)] = []
  private(set) var toPeers: [(bytes: [UInt8], port: UInt16, peer: TransportAddress)] = []
  private(set) var open: Set<UInt16> = []
  /// Ports that somebody else on the machine has.
  var taken: Set<UInt16> = []

  init(
    limits: RelayLimits = RelayLimits(), ports: ClosedRange<UInt16> = 50_000...50_099, allowed: [String] = [],
    router: String = "198.51.100.1", publicAddresses: [String] = ["198.51.100.1", "2001:500::1"]
  ) {
    var configuration = RelayConfiguration(
      address: TransportAddress(Self.machine, port: 3478), publicAddresses: publicAddresses.map { IPAddress($0)! },
      ports: ports,
      realm: "example.org", secret: Self.secret)
    configuration.allowed = allowed.map { IPNetwork($0)! }
    configuration.limits = limits
    configuration.routers = [7000, 7001].map { TransportAddress(IPAddress(router)!, port: $0) }
    relay = Relay(
      configuration,
      policy: RelayPolicy(
        own: [Self.machine, IPAddress("127.0.0.1")!, IPAddress("2001:500::1")!],
        networks: [IPNetwork("198.51.0.0/16")!, IPNetwork("9.9.0.0/16")!, IPNetwork("2001:500::/64")!],
        allowed: configuration.allowed),
      random: SeededGenerator(seed: 4), now: now.monotonic,
      actions: RelayActions(
        send: { [unowned self] batch in
          batch.forEachDatagram { self.toClients.append((Array($0), $1)) }
        },
        sendToPeer: { [unowned self] in toPeers.append((Array($0), $1, $2)) },
        open: { [unowned self] in taken.contains($0) ? false : open.insert($0).inserted },
        close: { [unowned self] in open.remove($0) }))
  }

  func pass(seconds: Int64) {
    // As a worker does, each second.
    for _ in 0..<seconds {
      now.monotonic = now.monotonic + .seconds(1)
      now.unixSeconds += 1
      relay.advance(to: now.monotonic)
    }
  }

  /// What comes back to this client.
  func say(_ bytes: [UInt8], from client: TransportAddress) -> [[UInt8]] {
    relay.receive(bytes.span.bytes, from: client, now: now)
    return heard(client)
  }

  func heard(_ client: TransportAddress) -> [[UInt8]] {
    relay.flush()
    defer { toClients.removeAll { $0.client == client } }
    return toClients.filter { $0.client == client }.map(\.bytes)
  }

  func sentToPeers() -> [(bytes: [UInt8], port: UInt16, peer: TransportAddress)] {
    defer { toPeers = [] }
    return toPeers
  }

  /// From a peer to the port of an allocation.
  func arrive(_ bytes: [UInt8], from peer: TransportAddress, at port: UInt16) {
    relay.receive(bytes.span.bytes, from: peer, at: port, now: now.monotonic)
  }
}

/// One who has credentials.
final class RelayClient {
  let world: RelayWorld
  let address: TransportAddress
  var username: [UInt8]
  var integrity: HMACSHA1
  var nonce: [UInt8] = []
  private(set) var relayed: TransportAddress?
  private var lastTransaction: UInt8 = 0

  init(
    _ world: RelayWorld, _ number: UInt16 = 1, user: String = "alice", expires: Int64 = 2_000_000,
    secret: String = RelayWorld.secret,
    isStream: Bool = false
  ) {
    self.world = world
    address = TransportAddress(IPAddress(ipv4: 0x0505_0500), port: number, isStream: isStream)
    username = Array("\(expires):\(user)".utf8)
    var digest = [UInt8](repeating: 0, count: 20)
    var size: UInt32 = 20
    HMAC(EVP_sha1(), Array(secret.utf8), Int32(secret.utf8.count), username, username.count, &digest, &size)
    var password = [UInt8](repeating: 0, count: 29)
    EVP_EncodeBlock(&password, digest, 20)
    integrity = RelayCredentials.integrity(
      username, realm: Array("example.org".utf8), password: Array(password.prefix(28)))
  }

  func transaction() -> [UInt8] {
    lastTransaction += 1
    return [UInt8](repeating: lastTransaction, count: 12)
  }

  func request(_ kind: STUNMessage.Kind, _ transaction: [UInt8], _ body: (inout STUNWriter) -> Void) -> [UInt8] {
    var writer = STUNWriter(kind, transactionID: transaction)
    body(&writer)
    writer.username(username)
    writer.realm(Array("example.org".utf8))
    writer.nonce(nonce)
    return writer.seal(key: integrity)
  }

  /// The answer's error code, 0 for success, -1 for none. Answers are authentic once the request was.
  func ask(_ kind: STUNMessage.Kind, _ body: (inout STUNWriter) -> Void = { _ in }) -> Int {
    answer(kind, body).map { $0.errorCode ?? 0 } ?? -1
  }

  func answer(_ kind: STUNMessage.Kind, _ body: (inout STUNWriter) -> Void = { _ in }) -> STUNMessage? {
    let transaction = transaction()
    guard let bytes = world.say(request(kind, transaction, body), from: address).first, let message = STUNMessage(bytes),
      message.transactionID == transaction
    else { return nil }
    if let fresh = message.relay.nonce { nonce = fresh } else if !message.isAuthentic(bytes, key: integrity) { return nil }
    return message
  }

  @discardableResult func allocate(_ body: (inout STUNWriter) -> Void = { $0.requestedTransport(17) }) -> Int {
    if nonce.isEmpty { _ = ask(.allocateRequest, body) }
    let message = answer(.allocateRequest, body)
    if message?.kind == .allocateSuccess { relayed = message?.relay.relayed }
    return message.map { $0.errorCode ?? 0 } ?? -1
  }

  func permit(_ peers: TransportAddress...) -> Int { ask(.permissionRequest) { for peer in peers { $0.peerAddress(peer) } } }

  func bind(_ channel: UInt16, _ peer: TransportAddress) -> Int {
    ask(.channelRequest) {
      $0.channel(channel)
      $0.peerAddress(peer)
    }
  }

  func indicate(_ bytes: [UInt8], to peer: TransportAddress) {
    var writer = STUNWriter(.sendIndication, transactionID: transaction())
    writer.peerAddress(peer)
    writer.data(bytes)
    _ = world.say(writer.finish(), from: address)
  }

  static func frame(_ channel: UInt16, _ bytes: [UInt8]) -> [UInt8] {
    var frame: [UInt8] = []
    frame.append(number: channel)
    frame.append(number: UInt16(bytes.count))
    return frame + bytes
  }
}
