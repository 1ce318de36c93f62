import CLinux
import Glibc

/// What connections may cost.
struct StreamLimits {
  var connections = 4_000
  /// Connections that belong to no known participant, altogether and from one network.
  var strangers = 400
  var strangersOfNetwork = 40
  /// How long nobody may stay a stranger, the handshake of TLS included.
  var strangerTime = MediaTime.Interval.seconds(10)
  /// Handshakes of TLS that begin, altogether and from one network; twice as many at once. Each costs a signature.
  var handshakesPerSecond: Int64 = 100
  var handshakesPerSecondOfNetwork: Int64 = 20
  /// What waits for a slow reader; further packets are lost, as UDP loses them.
  var outputBytes = 256 << 10
  /// Who reads nothing for so long is let go.
  var stuckTime = MediaTime.Interval.seconds(10)
}

/// A TCP port whose connections carry packets, beside the UDP port of a worker; and, if wanted, another whose connections speak TLS.
///
/// Used by the worker's thread alone.
final class StreamSockets {
  private typealias Connection = StreamConnection

  private struct Listener {
    let descriptor: Int32
    /// Stands in its watch: the place in `listeners`, as the tokens of connections begin behind them.
    let token: UInt64
    let isSecure: Bool
    var isWatched = true
  }

  private static let readBytes = 64 << 10

  /// Can be read when there is something to `handle`.
  let descriptor: Int32
  private var listeners: [Listener]
  /// nil where nobody speaks TLS.
  let secure: SecurePort?
  private let framing: StreamFraming
  private let limits: StreamLimits
  /// Takes a packet: the memory is its for the call.
  var receive: (UnsafeMutableRawBufferPointer, TransportAddress) -> Void = { _, _ in }
  /// Whether this is somebody who may stay.
  var isKnown: (TransportAddress) -> Bool = { _ in false }
  /// A connection of somebody is over.
  var lost: (TransportAddress) -> Void = { _ in }
  private var byToken: [UInt64: Connection] = [:]
  private var byAddress: [TransportAddress: Connection] = [:]
  private var lastToken: UInt64
  private let scratch = UnsafeMutableRawPointer.allocate(
    byteCount: StreamSockets.readBytes + StreamFraming.frameLimit + 4, alignment: 64)

  /// - Parameters:
  ///   - listener: is closed with it.
  ///   - secure: only where packets tell their length.
  init?(listener: Int32, framing: StreamFraming, limits: StreamLimits = StreamLimits(), secure: SecurePort? = nil) {
    precondition(secure == nil || framing == .turn)
    listeners = [Listener(descriptor: listener, token: 0, isSecure: false)]
    if let secure { listeners.append(Listener(descriptor: secure.listener, token: 1, isSecure: true)) }
    descriptor = watch_open()
    guard descriptor >= 0, listeners.allSatisfy({ [descriptor] in watch_add(descriptor, $0.descriptor, $0.token, 0) == 0 })
    else {
      if descriptor >= 0 { Glibc.close(descriptor) }
      return nil
    }
    lastToken = UInt64(listeners.count)
    self.framing = framing
    self.limits = limits
    self.secure = secure
  }

  deinit {
    for connection in byToken.values { Glibc.close(connection.descriptor) }
    Glibc.close(descriptor)
    Glibc.close(listeners[0].descriptor)
    scratch.deallocate()
  }

  var isEmpty: Bool { byToken.isEmpty }
  /// Whether no sweep is wanted: nobody is connected, and everybody may be.
  var isIdle: Bool { byToken.isEmpty && listeners.allSatisfy(\.isWatched) }
  /// What all slow readers together have not taken yet.
  var waitingBytes: Int { byToken.values.reduce(0) { $0 + $1.output.count } }

  /// Connections whose handshake has at least begun.
  var secureSessions: Int { byToken.values.count { $0.tls != nil } }

  // MARK: What happens

  func handle(now: MediaTime) {
    var events = [watched](repeating: watched(), count: 64)
    let count = watch_wait(descriptor, &events, Int32(events.count), 0)
    for event in events.prefix(Int(count)) {
      if event.token < UInt64(listeners.count) {
        accept(Int(event.token), now: now)
        continue
      }
      guard let connection = byToken[event.token] else { continue }
      if event.can_write != 0 { write(connection) }
      if event.can_read != 0, !connection.isBroken { read(connection, now: now) }
      if connection.isBroken { close(connection) }
    }
  }

  /// Lets go of strangers and of those who do not read. Wanted about once a second.
  func sweep(now: MediaTime) {
    for connection in byToken.values {
      connection.isKnown = isKnown(connection.address)
      if connection.isKnown { connection.knownAt = now }
      if connection.output.isEmpty || connection.hasMoved { connection.movedAt = now }
      connection.hasMoved = false
      let isStuck = now - connection.movedAt >= limits.stuckTime
      if connection.isBroken || isStuck || now - connection.knownAt >= limits.strangerTime { close(connection) }
    }
    for i in listeners.indices where !listeners[i].isWatched {
      listeners[i].isWatched = watch_add(descriptor, listeners[i].descriptor, listeners[i].token, 0) == 0
    }
  }

  // MARK: Connections

