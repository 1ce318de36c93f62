import Addresses
@testable import MediaRouter
import Testing

/// What a network does to datagrams.
struct NetworkConditions {
  /// Of 100.
  var loss = 0
  var duplicates = 0
  var delay = MediaTime.Interval.milliseconds(10)
  /// Added to the delay, up to this, so that datagrams overtake each other.
  var jitter = MediaTime.Interval.milliseconds(0)
  /// Bits a second to each peer; nil for any.
  var rate: Int?
  /// What would wait for longer in front of the narrow link is lost.
  var queue = MediaTime.Interval.milliseconds(300)
}

/// A forwarding unit, or several that relay to each other, and their peers, in one thread, one clock and one seed.
final class Simulation {
  private struct Flight {
    let bytes: [UInt8]
    let from: TransportAddress
    let to: TransportAddress
    let arrival: MediaTime
  }

  static let routerAddress = TransportAddress(IPAddress("192.0.2.1")!, port: 5000)

  private(set) var now = MediaTime.zero
  var conditions = NetworkConditions()
  /// The handshake is not what is tested.
  var sparesHandshake = true
  private(set) var units: [ForwardingUnit] = []
  var unit: ForwardingUnit { units[0] }
  private(set) var events: [RouterEvent] = []
  private var random: SeededGenerator
  /// By the millisecond in which they arrive.
  private var flights: [Int64: [Flight]] = [:]
  /// When the link to a peer has sent what it was given.
  private var idle: [TransportAddress: MediaTime] = [:]
  private var peers: [TransportAddress: SimulatedPeer] = [:]
  private var workers: [TransportID: WorkerID] = [:]
  private static let routerIdentity = try! DTLSIdentity()
  private static let peerIdentity = try! DTLSIdentity()

  init(seed: UInt64 = 1, limits: RouterLimits = RouterLimits(), workers: Int = 1) {
    random = SeededGenerator(seed: seed)
    units = (0..<workers).map { number in
      ForwardingUnit(Self.routerIdentity, limits: limits, random: SeededGenerator(seed: seed + UInt64(number))) {
        [unowned self] batch in
        batch.forEachDatagram { bytes, address in self.fly(Array(bytes), from: Self.address(of: WorkerID(number)), to: address)
        }
      }
    }
  }

  private static func address(of worker: WorkerID) -> TransportAddress {
    TransportAddress(routerAddress.ip, port: routerAddress.port + UInt16(worker.number))
  }

  private func unit(at address: TransportAddress) -> ForwardingUnit? {
    units.indices.first { Self.address(of: WorkerID($0)) == address }.map { units[$0] }
  }

  /// A peer that is connected already.
  func join(at worker: WorkerID = WorkerID(0)) -> SimulatedPeer {
    let number = UInt64(peers.count + 1)
    let local = ICECredentials(ufrag: Array("user\(number)".utf8), password: Array("password-password-\(number)".utf8))
    let parameters = TransportParameters(
      local: local, remoteUfrag: SimulatedPeer.ufrag, remotePassword: SimulatedPeer.password(TransportID(number)),
      fingerprint: Self.peerIdentity.fingerprint)
    command(.open(TransportID(number), parameters), at: worker)
    workers[TransportID(number)] = worker
    let address = TransportAddress(IPAddress("198.51.100.\(number)")!, port: 6000)
    let peer = SimulatedPeer(
      TransportID(number), address, local, Self.peerIdentity, expects: Self.routerIdentity.fingerprint)
    peers[address] = peer
    run(.milliseconds(400)) { peer.isConnected }
    return peer
  }

  /// From now on the peer is there, and what goes to where it was is lost.
  func move(_ peer: SimulatedPeer, to address: TransportAddress) {
    peers[peer.address] = nil
    peer.address = address
    peers[address] = peer
  }

  /// How long a datagram to the peer would wait in front of its link.
  func queue(to peer: SimulatedPeer) -> MediaTime.Interval { max(idle[peer.address] ?? now, now) - now }

  func command(_ command: RouterCommand, at worker: WorkerID = WorkerID(0)) {
    units[worker.number].handle(command, now: now)
  }

  /// Hands the forwarding unit a datagram at once.
  func inject(_ bytes: [UInt8], from address: TransportAddress) {
    var copy = bytes
    copy.withUnsafeMutableBytes { unit.receive($0, from: address, now: now) }
    unit.flush(now: now)
  }

  /// In steps of a millisecond, until the time is over or the condition holds.
  func run(_ interval: MediaTime.Interval, until isDone: () -> Bool = { false }) {
    let end = now + interval
    while now < end && !isDone() {
      now = now + .milliseconds(1)
      for peer in peers.values.sorted(by: { $0.id.number < $1.id.number }) {
        for datagram in peer.advance(now) { fly(datagram, from: peer.address, to: Self.address(of: workers[peer.id]!)) }
      }
      for flight in takeDue() {
        if let unit = self.unit(at: flight.to) {
          var bytes = flight.bytes
          bytes.withUnsafeMutableBytes { unit.receive($0, from: flight.from, now: now) }
        } else {
          peers[flight.to]?.receive(flight.bytes, now)
        }
      }
      for unit in units {
        unit.flush(now: now)
        unit.advance(to: now)
        events += unit.events
        unit.events = []
      }
      relay()
    }
  }

  /// What has arrived by now. What was sent in the step before after its arrivals, and took no time, was due then.
  private func takeDue() -> [Flight] {
    let millisecond = Self.millisecond(now)
    var due = flights.removeValue(forKey: millisecond - 1) ?? []
    due += flights.removeValue(forKey: millisecond) ?? []
    return due.sorted { $0.arrival < $1.arrival }
  }

  /// At whose end a moment is over.
  private static func millisecond(_ moment: MediaTime) -> Int64 { (moment.microseconds + 999) / 1_000 }

  private func relay() {
    for (number, unit) in units.enumerated() {
      unit.relay { batch, worker in
        units[worker.number].take(batch, from: WorkerID(number), now: now)
        batch = RelayedBatch()
      }
    }
  }

  private func fly(_ bytes: [UInt8], from: TransportAddress, to: TransportAddress) {
    let isMedia = DatagramKind(bytes) == .rtp || DatagramKind(bytes) == .rtcp
    let isSpared = sparesHandshake && !isMedia
    if !isSpared, Int.random(in: 0..<100, using: &random) < conditions.loss { return }
    let copies = !isSpared && Int.random(in: 0..<100, using: &random) < conditions.duplicates ? 2 : 1
    for _ in 0..<copies {
      guard let departure = pass(bytes.count, to: to) else { continue }
      let jitter = Int64.random(in: 0...conditions.jitter.microseconds, using: &random)
      let delay = MediaTime.Interval(microseconds: conditions.delay.microseconds + jitter)
      let flight = Flight(bytes: bytes, from: from, to: to, arrival: departure + delay)
      flights[Self.millisecond(flight.arrival), default: []].append(flight)
    }
  }

  /// When a datagram has passed the narrow link; nil if it finds no room there.
  private func pass(_ count: Int, to: TransportAddress) -> MediaTime? {
    guard let rate = conditions.rate, unit(at: to) == nil else { return now }
    let begin = max(now, idle[to] ?? now)
    guard begin - now <= conditions.queue else { return nil }
    let end = begin + MediaTime.Interval(microseconds: Int64(count + 28) * 8_000_000 / Int64(rate))
    idle[to] = end
    return end
  }
}
