import Addresses
@testable import MediaRouter
import Testing

/// Each limit of the relay, on both sides.
@Suite struct RelayLimitsTests {
  private let peer = RelayWorld.peer

  @Test func aUserHasSoManyAllocationsWhateverTheNameOfItsCredentials() {
    var limits = RelayLimits()
    limits.allocationsOfUser = 2
    let world = RelayWorld(limits: limits)
    #expect(RelayClient(world, 1).allocate() == 0)
    #expect(RelayClient(world, 2, expires: 1_500_000).allocate() == 0)
    #expect(RelayClient(world, 3, expires: 1_600_000).allocate() == 486)
    #expect(RelayClient(world, 4, user: "bob").allocate() == 0)
    world.relay.lose(RelayClient(world, 1).address)
    #expect(RelayClient(world, 5).allocate() == 0)
  }

  @Test func thereAreSoManyAllocations() {
    var limits = RelayLimits()
    limits.allocations = 2
    let world = RelayWorld(limits: limits)
    #expect((1...3).map { RelayClient(world, $0, user: "user\($0)").allocate() } == [0, 0, 508])
  }

  @Test func andNoMoreThanPorts() {
    let world = RelayWorld(ports: 50_000...50_002)
    world.taken = [50_001]
    #expect((1...3).map { RelayClient(world, $0, user: "user\($0)").allocate() } == [0, 0, 508])
    #expect(world.open == [50_000, 50_002])
  }

  @Test func anAllocationHasSoManyPermissions() {
    var limits = RelayLimits()
    limits.permissionsOfAllocation = 2
    let world = RelayWorld(limits: limits)
    let client = RelayClient(world)
    client.allocate()
    func peer(_ i: UInt32) -> TransportAddress { TransportAddress(IPAddress(ipv4: 0x0808_0800 + i), port: 1) }
    #expect(client.permit(peer(1), peer(2)) == 0)
    #expect(client.permit(peer(1)) == 0)
    #expect(client.permit(peer(3)) == 508)
    #expect(client.bind(0x4000, peer(3)) == 508)
    world.pass(seconds: 300)
    #expect(client.permit(peer(3)) == 0)
  }

  @Test func anAllocationHasSoManyChannels() {
    var limits = RelayLimits()
    limits.channelsOfAllocation = 2
    let world = RelayWorld(limits: limits)
    let client = RelayClient(world)
    client.allocate()
    let results = (1...3).map { (i: UInt16) in client.bind(0x4000 + i, TransportAddress(peer.ip, port: i)) }
    #expect(results == [0, 0, 508])
    world.pass(seconds: 590)
    _ = client.ask(.refreshRequest)
    world.pass(seconds: 10)
    #expect(client.bind(0x4003, TransportAddress(peer.ip, port: 3)) == 0)
  }

  /// How many of 40 packets of 1,000 bytes go through, and how many of them one second later.
  private func carried(_ limits: RelayLimits, users: [String] = ["alice"]) -> [Int] {
    let world = RelayWorld(limits: limits)
    let clients = users.enumerated().map { RelayClient(world, UInt16($0 + 1), user: $1) }
    for client in clients { #expect(client.allocate() == 0 && client.bind(0x4000, peer) == 0) }
    return (0..<2).map { _ in
      defer { world.pass(seconds: 1) }
      for i in 0..<40 {
        let client = clients[i % clients.count]
        _ = world.say(RelayClient.frame(0x4000, [UInt8](repeating: 1, count: 1_000)), from: client.address)
      }
      return world.sentToPeers().count
    }
  }

  @Test func anAllocationAUserAndAllCarrySoMuch() {
    var limits = RelayLimits()
    limits.bytesPerSecondOfAllocation = 5_000
    #expect(carried(limits) == [10, 5])
    #expect(carried(limits, users: ["alice", "alice"]) == [20, 10])
    limits.bytesPerSecondOfUser = 6_000
    #expect(carried(limits, users: ["alice", "alice"]) == [12, 6])
    #expect(carried(limits, users: ["alice", "bob"]) == [20, 10])
    limits.bytesPerSecond = 7_000
    #expect(carried(limits, users: ["alice", "bob"]) == [14, 7])
  }

  @Test func whatPeersSendCountsToo() throws {
    var limits = RelayLimits()
    limits.bytesPerSecondOfAllocation = 1_000
    let world = RelayWorld(limits: limits)
    let client = RelayClient(world)
    client.allocate()
    #expect(client.bind(0x4000, peer) == 0)
    for _ in 0..<5 { try world.arrive([UInt8](repeating: 1, count: 500), from: peer, at: #require(client.relayed).port) }
    #expect(world.heard(client.address).count == 4)
  }

  @Test func whoLeavesAndComesBackHasNoNewAllowance() {
    var limits = RelayLimits()
    limits.bytesPerSecondOfUser = 1_000
    let world = RelayWorld(limits: limits)
    let sent = (1...3).map { (number: UInt16) -> Int in
      let client = RelayClient(world, number)
      #expect(client.allocate() == 0 && client.bind(0x4000, peer) == 0)
      for _ in 0..<10 { _ = world.say(RelayClient.frame(0x4000, [UInt8](repeating: 1, count: 1_000)), from: client.address) }
      #expect(client.ask(.refreshRequest) { $0.lifetime(0) } == 0)
      world.pass(seconds: 1)
      return world.sentToPeers().count
    }
    #expect(sent == [2, 1, 1])
  }

  @Test func aPayloadHasRoomInWhatIsSentOn() throws {
    let world = RelayWorld()
    let client = RelayClient(world)
    client.allocate()
    #expect(client.permit(peer) == 0)
    let longest = [UInt8](repeating: 7, count: RelayLimits.payloadBytes)
    for bytes in [longest, longest + [7]] { client.indicate(bytes, to: peer) }
    for bytes in [longest, longest + [7]] { try world.arrive(bytes, from: peer, at: #require(client.relayed).port) }
    #expect(world.sentToPeers().map(\.bytes) == [longest])
    let heard = world.heard(client.address)
    #expect(heard.count == 1 && heard[0].count <= SendBatch.datagramLimit)
  }

  @Test func strangersAreAnsweredAtARateANetwork() {
    var limits = RelayLimits()
    limits.strangerAnswersPerSecond = 3
    let world = RelayWorld(limits: limits)
    func answers(_ ip: String) -> Int {
      (0..<10).reduce(0) { count, port in
        var writer = STUNWriter(.allocateRequest, transactionID: [UInt8](repeating: 1, count: 12))
        return count + world.say(writer.seal(key: nil), from: TransportAddress(IPAddress(ip)!, port: UInt16(port))).count
      }
    }
    #expect(answers("5.5.5.5") == 6)
    #expect(answers("5.5.5.5") == 0)
    #expect(answers("5.5.5.6") == 6)
    #expect(answers("2606::1") == 6 && answers("2606::2") == 0, "an address of IPv6 is a network's")
    world.pass(seconds: 1)
    #expect(answers("5.5.5.5") == 3)
  }

  @Test func noInputTraps() {
    let world = RelayWorld()
    let client = RelayClient(world)
    client.allocate()
    #expect(client.bind(0x4000, peer) == 0)
    let samples = [
      client.request(.allocateRequest, client.transaction()) { $0.requestedTransport(17) },
      client.request(.channelRequest, client.transaction()) { $0.channel(0x4001) }, RelayClient.frame(0x4000, [1, 2, 3])
    ]
    for sample in samples { attack(sample) { _ = world.say($0, from: client.address) } }
    #expect(world.relay.allocations.count == 1)
  }
}