  private func accept(_ place: Int, now: MediaTime) {
    let listener = listeners[place]
    for _ in 0..<64 {
      var from = datagram()
      let accepted = streams_accept(listener.descriptor, &from)
      guard accepted >= 0 else {
        if [EAGAIN, EWOULDBLOCK, EINTR, ECONNABORTED].contains(errno) { return }
        // There are no descriptors left: the next sweep tries again.
        listeners[place].isWatched = false
        watch_remove(descriptor, listener.descriptor)
        return
      }
      let address = TransportAddress(
        high: from.address_high, low: from.address_low, port: from.port, isStream: true, isSecure: listener.isSecure)
      let strangers = byToken.values.lazy.filter { !$0.isKnown }
      guard byToken.count < limits.connections, strangers.count < limits.strangers, byAddress[address] == nil,
        strangers.filter({ $0.address.network == address.network }).count < limits.strangersOfNetwork
      else {
        Glibc.close(accepted)
        continue
      }
      lastToken += 1
      let connection = Connection(accepted, token: lastToken, address, now: now)
      guard watch_add(descriptor, accepted, lastToken, 0) == 0 else {
        Glibc.close(accepted)
        continue
      }
      byToken[lastToken] = connection
      byAddress[address] = connection
    }
  }

  private func close(_ connection: Connection) {
    guard byToken.removeValue(forKey: connection.token) != nil else { return }
    byAddress[connection.address] = nil
    if let tls = connection.tls {
      // Tells the peer why the connection ends, if it still listens.
      tls.close()
      tls.drain(into: &connection.output)
      _ = hand(connection)
    }
    Glibc.close(connection.descriptor)
    lost(connection.address)
  }

  // MARK: Input

  private func read(_ connection: Connection, now: MediaTime) {
    guard !connection.address.isSecure else { return readSealed(connection, now: now) }
    let before = putRest(of: connection)
    let count = recv(connection.descriptor, scratch + before, Self.readBytes, Int32(MSG_DONTWAIT))
    guard hasCome(count, on: connection) else { return }
    take(before + count, from: connection)
  }

  private func readSealed(_ connection: Connection, now: MediaTime) {
    guard let secure else { return }
    let count = recv(connection.descriptor, secure.sealed, SecurePort.readBytes, Int32(MSG_DONTWAIT))
    guard hasCome(count, on: connection) else { return }
    guard let tls = connection.tls ?? secure.begin(connection.address, now: now) else {
      connection.isBroken = true
      return
    }
    connection.tls = tls
    for start in stride(from: 0, to: count, by: TLSSession.inputBytes) where !connection.isBroken {
      tls.receive(UnsafeRawBufferPointer(start: secure.sealed + start, count: min(TLSSession.inputBytes, count - start)))
      readRecords(of: connection, tls)
    }
    tls.drain(into: &connection.output)
    // TLS also answers on its own. A peer that causes answers and never reads is disconnected.
    if connection.output.count > 2 * limits.outputBytes { connection.isBroken = true }
    if !connection.isBroken, !connection.isWatchedForRoom { write(connection) }
  }

  private func readRecords(of connection: Connection, _ tls: TLSSession) {
    while !connection.isBroken {
      let before = putRest(of: connection)
      switch tls.read(into: scratch + before) {
      case .plaintext(let count): take(before + count, from: connection)
      case .waiting: return
      case .over: connection.isBroken = true
      }
    }
  }

  private func hasCome(_ count: Int, on connection: Connection) -> Bool {
    if count <= 0 { connection.isBroken = count == 0 || ![EAGAIN, EWOULDBLOCK, EINTR].contains(errno) }
    return count > 0
  }

  /// Where the beginning of a frame stands so that the rest can come behind it; how long it is.
  private func putRest(of connection: Connection) -> Int {
    connection.rest.withUnsafeBytes {
      scratch.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(scratch), byteCount: $0.count)
      return $0.count
    }
  }

  /// Takes the frames of so many bytes, and keeps what is left of them.
  private func take(_ count: Int, from connection: Connection) {
    let all = UnsafeMutableRawBufferPointer(start: scratch, count: count)
    var offset = 0
    loop: while true {
      switch framing.next(in: UnsafeRawBufferPointer(all).bytes, at: offset) {
      case .frame(let range, let end):
        receive(UnsafeMutableRawBufferPointer(rebasing: all[range]), connection.address)
        offset = end
      case .incomplete: break loop
      case .malformed:
        connection.isBroken = true
        break loop
      }
    }
    connection.rest = Array(all[offset...])
    if !connection.isKnown { connection.isKnown = isKnown(connection.address) }
  }

  // MARK: Output

  /// Sends what of a batch goes to connections.
  func send(_ batch: SendBatch) {
    for message in batch.messages where message.address.isStream {
      guard let connection = byAddress[message.address], !connection.isBroken else { continue }
      let all = UnsafeRawBufferPointer(batch.bytes(of: message))
      for start in stride(from: 0, to: message.count, by: message.segmentBytes) {
        let packet = UnsafeRawBufferPointer(rebasing: all[start..<min(start + message.segmentBytes, message.count)])
        connection.append(packet, framing, limit: limits.outputBytes)
      }
      if !connection.isWatchedForRoom, !connection.isBroken { write(connection) }
    }
  }

  private func write(_ connection: Connection) {
    guard hand(connection) else {
      connection.isBroken = true
      return
    }
    let waits = !connection.output.isEmpty
    guard waits != connection.isWatchedForRoom else { return }
    connection.isWatchedForRoom = waits
    watch_change(descriptor, connection.descriptor, connection.token, waits ? 1 : 0)
  }

  /// Hands the system what it takes; false where it takes nothing any more.
  private func hand(_ connection: Connection) -> Bool {
    guard !connection.output.isEmpty else { return true }
    let sent = connection.output.withUnsafeBytes {
      Glibc.send(connection.descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
    }
    guard sent > 0 else { return [EAGAIN, EWOULDBLOCK, EINTR].contains(errno) }
    connection.output.removeFirst(sent)
    connection.hasMoved = true
    return true
  }
}
