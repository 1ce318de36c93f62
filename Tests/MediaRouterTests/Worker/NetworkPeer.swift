import Addresses
import CLinux
import Glibc
@testable import MediaRouter

/// A UDP socket of a test.
final class Socket {
  let descriptor: Int32
  let address: TransportAddress
  private let slab = UnsafeMutablePointer<UInt8>.allocate(capacity: 64 * 2048)
  private let output: DatagramOutput

  init(_ ip: IPAddress = IPAddress("127.0.0.1")!) {
    let wanted = TransportAddress(ip, port: 0)
    var port: UInt16 = 0
    descriptor = datagrams_open(wanted.high, wanted.low, &port, 1 << 20)
    address = TransportAddress(ip, port: port)
    output = DatagramOutput(descriptor)
  }

  deinit {
    close(descriptor)
    slab.deallocate()
  }

  func send(_ datagrams: [[UInt8]], to address: TransportAddress) {
    let batch = SendBatch(bytes: (datagrams.count + 2) * SendBatch.datagramLimit)
    for bytes in datagrams { batch.append(bytes, to: address) }
    output.send(batch)
  }

  /// What is there already.
  func read() -> [[UInt8]] {
    var received = [datagram](repeating: datagram(), count: 64)
    let count = datagrams_receive(descriptor, slab, 2048, 64, &received)
    return received.prefix(Int(max(0, count))).map { Array(UnsafeBufferPointer(start: $0.bytes, count: Int($0.count))) }
  }

  /// Whether something is there before the time is over.
  func wait(milliseconds: Int32) -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, milliseconds) > 0
  }

  /// Waits for so many datagrams, or ten seconds for one.
  func receive(_ count: Int) -> [[UInt8]] {
    var found: [[UInt8]] = []
    while found.count < count, wait(milliseconds: 10_000) { found += read() }
    return found
  }
}

/// A peer of a worker, over the network.
struct NetworkPeer {
  let peer: SimulatedPeer
  let socket = Socket()
  let worker: MediaWorker

  static let identity = try! DTLSIdentity()

  init(_ number: UInt64, _ worker: MediaWorker) {
    self.worker = worker
    let local = ICECredentials(ufrag: Array("user\(number)".utf8), password: Array("password-password-\(number)".utf8))
    let id = TransportID(number)
    let parameters = TransportParameters(
      local: local, remoteUfrag: SimulatedPeer.ufrag, remotePassword: SimulatedPeer.password(id),
      fingerprint: Self.identity.fingerprint)
    worker.submit([.open(id, parameters)])
    peer = SimulatedPeer(id, socket.address, local, Self.identity, expects: worker.fingerprint)
  }

  static var now: MediaTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MediaTime(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }

  /// Sends what is due and takes what has come.
  func step() {
    socket.send(peer.advance(Self.now), to: worker.address)
    for datagram in socket.read() { peer.receive(datagram, Self.now) }
  }
}
