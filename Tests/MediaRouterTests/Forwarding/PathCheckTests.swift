import Addresses
@testable import MediaRouter
import Testing

/// Who says that a peer is elsewhere must be there: media is not directed at others.
@Suite struct PathCheckTests {
  private static let other = TransportAddress(IPAddress("203.0.113.1")!, port: 1)
  private static let stream = TransportAddress(IPAddress("203.0.113.1")!, port: 1, isStream: true)

  private func answer(_ transactionID: [UInt8], password: [UInt8] = SimulatedPeer.password(TransportID(1))) -> [UInt8] {
    var writer = STUNWriter(.bindingSuccess, transactionID: transactionID)
    writer.mappedAddress(Simulation.routerAddress)
    return writer.seal(key: HMACSHA1(key: password))
  }

  @Test func aFlowMovesOnceThePeerHasAnsweredWhereItSaysItIs() throws {
    let simulation = Simulation()
    let peer = simulation.join()
    let transport = try #require(simulation.unit.transport(at: peer.address))
    simulation.inject(SimulatedPeer.check(peer.credentials), from: Self.other)
    #expect(transport.address == peer.address)
    let question = try #require(transport.pathCheck)
    let message = try #require(STUNMessage(question.message))
    #expect(message.kind == .bindingRequest && message.isControlling == false && !message.useCandidate)
    #expect(message.username == SimulatedPeer.ufrag + Array(":".utf8) + peer.credentials.ufrag)
    #expect(message.isAuthentic(question.message, key: HMACSHA1(key: SimulatedPeer.password(peer.id))))
    simulation.inject(answer(question.transactionID), from: Self.other)
    #expect(transport.address == Self.other && transport.pathCheck == nil && simulation.unit.pathChecks.isEmpty)
    #expect(simulation.unit.transport(at: Self.other) === transport)
    #expect(simulation.unit.transport(at: peer.address) == nil)
  }

  @Test func whoDoesNotAnswerThereGetsNothingMovedAndCostsNothingAfterwards() throws {
    let simulation = Simulation()
    let peer = simulation.join()
    let transport = try #require(simulation.unit.transport(at: peer.address))
    simulation.inject(SimulatedPeer.check(peer.credentials), from: Self.other)
    let question = try #require(transport.pathCheck).transactionID
    simulation.inject(answer(question, password: peer.credentials.password), from: Self.other)
    simulation.inject(answer([UInt8](repeating: 1, count: 12)), from: Self.other)
    simulation.inject(answer(question), from: TransportAddress(Self.other.ip, port: 2))
    #expect(transport.address == peer.address && transport.pathCheck?.attempts == 1)
    peer.isSilent = true
    simulation.run(.milliseconds(1_390))
    #expect(transport.pathCheck?.attempts == PathCheck.attemptsLimit - 1)
    simulation.run(.milliseconds(450))
    #expect(transport.pathCheck == nil && simulation.unit.pathChecks.isEmpty)
    simulation.inject(answer(question), from: Self.other)
    #expect(transport.address == peer.address)
  }

  @Test func aPeerThatHasMovedIsFollowedWhileItsMediaGoOn() {
    var call = Call()
    call.publish(frames: 10)
    // The network has given it another address: what it sends from there on, and answers.
    let simulation = call.simulation
    simulation.move(call.subscriber, to: Self.other)
    call.publish(frames: 80)
    #expect(simulation.unit.transport(at: Self.other)?.id == call.subscriber.id)
    call.publish(frames: 10)
    #expect(call.received.last?.header.sequenceNumber != nil && call.received.count > 30 + 30)
  }

  @Test func nobodyTakesTheAddressOfOneWhoIsConnected() throws {
    let simulation = Simulation()
    let victim = simulation.join()
    let transport = try #require(simulation.unit.transport(at: victim.address))
    let local = ICECredentials(ufrag: Array("user9".utf8), password: Array("password-password-9".utf8))
    let parameters = TransportParameters(
      local: local, remoteUfrag: SimulatedPeer.ufrag, remotePassword: Array("of the attacker".utf8),
      fingerprint: simulation.unit.identity.fingerprint)
    simulation.command(.open(TransportID(9), parameters))
    simulation.inject(SimulatedPeer.check(local), from: victim.address)
    #expect(simulation.unit.transport(at: victim.address) === transport && transport.address == victim.address)
    #expect(simulation.unit.transport(ufrag: local.ufrag)?.address == nil)
    simulation.inject(SimulatedPeer.check(local), from: Self.other)
    #expect(simulation.unit.transport(at: Self.other)?.id == TransportID(9), "nothing of weight goes there yet")
  }

  @Test func aConnectionShowsWhereThePeerIs() throws {
    let simulation = Simulation()
    let peer = simulation.join()
    let transport = try #require(simulation.unit.transport(at: peer.address))
    simulation.inject(SimulatedPeer.check(peer.credentials, nominates: false), from: Self.stream)
    #expect(transport.address == peer.address && simulation.unit.connections[Self.stream] === transport)
    simulation.inject(SimulatedPeer.check(peer.credentials), from: Self.stream)
    #expect(transport.address == Self.stream)
    simulation.unit.lose(Self.stream)
    #expect(transport.address == nil && simulation.unit.transport(at: Self.stream) == nil)
    #expect(simulation.unit.connections.isEmpty && transport.connections.isEmpty)
    // What has no path any more must be shown one, too.
    simulation.inject(SimulatedPeer.check(peer.credentials), from: Self.other)
    #expect(transport.address == nil && transport.pathCheck != nil)
    simulation.run(.seconds(3))
    #expect(transport.address == peer.address)
  }

  /// Chromium sends by the pair it has chosen before the router hears of its choice.
  @Test(arguments: [true, false]) func mediaIsHeardFromEachConnectionOfAPeerAndFromNoOther(_ isKnown: Bool) throws {
    var call = Call()
    let (simulation, publisher) = (call.simulation, call.publisher)
    call.publish(frames: 10)
    let transport = try #require(simulation.unit.transport(at: publisher.address))
    let bound = publisher.address
    let before = call.received.count
    if isKnown { simulation.inject(SimulatedPeer.check(publisher.credentials, nominates: false), from: Self.stream) }
    simulation.move(publisher, to: Self.stream)
    call.publish(frames: 3)
    #expect(transport.address == bound)
    #expect(call.isComplete && (call.received.count > before + 2) == isKnown)
  }

  @Test func aPeerHasSoManyConnectionsAndTheyGoWithIt() {
    var limits = RouterLimits()
    limits.connectionsOfTransport = 2
    let simulation = Simulation(limits: limits)
    let peer = simulation.join()
    let addresses = (1...3).map { TransportAddress(Self.other.ip, port: $0, isStream: true) }
    for address in addresses { simulation.inject(SimulatedPeer.check(peer.credentials, nominates: false), from: address) }
    #expect(Set(simulation.unit.connections.keys) == Set(addresses.prefix(2)))
    simulation.unit.lose(addresses[0])
    simulation.inject(SimulatedPeer.check(peer.credentials, nominates: false), from: addresses[2])
    #expect(Set(simulation.unit.connections.keys) == Set(addresses.suffix(2)))
    simulation.command(.close(peer.id))
    #expect(simulation.unit.connections.isEmpty)
  }
}
