import Addresses
import CLinux
import EventLoop
import Glibc

/// The system refused what a worker needs.
package struct MediaWorkerError: Error, CustomStringConvertible {
  package let address: TransportAddress
  package let code: Int32

  package var description: String {
    "\(address.isStream ? "TCP" : "UDP") \(address): \(String(cString: strerror(code)))"
  }
}

extension MediaTime {
  static var now: MediaTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MediaTime(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }
}

/// A thread with one UDP port, the TCP port of the same number, and a forwarding unit.
///
/// What others have for it waits in a mailbox; events go to a closure on its thread, and what it relays to the mailboxes of other workers.
// @unchecked: the forwarding unit and the buffers belong to the thread; `mailbox` guards what others touch.
package final class MediaWorker: @unchecked Sendable {
  /// Of the socket, each way. A key frame of many publishers comes at once.
  static let socketBytes = 4 << 20
  /// Read in a row, to the end of a batch, before timers and commands have their turn.
  private static let datagramsLimit = 1024
  /// When the last peer has gone: packets kept for repeats were many.
  private static let bytesGivenBack = 16 << 20

  /// Where it listens; the port is the one the system gave.
  package let address: TransportAddress
  package let fingerprint: Fingerprint
  package let census = MediaCensus()
  private let socket: Int32
  /// nil where it takes no TCP.
  private let streams: StreamSockets?
  private let id: WorkerID
  /// Of all workers, by their numbers.
  private let mailboxes: [WorkerMailbox]
  private let mailbox: WorkerMailbox
  private let onEvents: @Sendable ([RouterEvent]) -> Void
  private let onTapped: @Sendable (TappedBatch) -> Void
  private let identity: DTLSIdentity
  private let limits: RouterLimits

  /// - Parameters:
  ///   - address: port 0 for any.
  ///   - takesStreams: whether it listens by TCP too, for peers whose network blocks UDP. RFC 6544.
  ///   - onTapped: what taps get, at most once for each waking of the thread; called on it, must not wait.
  ///   - onEvents: called on the worker's thread; must not wait.
  /// - Throws: when the address cannot be bound.
  package convenience init(
    _ identity: DTLSIdentity, address: TransportAddress, takesStreams: Bool = false, limits: RouterLimits = RouterLimits(),
    onTapped: @escaping @Sendable (TappedBatch) -> Void = { _ in },
    onEvents: @escaping @Sendable ([RouterEvent]) -> Void
  ) throws(MediaWorkerError) {
    guard let mailbox = WorkerMailbox() else { throw MediaWorkerError(address: address, code: errno) }
    try self.init(
      WorkerID(0), among: [mailbox], identity, address: address, takesStreams: takesStreams, limits: limits,
      onTapped: onTapped, onEvents: onEvents)
  }

  /// One of several, each with a mailbox.
  init(
    _ id: WorkerID, among mailboxes: [WorkerMailbox], _ identity: DTLSIdentity, address: TransportAddress, takesStreams: Bool,
    limits: RouterLimits, onTapped: @escaping @Sendable (TappedBatch) -> Void,
    onEvents: @escaping @Sendable ([RouterEvent]) -> Void
  ) throws(MediaWorkerError) {
    self.id = id
    self.mailboxes = mailboxes
    mailbox = mailboxes[id.number]
    let ports = try Self.open(address, takesStreams: takesStreams)
    (socket, self.address) = (ports.socket, ports.address)
    streams = ports.listener.flatMap { StreamSockets(listener: $0, framing: .lengths) }
    self.identity = identity
    self.limits = limits
    self.onEvents = onEvents
    self.onTapped = onTapped
    fingerprint = identity.fingerprint
  }

  /// UDP, and TCP of the same port. Where any port will do, one that is free for both.
  static func open(
    _ address: TransportAddress, takesStreams: Bool, socketBytes: Int = MediaWorker.socketBytes
  ) throws(MediaWorkerError) -> (socket: Int32, listener: Int32?, address: TransportAddress) {
    for attempt in 1... {
      var port = address.port
      let socket = datagrams_open(address.high, address.low, &port, Int32(socketBytes))
      guard socket >= 0 else { throw MediaWorkerError(address: address, code: errno) }
      let bound = TransportAddress(high: address.high, low: address.low, port: port)
      guard takesStreams else { return (socket, nil, bound) }
      let listener = streams_listen(address.high, address.low, &port)
      if listener >= 0 { return (socket, listener, bound) }
      let code = errno
      Glibc.close(socket)
      guard address.port == 0, code == EADDRINUSE, attempt < portAttempts else {
        throw MediaWorkerError(
          address: TransportAddress(high: address.high, low: address.low, port: port, isStream: true), code: code)
      }
    }
    preconditionFailure("the attempts end")
  }

  private static let portAttempts = 16

  /// What an answer names, the best first: the addresses that the configuration says others reach this machine by, then the address it listens
  /// on, or all of the machine where that is `::` or `0.0.0.0`; by UDP, and then by TCP.
  package func candidates(announced: [IPAddress] = []) -> [TransportAddress] {
    let isAny = address.ip.number == 0
    let hosts = isAny ? HostAddresses.list().filter { !address.ip.isIPv4 || $0.isIPv4 } : [address.ip]
    let others = hosts.filter { !announced.contains($0) }
    let addresses = (announced + others).prefix(HostAddresses.limit)
    return (streams == nil ? [false] : [false, true]).flatMap { isStream in
      addresses.map { TransportAddress($0, port: address.port, isStream: isStream) }
    }
  }

  deinit {
    Glibc.close(socket)
  }

  /// Starts the thread. Once.
  ///
  /// - Throws: when the system has no thread for it.
  package func start() throws(MediaWorkerError) {
    guard spawnThread(name: "media", { self.run() }) else { throw MediaWorkerError(address: address, code: EAGAIN) }
  }

  /// Carries out commands in order, soon.
  package func submit(_ commands: [RouterCommand]) { mailbox.submit(commands) }

  /// Packets that other workers relayed and it was too slow for.
  package var droppedPackets: Int { mailbox.dropped.load(ordering: .relaxed) }

  /// Ends the thread and returns when it has ended.
  package func stop() async {
    await withCheckedContinuation { mailbox.end($0) }
  }

  // MARK: The thread

  private func run() {
    let output = DatagramOutput(socket)
    let unit = ForwardingUnit(identity, limits: limits, random: SystemRandomNumberGenerator()) { [streams] in
      output.send($0)
      streams?.send($0)
    }
    streams?.receive = { unit.receive($0, from: $1, now: .now) }
    streams?.isKnown = { unit.connections[$0] != nil }
    streams?.lost = { unit.lose($0) }
    let input = DatagramInput(socket)
    var descriptors = [
      pollfd(fd: socket, events: Int16(POLLIN), revents: 0), pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0)
    ]
    if let streams { descriptors.append(pollfd(fd: streams.descriptor, events: Int16(POLLIN), revents: 0)) }
    var lastSweep = MediaTime.now
    var isInUse = false
    var content = WorkerMailbox.Content()
    while take(&content, unit, isRung: descriptors[1].revents != 0) {
      unit.relay { [id, mailboxes] in mailboxes[$1.number].give(&$0, from: id) }
      // Before the wait, which is long where nobody is left; the figures last, so that who sees that nobody is left sees the memory gone too.
      if isInUse, unit.transports.isEmpty { clinux_give_back_memory(Self.bytesGivenBack) }
      isInUse = !unit.transports.isEmpty
      census.note(unit.counts)
      wait(&descriptors, until: deadline(unit, lastSweep))
      var datagrams = 0
      while datagrams < Self.datagramsLimit, read(input, unit, &datagrams) {}
      if let streams, !streams.isIdle || descriptors[2].revents != 0 { handle(streams, unit, &lastSweep) }
      if let tapped = unit.takeTapped() { onTapped(tapped) }
      unit.advance(to: MediaTime.now)
      if !unit.events.isEmpty {
        onEvents(unit.events)
        unit.events.removeAll()
      }
    }
    if let streams { (streams.receive, streams.isKnown, streams.lost) = ({ _, _ in }, { _ in false }, { _ in }) }
    for done in mailbox.finish() { done.resume() }
  }

  /// Connections are looked through each second.
  private static let sweepInterval = MediaTime.Interval.seconds(1)

  private func deadline(_ unit: ForwardingUnit, _ lastSweep: MediaTime) -> MediaTime? {
    guard let streams, !streams.isIdle else { return unit.deadline }
    return min(unit.deadline ?? lastSweep + Self.sweepInterval, lastSweep + Self.sweepInterval)
  }

  private func handle(_ streams: StreamSockets, _ unit: ForwardingUnit, _ lastSweep: inout MediaTime) {
    let now = MediaTime.now
    streams.handle(now: now)
    unit.flush(now: now)
    guard now - lastSweep >= Self.sweepInterval else { return }
    lastSweep = now
    streams.sweep(now: now)
  }

  /// False when the thread shall end.
  private func take(_ content: inout WorkerMailbox.Content, _ unit: ForwardingUnit, isRung: Bool) -> Bool {
    mailbox.exchange(&content, isRung: isRung)
    for command in content.commands { unit.handle(command, now: MediaTime.now) }
    for delivery in content.deliveries { unit.take(delivery.batch, from: delivery.worker, now: MediaTime.now) }
    return !content.mustEnd
  }

  private func wait(_ descriptors: inout [pollfd], until deadline: MediaTime?) {
    let left = deadline.map { Int32(clamping: max(0, ($0 - MediaTime.now).milliseconds + 1)) } ?? -1
    poll(&descriptors, nfds_t(descriptors.count), left)
  }

  /// Reads one batch; whether there may be more.
  private func read(_ input: DatagramInput, _ unit: ForwardingUnit, _ datagrams: inout Int) -> Bool {
    let messages = input.read()
    guard messages > 0 else { return false }
    let now = MediaTime.now
    input.forEachDatagram {
      unit.receive($0, from: $1, now: now)
      datagrams += 1
    }
    unit.flush(now: now)
    return messages == DatagramInput.batchLimit
  }
}
