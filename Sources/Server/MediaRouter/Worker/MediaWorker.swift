import Addresses
import CLinux
import Glibc
import Synchronization

/// The system refused what a worker needs.
package struct MediaWorkerError: Error, CustomStringConvertible {
  package let address: TransportAddress
  package let code: Int32

  package var description: String { "UDP \(address): \(String(cString: strerror(code)))" }
}

/// A thread with one UDP port and a router.
///
/// Commands wait in an array behind a mutex, and an eventfd wakes the thread; events go to a closure on it.
// @unchecked: the router and the buffers belong to the thread; `mailbox` guards what others touch.
package final class MediaWorker: @unchecked Sendable {
  /// Datagrams read by one call.
  static let batchLimit = 64
  static let datagramBytes = 2048
  /// Of the socket, each way. A key frame of many publishers comes at once.
  static let socketBytes = 4 << 20
  /// Calls in a row before timers and commands have their turn.
  private static let readsLimit = 16

  private struct Mailbox {
    var commands: [RouterCommand] = []
    var mustEnd = false
    var isOver = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  /// Where it listens; the port is the one the system gave.
  package let address: TransportAddress
  package let fingerprint: Fingerprint
  private let socket: Int32
  private let wake: Int32
  private let mailbox = Mutex(Mailbox())
  private let onEvents: @Sendable ([RouterEvent]) -> Void
  private let identity: DTLSIdentity
  private let limits: RouterLimits

  /// - Parameters:
  ///   - address: port 0 for any.
  ///   - onEvents: called on the worker's thread; must not wait.
  /// - Throws: when the address cannot be bound.
  package init(
    _ identity: DTLSIdentity, address: TransportAddress, limits: RouterLimits = RouterLimits(),
    onEvents: @escaping @Sendable ([RouterEvent]) -> Void
  ) throws(MediaWorkerError) {
    var port = address.port
    socket = datagrams_open(address.high, address.low, &port, Int32(Self.socketBytes))
    guard socket >= 0 else { throw MediaWorkerError(address: address, code: errno) }
    wake = datagrams_mailbox()
    guard wake >= 0 else {
      let code = errno
      Glibc.close(socket)
      throw MediaWorkerError(address: address, code: code)
    }
    self.address = TransportAddress(high: address.high, low: address.low, port: port)
    self.identity = identity
    self.limits = limits
    self.onEvents = onEvents
    fingerprint = identity.fingerprint
  }

  /// What an answer names, the best first: the addresses that the configuration says others reach this machine by, then the address it listens
  /// on, or all of the machine where that is `::` or `0.0.0.0`.
  package func candidates(announced: [IPAddress] = []) -> [TransportAddress] {
    let isAny = address.ip.number == 0
    let hosts = isAny ? HostAddresses.list().filter { !address.ip.isIPv4 || $0.isIPv4 } : [address.ip]
    let others = hosts.filter { !announced.contains($0) }
    return (announced + others).prefix(HostAddresses.limit).map { TransportAddress($0, port: address.port) }
  }

  deinit {
    Glibc.close(socket)
    Glibc.close(wake)
  }

  /// Starts the thread. Once.
  ///
  /// - Throws: when the system has no thread for it.
  package func start() throws(MediaWorkerError) {
    var thread = pthread_t()
    let box = Unmanaged.passRetained(self)
    let result = pthread_create(
      &thread, nil,
      { context in
        Unmanaged<MediaWorker>.fromOpaque(context!).takeRetainedValue().run()
        return nil
      }, box.toOpaque())
    guard result == 0 else {
      box.release()
      throw MediaWorkerError(address: address, code: result)
    }
    clinux_name_thread(thread, "media")
    pthread_detach(thread)
  }

  /// Carries out commands in order, soon.
  package func submit(_ commands: [RouterCommand]) {
    mailbox.withLock { $0.commands += commands }
    ring()
  }

  /// Ends the thread and returns when it has ended.
  package func stop() async {
    await withCheckedContinuation { done in
      let isOver = mailbox.withLock { mailbox in
        mailbox.mustEnd = true
        if !mailbox.isOver { mailbox.waiting.append(done) }
        return mailbox.isOver
      }
      if isOver { done.resume() } else { ring() }
    }
  }

  private func ring() {
    var one: UInt64 = 1
    _ = write(wake, &one, 8)
  }

  // MARK: The thread

  private static var now: MediaTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MediaTime(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
  }

  private func run() {
    let output = DatagramOutput(socket)
    let router = Router(identity, limits: limits, random: SystemRandomNumberGenerator()) { output.send($0) }
    let slab = UnsafeMutableRawPointer.allocate(byteCount: Self.batchLimit * Self.datagramBytes, alignment: 64)
    defer { slab.deallocate() }
    var received = [datagram](repeating: datagram(), count: Self.batchLimit)
    var descriptors = [
      pollfd(fd: socket, events: Int16(POLLIN), revents: 0), pollfd(fd: wake, events: Int16(POLLIN), revents: 0)
    ]
    while takeCommands(router) {
      wait(&descriptors, until: router.deadline)
      for _ in 0..<Self.readsLimit {
        if read(into: slab, &received, router) < Self.batchLimit { break }
      }
      router.advance(to: Self.now)
      if !router.events.isEmpty {
        onEvents(router.events)
        router.events.removeAll()
      }
    }
    let waiting = mailbox.withLock { mailbox in
      mailbox.isOver = true
      return mailbox.waiting
    }
    for done in waiting { done.resume() }
  }

  /// False when the thread shall end.
  private func takeCommands(_ router: Router) -> Bool {
    var count: UInt64 = 0
    _ = Glibc.read(wake, &count, 8)
    let (commands, mustEnd) = mailbox.withLock { mailbox in
      defer { mailbox.commands.removeAll() }
      return (mailbox.commands, mailbox.mustEnd)
    }
    for command in commands { router.handle(command, now: Self.now) }
    return !mustEnd
  }

  private func wait(_ descriptors: inout [pollfd], until deadline: MediaTime?) {
    let left = deadline.map { Int32(clamping: max(0, ($0 - Self.now).milliseconds + 1)) } ?? -1
    poll(&descriptors, nfds_t(descriptors.count), left)
  }

  /// Reads one batch; how many datagrams it was.
  private func read(into slab: UnsafeMutableRawPointer, _ received: inout [datagram], _ router: Router) -> Int {
    let start = slab.assumingMemoryBound(to: UInt8.self)
    let count = datagrams_receive(
      socket, start, UInt32(Self.datagramBytes), Int32(Self.batchLimit), &received)
    guard count > 0 else { return 0 }
    let now = Self.now
    for i in 0..<Int(count) {
      let from = TransportAddress(high: received[i].address_high, low: received[i].address_low, port: received[i].port)
      let bytes = UnsafeMutableRawBufferPointer(start: received[i].bytes, count: Int(received[i].count))
      router.receive(bytes, from: from, now: now)
    }
    router.flush(now: now)
    return Int(count)
  }
}
