import Addresses
@testable import MediaRouter
import Testing

/// RFC 8656, by a client in simulated time.
@Suite struct RelayTests {
  private let peer = RelayWorld.peer

  private func relayedClient(_ world: RelayWorld, _ number: UInt16 = 1, user: String = "alice", isStream: Bool = false)
    -> RelayClient
  {
    let client = RelayClient(world, number, user: user, isStream: isStream)
    #expect(client.allocate() == 0)
    return client
  }

  // MARK: Credentials

  /// RFC 5769 §2.4.
  @Test func theLongTermCredentialsOfTheStandardAreAuthentic() throws {
    let bytes = hex(
      """
      00010060 2112a442 78ad3433 c6ad72c0 29da412e 00060012 e3839ee3 8388e383 aae38383 e382afe3 82b90000 0015001c 662f2f34
      39396b39 35346436 4f4c3334 6f4c3946 53547679 36347341 0014000b 6578616d 706c652e 6f726700 00080014 f67024656dd64a3e
      02b8e071 2e85c9a2 8ca89666
      """)
    let message = try #require(STUNMessage(bytes))
    let username = try #require(message.username)
    let key = RelayCredentials.integrity(username, realm: Array("example.org".utf8), password: Array("TheMatrIX".utf8))
    #expect(message.isAuthentic(bytes, key: key))
  }

