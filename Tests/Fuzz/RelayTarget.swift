#if DEBUG || FUZZING
  import Addresses
  @testable import MediaRouter

  func fuzzRelay(_ bytes: UnsafeRawBufferPointer) { FuzzedRelay.run(bytes) }

  /// A TURN server whose clients know their passwords and may say anything.
  ///
  /// The input is a row of steps: a byte for the kind, one for how many bytes follow, and these.
  private enum FuzzedRelay {
    private static let machine = IPAddress(ipv4: 0xC633_6401)
    private static let peers = [
      TransportAddress(IPAddress(ipv4: 0x0808_0404), port: 9), TransportAddress(IPAddress(ipv4: 0x7F00_0001), port: 9),
      TransportAddress(IPAddress(ipv4: 0x0A00_0001), port: 9), TransportAddress(machine, port: 7_000)
    ]

    private final class World {
      var now = RelayTime(monotonic: MediaTime(microseconds: 1_000_000), unixSeconds: 1_000)
      var open: Set<UInt16> = []
      var relay: Relay!
      let username = Array("2000:alice".utf8)

      init() {
        var configuration = RelayConfiguration(
          address: TransportAddress(machine, port: 3_478), publicAddresses: [machine], ports: 50_000...50_003, realm: "r",
          secret: "s")
        configuration.routers = [TransportAddress(machine, port: 7_000)]
        let policy = RelayPolicy(own: [machine], networks: [IPNetwork("198.51.0.0/16")!], allowed: [])
        relay = Relay(
          configuration, policy: policy, random: FuzzGenerator(), now: now.monotonic,
          actions: RelayActions(
            send: { batch in
              batch.forEachDatagram { bytes, client in
                guard bytes.count <= SendBatch.datagramLimit, FuzzedRelay.client(0) == client || FuzzedRelay.client(1) == client
                else { fatalError("who is \(client)?") }
              }
            },
            sendToPeer: { [unowned self] _, port, peer in
              guard open.contains(port), peer.ip == machine ? peer.port == 7_000 : policy.permits(peer.ip) else {
                fatalError("\(peer) must not be reached")
              }
            },
            open: { [unowned self] in open.insert($0).inserted },
            close: { [unowned self] in open.remove($0) }))
      }
    }

    /// One by UDP, one by TCP.
    private static func client(_ i: Int) -> TransportAddress {
      TransportAddress(IPAddress(ipv4: 0x0505_0505), port: 5_000, isStream: i == 1)
    }

    static func run(_ bytes: UnsafeRawBufferPointer) {
      let world = World()
      var offset = 0
      while offset + 2 <= bytes.count {
        let end = min(bytes.count, offset + 2 + Int(bytes[offset + 1]))
        step(bytes[offset], Array(bytes[(offset + 2)..<end]), world)
        offset = end
        world.relay.flush()
      }
      guard Set(world.relay.byPort.keys) == world.open, world.relay.allocations.count == world.open.count else {
        fatalError("a port without an allocation")
      }
      world.now.monotonic = world.now.monotonic + .seconds(3_700)
      world.relay.advance(to: world.now.monotonic)
      guard world.open.isEmpty else { fatalError("an allocation for ever") }
    }

    private static func step(_ kind: UInt8, _ body: [UInt8], _ world: World) {
      let client = client(Int(kind >> 3) & 1)
      switch kind & 7 {
      case 0: world.relay.receive(body.span.bytes, from: client, now: world.now)
      case 1, 2, 3, 4: request(kind, body, client, world)
      case 5:
        let port = 50_000 + UInt16(kind >> 6)
        world.relay.receive(body.span.bytes, from: peers[Int(kind >> 4) & 3], at: port, now: world.now.monotonic)
      case 6:
        world.now.monotonic = world.now.monotonic + .seconds(Int64(body.first ?? 1))
        world.relay.advance(to: world.now.monotonic)
      default: world.relay.lose(client)
      }
    }

    /// An authentic request with these attributes; the upper bits may name a peer beside.
    private static func request(_ kind: UInt8, _ body: [UInt8], _ client: TransportAddress, _ world: World) {
      let kinds: [STUNMessage.Kind] = [.allocateRequest, .refreshRequest, .permissionRequest, .channelRequest]
      let method = kinds[Int(kind & 7) - 1]
      var writer = STUNWriter(method, transactionID: [UInt8](repeating: kind, count: 12))
      if method == .allocateRequest { writer.requestedTransport(17) }
      if method == .permissionRequest || method == .channelRequest { writer.peerAddress(peers[Int(kind >> 4) & 3]) }
      if method == .channelRequest { writer.channel(0x4000 + UInt16(kind >> 4)) }
      writer.append(body + [UInt8](repeating: 0, count: -body.count & 3))
      writer.username(world.username)
      writer.realm(Array("r".utf8))
      writer.nonce(world.relay.credentials.nonce(for: client, now: world.now.monotonic))
      let message = writer.seal(key: world.relay.credentials.integrity(world.username))
      world.relay.receive(message.span.bytes, from: client, now: world.now)
    }
  }
#endif
