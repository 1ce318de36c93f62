import Addresses
import Glibc
@testable import MediaRouter
import Synchronization
import Testing

/// Two workers over the network of this machine.
@Suite struct MediaWorkersTests {
  private static let loopback = TransportAddress(IPAddress("127.0.0.1")!, port: 0)

  /// Lets peers talk until the condition holds, for ten seconds at most.
  private func run(_ peers: [NetworkPeer], until isDone: () -> Bool) {
    let end = NetworkPeer.now + .seconds(10)
    while !isDone(), NetworkPeer.now < end {
      for peer in peers { peer.step() }
      usleep(1_000)
    }
  }

  @Test func subscribersAtBothWorkersGetWhatOneOfThemOpened() async throws {
    let events = Mutex<[RouterEvent]>([])
    let workers = try MediaWorkers(2, address: Self.loopback) { new in events.withLock { $0 += new } }
    try workers.start()
    let (home, other) = (workers.ids[0], workers.ids[1])
    let publisher = NetworkPeer(1, workers[home])
    let subscribers = [NetworkPeer(2, workers[home]), NetworkPeer(3, workers[other])]
    let peers = [publisher] + subscribers
    var track = TrackParameters(codec: .vp8, payloadType: 96)
    track.hasNack = true
    workers[home].submit([.publish(Call.track, on: publisher.peer.id, track)])
    workers[other].submit([.accept(Call.track, from: home, track)])
    for (number, subscriber) in subscribers.enumerated() {
      var parameters = SubscriptionParameters(ssrc: Call.ssrc, payloadType: 96)
      (parameters.hasNack, parameters.rtxSSRC, parameters.rtxPayloadType) = (true, Call.ssrc + 1, 97)
      subscriber.peer.repairs = [Call.ssrc + 1: Call.ssrc]
      workers[workers.ids[number]].submit([
        .subscribe(SubscriptionID(UInt64(number)), to: Call.track, on: subscriber.peer.id, parameters)
      ])
    }
    run(peers) { peers.allSatisfy(\.peer.isConnected) }
    var source = VP8Source(ssrc: 10)
    for _ in 0..<30 {
      for (packet, rollOver) in source.frame(isKey: source.frames == 0) { publisher.peer.send(packet, rollOver: rollOver) }
      publisher.step()
    }
    let sent = source.frames * source.packetsPerFrame
    run(peers) { subscribers.allSatisfy { $0.peer.received[Call.ssrc]?.count == sent } }
    #expect(subscribers.map { $0.peer.received[Call.ssrc]?.count } == [sent, sent])
    #expect(workers.total(\.census.transports) == 3 && workers.total(\.census.tracks) == 1)
    #expect(workers.total(\.census.subscriptions) == 2 && workers.total(\.droppedPackets) == 0)

    for id in workers.ids { workers[id].submit([.unpublish(Call.track)]) }
    run(peers) { workers.total(\.census.subscriptions) == 0 }
    #expect(workers.total(\.census.tracks) == 0 && workers.total(\.census.subscriptions) == 0)
    await workers.stop()
  }

  @Test func eachWorkerHasThePortAfterThatOfTheOneBeforeIt() throws {
    // Ports in a row that are free, for a moment at least.
    for attempt in 1... {
      let first = Socket().address
      do {
        let workers = try MediaWorkers(3, address: first) { _ in }
        #expect(workers.addresses.map(\.port) == (0..<3).map { first.port + $0 })
        #expect(Set(workers.ids.map { workers[$0].fingerprint.description }).count == 3)
        break
      } catch { try #require(attempt < 20) }
    }
    let any = try MediaWorkers(3, address: Self.loopback) { _ in }
    #expect(Set(any.addresses.map(\.port)).count == 3 && !any.addresses.contains { $0.port == 0 })
    let last = TransportAddress(IPAddress("127.0.0.1")!, port: 65_535)
    #expect(throws: MediaWorkerError.self) { try MediaWorkers(2, address: last) { _ in } }
  }
}
