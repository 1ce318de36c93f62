import Addresses
import CLinux
import EventLoop
import Glibc
import Synchronization

/// A thread with a TURN server: one UDP and one TCP port for clients, perhaps one for TLS, and a UDP port for each allocation.
// @unchecked: the relay and the sockets belong to the thread; `mailbox` guards what others touch.
package final class RelayWorker: @unchecked Sendable {
  private struct Mailbox {
    var end = ThreadEnd()
    var certificate: TLSCertificate?
  }

  private enum Token {
    static let datagrams: UInt64 = 1
    static let wake: UInt64 = 2
    static let streams: UInt64 = 3
    /// The port of an allocation is added.
    static let allocations: UInt64 = 1 << 16
  }

  private static let batchLimit = 32
  private static let datagramBytes = 2_048
  private static let socketBytes = 2 << 20
  private static let allocationSocketBytes = 256 << 10
  /// The addresses of a machine change.
  private static let surroundingsInterval = MediaTime.Interval.seconds(60)

  /// Where clients ask; the port is the one the system gave.
  package let address: TransportAddress
  /// Where clients ask by TLS; nil where they cannot.
  package let secureAddress: TransportAddress?
  private var configuration: RelayConfiguration
  private let socket: Int32
  private let wake: Int32
  private let watch: Int32
  private let streams: StreamSockets
  private let mailbox = Mutex(Mailbox())
  private var descriptors: [UInt16: Int32] = [:]
  private let slab = UnsafeMutablePointer<UInt8>.allocate(capacity: RelayWorker.batchLimit * RelayWorker.datagramBytes)
  private var received = [datagram](repeating: datagram(), count: RelayWorker.batchLimit)

  /// Binds the ports for clients; of port 0 UDP and TCP both get one that is free for both.
  ///
  /// - Throws: when an address cannot be bound, which the error names.
  package init(_ configuration: RelayConfiguration) throws(MediaWorkerError) {
    let wanted = configuration.address
    let ports = try MediaWorker.open(wanted, takesStreams: true, socketBytes: Self.socketBytes)
    guard let listener = ports.listener else { preconditionFailure("TCP was asked for") }
    (socket, address) = (ports.socket, ports.address)
    let secure: (port: SecurePort, address: TransportAddress)?
    do throws(MediaWorkerError) {
      secure = if let wanted = configuration.secure { try Self.listen(wanted) } else { nil }
    } catch {
      for descriptor in [socket, listener] { Glibc.close(descriptor) }
      throw error
    }
    secureAddress = secure?.address
    wake = datagrams_mailbox()
    watch = watch_open()
    guard let streams = StreamSockets(listener: listener, framing: .turn, secure: secure?.port), wake >= 0, watch >= 0 else {
      let code = errno
      for descriptor in [socket, listener, wake, watch] where descriptor >= 0 { Glibc.close(descriptor) }
      throw MediaWorkerError(address: wanted, code: code)
    }
    self.streams = streams
    self.configuration = configuration
  }

  private static func listen(
    _ secure: RelayConfiguration.Secure
  ) throws(MediaWorkerError) -> (port: SecurePort, address: TransportAddress) {
    let wanted = secure.address
    var port = wanted.port
    let listener = streams_listen(wanted.high, wanted.low, &port)
    guard listener >= 0 else { throw MediaWorkerError(address: wanted, code: errno) }
    return (
      SecurePort(listener: listener, certificate: secure.certificate),
      TransportAddress(high: wanted.high, low: wanted.low, port: port, isSecure: true)
    )
  }

  deinit {
    for descriptor in [socket, wake, watch] + Array(descriptors.values) { Glibc.close(descriptor) }
    slab.deallocate()
  }

  /// Starts the thread. Once.
  ///
  /// - Parameter routers: where our media router listens, at one address, which clients may reach whatever it is.
  /// - Throws: when the system has no thread for it.
  package func start(routers: [TransportAddress] = []) throws(MediaWorkerError) {
    configuration.routers = routers
    guard spawnThread(name: "relay", { self.run() }) else { throw MediaWorkerError(address: address, code: EAGAIN) }
  }

  /// Connections by TLS that begin from now on get this certificate; the others stay as they are.
  package func use(_ certificate: TLSCertificate) {
    mailbox.withLock { $0.certificate = certificate }
    ring()
  }

  /// Ends the thread and returns when it has ended.
  package func stop() async {
    await withCheckedContinuation { done in
      guard mailbox.withLock({ $0.end.wait(done) }) else { return done.resume() }
      ring()
    }
  }

  private func ring() {
    var one: UInt64 = 1
    _ = write(wake, &one, 8)
  }

  // MARK: The thread

  private var policy: RelayPolicy {
    let (own, networks) = HostAddresses.surroundings()
    return RelayPolicy(own: own + configuration.publicAddresses, networks: networks, allowed: configuration.allowed)
  }

  private func run() {
    let relay = makeRelay()
    for (descriptor, token) in [(socket, Token.datagrams), (wake, Token.wake), (streams.descriptor, Token.streams)] {
      watch_add(watch, descriptor, token, 0)
    }
    var events = [watched](repeating: watched(), count: 64)
    var (lastSweep, lastSurroundings) = (MediaTime.now, MediaTime.now)
    while !mailbox.withLock(\.end.isWanted) {
      let isIdle = streams.isIdle && relay.deadline == nil
      let count = watch_wait(watch, &events, Int32(events.count), isIdle ? 60_000 : 1_000)
      for event in events.prefix(Int(count)) { handle(event.token, relay) }
      relay.flush()
      let now = MediaTime.now
      guard now - lastSweep >= Relay.sweepInterval else { continue }
      lastSweep = now
      relay.advance(to: now)
      streams.sweep(now: now)
      guard now - lastSurroundings >= Self.surroundingsInterval else { continue }
      lastSurroundings = now
      relay.policy = policy
    }
    end()
  }

  private func end() {
    (streams.receive, streams.isKnown, streams.lost) = ({ _, _ in }, { _ in false }, { _ in })
    for done in mailbox.withLock({ $0.end.finish() }) { done.resume() }
  }

  private func makeRelay() -> Relay {
    let output = DatagramOutput(socket)
    let relay = Relay(
      configuration, policy: policy, random: SystemRandomNumberGenerator(), now: .now,
      actions: RelayActions(
        send: { [streams] in
          output.send($0)
          streams.send($0)
        },
        sendToPeer: { [unowned self] in send($0, from: $1, to: $2) },
        open: { [unowned self] in open($0) },
        close: { [unowned self] port in
          if let descriptor = descriptors.removeValue(forKey: port) { Glibc.close(descriptor) }
        }))
    streams.receive = { relay.receive(UnsafeRawBufferPointer($0).bytes, from: $1, now: Self.time) }
    streams.isKnown = { relay.isKnown($0) }
    streams.lost = { relay.lose($0) }
    return relay
  }

  private static var time: RelayTime {
    var wall = timespec()
    clock_gettime(CLOCK_REALTIME, &wall)
    return RelayTime(monotonic: .now, unixSeconds: Int64(wall.tv_sec))
  }

  private func handle(_ token: UInt64, _ relay: Relay) {
    switch token {
    case Token.datagrams:
      let time = Self.time
      read(socket) { relay.receive($0, from: $1, now: time) }
    case Token.streams: streams.handle(now: .now)
    case Token.wake:
      var count: UInt64 = 0
      _ = Glibc.read(wake, &count, 8)
      if let certificate = mailbox.withLock({ $0.certificate.take() }) { streams.secure?.certificate = certificate }
    default:
      let port = UInt16(truncatingIfNeeded: token)
      guard let descriptor = descriptors[port] else { return }
      let now = MediaTime.now
      read(descriptor) { relay.receive($0, from: $1, at: port, now: now) }
    }
  }

  private func read(_ descriptor: Int32, _ body: (RawSpan, TransportAddress) -> Void) {
    let count = datagrams_receive(descriptor, slab, UInt32(Self.datagramBytes), Int32(Self.batchLimit), &received)
    for one in received.prefix(Int(max(0, count))) {
      body(
        UnsafeRawBufferPointer(start: one.bytes, count: Int(one.count)).bytes,
        TransportAddress(high: one.address_high, low: one.address_low, port: one.port))
    }
  }

  // MARK: Ports of allocations

  private func open(_ port: UInt16) -> Bool {
    var wanted = port
    let descriptor = datagrams_open(address.high, address.low, &wanted, Int32(Self.allocationSocketBytes))
    guard descriptor >= 0 else { return false }
    guard watch_add(watch, descriptor, Token.allocations + UInt64(port), 0) == 0 else {
      Glibc.close(descriptor)
      return false
    }
    descriptors[port] = descriptor
    return true
  }

  private func send(_ payload: UnsafeRawBufferPointer, from port: UInt16, to peer: TransportAddress) {
    guard let descriptor = descriptors[port], let base = payload.baseAddress else { return }
    var message = datagram(
      bytes: UnsafeMutablePointer(mutating: base.assumingMemoryBound(to: UInt8.self)), count: UInt32(payload.count),
      segment_bytes: 0, port: peer.port, address_high: peer.high, address_low: peer.low)
    datagrams_send(descriptor, &message, 1)
  }
}