  @Test func withoutCredentialsThereIsAChallengeAndNothingElse() throws {
    let world = RelayWorld()
    var writer = STUNWriter(.allocateRequest, transactionID: [UInt8](repeating: 1, count: 12))
    writer.requestedTransport(17)
    let answer = try #require(
      world.say(writer.seal(key: nil), from: RelayClient(world).address).first.flatMap { STUNMessage($0) })
    #expect(answer.kind == .allocateError && answer.errorCode == 401)
    #expect(answer.relay.realm == Array("example.org".utf8) && answer.relay.nonce != nil)
    #expect(world.relay.allocations.isEmpty && world.relay.users.isEmpty && world.open.isEmpty)
  }

  @Test func anAllocationHasAPortOfItsOwn() throws {
    let world = RelayWorld()
    let client = relayedClient(world)
    let relayed = try #require(client.relayed)
    #expect(relayed.ip == RelayWorld.machine && world.open == [relayed.port])
    #expect(client.ask(.allocateRequest) { $0.requestedTransport(17) } == 437)
  }

  @Test(arguments: [("another secret", 2_000_000), (RelayWorld.secret, 999_999)] as [(String, Int64)])
  func aWrongOrExpiredCredentialIsRefused(_ secret: String, _ expires: Int64) {
    let world = RelayWorld()
    let client = RelayClient(world, expires: expires, secret: secret)
    #expect(client.allocate() == 401)
    #expect(world.relay.allocations.isEmpty)
  }

  // Proves M19
  @Test func credentialsAreGoodToTheirLastSecond() {
    let world = RelayWorld()
    #expect(RelayClient(world, expires: 1_000_000).allocate() == 0)
  }

  @Test func aCallThatHasBegunGoesOnAfterItsCredentialsForAWhile() {
    let world = RelayWorld()
    let client = RelayClient(world, expires: 1_000_000)
    #expect(client.allocate() == 0)
    world.now.unixSeconds += RelayLimits.overtimeSeconds
    #expect(client.ask(.refreshRequest) == 0)
    world.now.unixSeconds += 1
    #expect(client.ask(.refreshRequest) == 401)
  }

  @Test func aNonceIsGoodForOneClientAndAWhile() {
    let world = RelayWorld()
    let (client, other) = (relayedClient(world), RelayClient(world, 2))
    other.nonce = client.nonce
    #expect(other.ask(.allocateRequest) { $0.requestedTransport(17) } == 438)
    #expect(other.allocate() == 0, "with the new one")
    world.now.monotonic = world.now.monotonic + .seconds(RelayLimits.nonceSeconds)
    #expect(client.ask(.refreshRequest) == 0)
    world.now.monotonic = world.now.monotonic + .seconds(1)
    #expect(client.ask(.refreshRequest) == 438)
    #expect(client.ask(.refreshRequest) == 0)
  }

  @Test func anotherNameCannotUseAnAllocation() {
    let world = RelayWorld()
    let client = relayedClient(world)
    let other = RelayClient(world, user: "mallory")
    (client.username, client.integrity) = (other.username, other.integrity)
    #expect(client.ask(.refreshRequest) == 441)
  }

  // MARK: Requests

  @Test func aRequestThatComesTwiceIsAnsweredTwiceAndCarriedOutOnce() throws {
    let world = RelayWorld()
    let client = RelayClient(world)
    _ = client.ask(.allocateRequest) { $0.requestedTransport(17) }
    let bytes = client.request(.allocateRequest, client.transaction()) { $0.requestedTransport(17) }
    let answers = (0..<2).compactMap { _ in world.say(bytes, from: client.address).first.flatMap { STUNMessage($0) } }
    #expect(answers.map(\.kind) == [.allocateSuccess, .allocateSuccess])
    #expect(answers[0].relay.relayed == answers[1].relay.relayed && world.open.count == 1)
  }

  @Test(
    arguments: [
      ([0x19, 6, 0, 0, 0], 442),  // TCP
      ([0x22, 1, 2, 3, 4, 5, 6, 7, 8], 508),  // a port that was kept
      ([0x1A], 420),  // no fragments
      ([0x17, 3, 0, 0, 0], 440)  // a family that there is not
    ] as [([UInt8], Int)])
  func whatIsNotServedIsRefused(_ attribute: [UInt8], _ code: Int) {
    let world = RelayWorld()
    let value = Array(attribute.dropFirst())
    let result = RelayClient(world).allocate { writer in
      writer.attribute(UInt16(attribute[0]), value)
      if attribute[0] != 0x19 { writer.requestedTransport(17) }
    }
    #expect(result == code)
    #expect(world.open.isEmpty)
  }

  @Test func aFamilyCanBeChosenAndKept() throws {
    let world = RelayWorld()
    let client = RelayClient(world)
    #expect(
      client.allocate {
        $0.requestedTransport(17)
        $0.requestedFamily(2)
      } == 0)
    #expect(client.relayed?.ip == IPAddress("2001:500::1"))
    #expect(client.permit(peer) == 443)
    #expect(client.bind(0x4000, peer) == 443)
    #expect(client.ask(.refreshRequest) { $0.requestedFamily(1) } == 443)
    #expect(client.permit(TransportAddress(IPAddress("2606:4700::1")!, port: 1)) == 0)
  }

  @Test func anEvenPortCanBeAskedFor() throws {
    let world = RelayWorld(ports: 50_001...50_004)
    world.taken = [50_002]
    let client = RelayClient(world)
    #expect(
      client.allocate {
        $0.requestedTransport(17)
        $0.attribute(0x18, [0])
      } == 0)
    #expect(client.relayed?.port == 50_004)
  }

  @Test func anAllocationEndsWhenItIsNotRefreshedAndWhenItsClientSaysSo() {
    let world = RelayWorld()
    let (first, second) = (relayedClient(world), relayedClient(world, 2))
    world.pass(seconds: 599)
    #expect(world.open.count == 2)
    #expect(second.ask(.refreshRequest) == 0)
    world.pass(seconds: 1)
    #expect(world.relay.allocations[first.address] == nil && world.open.count == 1)
    #expect(second.ask(.refreshRequest) { $0.lifetime(0) } == 0)
    #expect(world.open.isEmpty && world.relay.allocations.isEmpty)
    world.pass(seconds: 3)
    #expect(world.relay.users.isEmpty && world.relay.deadline == nil)
  }

  @Test func aLifetimeHasBounds() {
    let world = RelayWorld()
    let client = relayedClient(world)
    #expect(client.answer(.refreshRequest) { $0.lifetime(1) }?.relay.lifetimeSeconds == 600)
    #expect(client.answer(.refreshRequest) { $0.lifetime(.max) }?.relay.lifetimeSeconds == 3_600)
  }

  @Test func whoeverAsksForItsAddressIsTold() throws {
    let world = RelayWorld()
    let client = RelayClient(world)
    var writer = STUNWriter(.bindingRequest, transactionID: client.transaction())
    let answer = try #require(world.say(writer.seal(key: nil), from: client.address).first.flatMap { STUNMessage($0) })
    #expect(answer.kind == .bindingSuccess && answer.mappedAddress == client.address)
  }

  // MARK: Data

  @Test func dataGoesBothWaysByIndications() throws {
    let world = RelayWorld()
    let client = relayedClient(world)
    let port = try #require(client.relayed).port
    #expect(client.permit(peer) == 0)
    client.indicate([1, 2, 3], to: peer)
    let sent = world.sentToPeers()
    #expect(sent.map(\.bytes) == [[1, 2, 3]] && sent[0].peer == peer && sent[0].port == port)
    world.arrive([4, 5], from: peer, at: port)
    let bytes = try #require(world.heard(client.address).first)
    let message = try #require(STUNMessage(bytes))
    #expect(message.kind == .dataIndication && message.relay.peers == [peer])
    #expect(try Array(bytes[#require(message.relay.data)]) == [4, 5])
  }

  @Test(arguments: [false, true]) func dataGoesBothWaysByAChannel(_ isStream: Bool) throws {
    let world = RelayWorld()
    let client = relayedClient(world, isStream: isStream)
    #expect(client.bind(0x4001, peer) == 0)
    _ = world.say(RelayClient.frame(0x4001, [7, 8, 9]), from: client.address)
    #expect(world.sentToPeers().map(\.bytes) == [[7, 8, 9]])
    try world.arrive([1, 2, 3, 4, 5], from: peer, at: #require(client.relayed).port)
    let padding: [UInt8] = isStream ? [0, 0, 0] : []
    #expect(world.heard(client.address) == [RelayClient.frame(0x4001, [1, 2, 3, 4, 5]) + padding])
  }

  @Test func withoutAPermissionNothingGoesEitherWay() throws {
    let world = RelayWorld()
    let client = relayedClient(world)
    let port = try #require(client.relayed).port
    let stranger = TransportAddress(IPAddress("8.8.8.8")!, port: 53)
    #expect(client.permit(peer) == 0)
    client.indicate([1], to: stranger)
    world.arrive([2], from: stranger, at: port)
    #expect(world.sentToPeers().isEmpty && world.heard(client.address).isEmpty)
    // It lasts 300 s, a channel's data too, though the channel lasts longer.
    #expect(client.bind(0x4000, peer) == 0)
    world.pass(seconds: 299)
    _ = world.say(RelayClient.frame(0x4000, [1]), from: client.address)
    #expect(world.sentToPeers().count == 1)
    world.pass(seconds: 1)
    _ = world.say(RelayClient.frame(0x4000, [1]), from: client.address)
    world.arrive([2], from: peer, at: port)
    #expect(world.sentToPeers().isEmpty && world.heard(client.address).isEmpty)
  }

  @Test func aChannelIsOnePeersWhileItLives() {
    let world = RelayWorld()
    let client = relayedClient(world)
    let other = TransportAddress(peer.ip, port: 1)
    #expect(client.bind(0x4000, peer) == 0)
    #expect(client.bind(0x4000, peer) == 0, "again, to keep it")
    #expect(client.bind(0x4000, other) == 400)
    #expect(client.bind(0x4001, peer) == 400)
    for channel: UInt16 in [0x3FFF, 0x5000] { #expect(client.bind(channel, other) == 400) }
    world.pass(seconds: 590)
    #expect(client.ask(.refreshRequest) == 0)
    world.pass(seconds: 10)
    #expect(client.bind(0x4000, other) == 0)
    #expect(client.bind(0x4001, peer) == 0)
  }

  @Test func theEndOfAConnectionEndsWhatWasAllocatedByIt() {
    let world = RelayWorld()
    let client = relayedClient(world, isStream: true)
    #expect(world.relay.isKnown(client.address))
    world.relay.lose(client.address)
    #expect(world.open.isEmpty && !world.relay.isKnown(client.address))
  }

  // MARK: Whereto

  @Test(
    arguments: [
      "127.0.0.1", "127.8.8.8", "10.0.0.1", "192.168.1.1", "172.16.0.1", "100.64.0.1", "169.254.169.254", "224.0.0.1",
      "0.0.0.0",
      "255.255.255.255", "9.9.1.1"
    ]) func theNetworkThatItStandsInIsNotReached(_ ip: String) throws
  {
    let world = RelayWorld()
    let client = relayedClient(world)
    let peer = TransportAddress(IPAddress(ip)!, port: 80)
    #expect(client.permit(peer) == 403)
    #expect(client.permit(self.peer, peer) == 403)
    #expect(client.bind(0x4000, peer) == 403)
    client.indicate([1], to: peer)
    #expect(world.sentToPeers().isEmpty)
    client.indicate([1], to: self.peer)
    #expect(world.sentToPeers().isEmpty, "if one of two peers is forbidden, none gets it")
  }

  @Test(
    arguments: [
      "::1", "fe80::1", "fc00::1", "ff02::1", "::", "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b::c633:6401", "2002:7f00:1::",
      "::ffff:0:127.0.0.1", "2001:500::7"
    ]) func norByAnAddressOfIPv6(_ ip: String)
  {
    let world = RelayWorld()
    let client = RelayClient(world)
    client.allocate {
      $0.requestedTransport(17)
      $0.requestedFamily(2)
    }
    #expect(client.permit(TransportAddress(IPAddress(ip)!, port: 80)) == 403)
  }

  @Test func settingsMayAllowANetworkButNotThisMachine() {
    let world = RelayWorld(allowed: ["10.0.0.0/8", "9.9.0.0/16", "127.0.0.0/8"])
    let client = relayedClient(world)
    for ip in ["10.1.2.3", "9.9.1.1"] { #expect(client.permit(TransportAddress(IPAddress(ip)!, port: 80)) == 0) }
    #expect(client.permit(TransportAddress(IPAddress("192.168.0.1")!, port: 80)) == 403)
    #expect(client.bind(0x4000, TransportAddress(IPAddress("127.0.0.1")!, port: 80)) == 403)
  }

  @Test func ofThisMachineOnlyTheRouterIsReachedOnEachOfItsPorts() throws {
    let world = RelayWorld()
    let client = relayedClient(world)
    let (router, service) = (TransportAddress(RelayWorld.machine, port: 7000), TransportAddress(RelayWorld.machine, port: 8008))
    let second = TransportAddress(RelayWorld.machine, port: 7001)
    #expect(client.bind(0x4000, service) == 403)
    #expect(client.permit(service) == 0, "a permission has no port")
    client.indicate([1], to: service)
    client.indicate([1], to: TransportAddress(RelayWorld.machine, port: 3478))
    #expect(world.sentToPeers().isEmpty)
    #expect(client.bind(0x4000, router) == 0 && client.bind(0x4001, second) == 0)
    for channel in [0x4000, 0x4001] as [UInt16] { _ = world.say(RelayClient.frame(channel, [1]), from: client.address) }
    #expect(world.sentToPeers().map(\.peer) == [router, second])
  }

  // Proves M23
  @Test func behindTranslationTheRouterIsReachedByItsOwnAddressAndAnswersAsTheOther() throws {
    let world = RelayWorld(router: "127.0.0.1", publicAddresses: ["203.0.113.9"])
    let client = relayedClient(world)
    let announced = TransportAddress(IPAddress("203.0.113.9")!, port: 7000)
    let local = TransportAddress(IPAddress("127.0.0.1")!, port: 7000)
    #expect(client.bind(0x4000, announced) == 0)
    _ = world.say(RelayClient.frame(0x4000, [1]), from: client.address)
    #expect(world.sentToPeers().map(\.peer) == [local])
    try world.arrive([2], from: local, at: #require(client.relayed).port)
    #expect(world.heard(client.address) == [RelayClient.frame(0x4000, [2])])
  }

  @Test func twoAllocationsReachEachOtherWithoutTheNetwork() throws {
    let world = RelayWorld(publicAddresses: ["203.0.113.9"])
    let (alice, bob) = (relayedClient(world), relayedClient(world, 2, user: "bob"))
    let (a, b) = try (#require(alice.relayed), #require(bob.relayed))
    #expect(alice.bind(0x4000, b) == 0)
    _ = world.say(RelayClient.frame(0x4000, [1]), from: alice.address)
    #expect(world.heard(bob.address).isEmpty, "Bob has not permitted it")
    #expect(bob.bind(0x4005, a) == 0)
    _ = world.say(RelayClient.frame(0x4000, [2]), from: alice.address)
    #expect(world.heard(bob.address) == [RelayClient.frame(0x4005, [2])])
    #expect(world.sentToPeers().isEmpty)
  }
}
