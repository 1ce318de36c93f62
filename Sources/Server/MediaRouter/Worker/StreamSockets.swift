import CLinux
import Glibc

/// What connections may cost.
struct StreamLimits {
  var connections = 4_000
  /// Connections of nobody whom we know, altogether and from one network.
  var strangers = 400
  var strangersOfNetwork = 40
  /// How long nobody may stay a stranger.
  var strangerTime = MediaTime.Interval.seconds(10)
  /// What waits for a slow reader; further packets are lost, as UDP loses them.
  var outputBytes = 256 << 10
  /// Who reads nothing for so long is let go.
  var stuckTime = MediaTime.Interval.seconds(10)
}

/// A TCP port whose connections carry packets, beside the UDP port of a worker.
///
/// Used by the worker's thread alone.
final class StreamSockets {
  private final class Connection {
    let descriptor: Int32
    let token: UInt64
    let address: TransportAddress
    var isKnown = false
    /// When it was last somebody's whom we know.
    var knownAt: MediaTime
    /// What a frame has of its beginning.
    var rest: [UInt8] = []
    var output: [UInt8] = []
    var isWatchedForRoom = false
    /// When it last had nothing to wait for, or took something.
    var movedAt: MediaTime
    var hasMoved = false
    /// The connection is over; it is closed where nobody stands in it.
    var isBroken = false

    init(_ descriptor: Int32, token: UInt64, _ address: TransportAddress, now: MediaTime) {
      self.descriptor = descriptor
      self.token = token
      self.address = address
      knownAt = now
      movedAt = now
    }
  }

  private static let listenerToken: UInt64 = 0
  private static let readBytes = 64 << 10

  /// Can be read when there is something to `handle`.
  let descriptor: Int32
  private let listener: Int32
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
  private var lastToken: UInt64 = 0
  private var isAccepting = true
  private let scratch = UnsafeMutableRawPointer.allocate(
    byteCount: StreamSockets.readBytes + StreamFraming.frameLimit + 4, alignment: 64)

  /// - Parameter listener: is closed with it.
  init?(listener: Int32, framing: StreamFraming, limits: StreamLimits = StreamLimits()) {
    descriptor = watch_open()
    guard descriptor >= 0, watch_add(descriptor, listener, Self.listenerToken, 0) == 0 else {
      if descriptor >= 0 { Glibc.close(descriptor) }
      return nil
    }
    self.listener = listener
    self.framing = framing
    self.limits = limits
  }

  deinit {
    for connection in byToken.values { Glibc.close(connection.descriptor) }
    Glibc.close(descriptor)
    Glibc.close(listener)
    scratch.deallocate()
  }

  var isEmpty: Bool { byToken.isEmpty }
  /// Whether no sweep is wanted: nobody is connected, and everybody may be.
  var isIdle: Bool { byToken.isEmpty && isAccepting }
  /// What all slow readers together have not taken yet.
  var waitingBytes: Int { byToken.values.reduce(0) { $0 + $1.output.count } }

  // MARK: What happens

  func handle(now: MediaTime) {
    var events = [watched](repeating: watched(), count: 64)
    let count = watch_wait(descriptor, &events, Int32(events.count), 0)
    for event in events.prefix(Int(count)) {
      guard event.token != Self.listenerToken else {
        accept(now: now)
        continue
      }
      guard let connection = byToken[event.token] else { continue }
      if event.can_write != 0 { write(connection) }
      if event.can_read != 0 { read(connection) }
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
    if !isAccepting { isAccepting = watch_add(descriptor, listener, Self.listenerToken, 0) == 0 }
  }

  // MARK: Connections

  private func accept(now: MediaTime) {
    for _ in 0..<64 {
      var from = datagram()
      let accepted = streams_accept(listener, &from)
      guard accepted >= 0 else {
        if [EAGAIN, EWOULDBLOCK, EINTR, ECONNABORTED].contains(errno) { return }
        // There are no descriptors left: the next sweep tries again.
        isAccepting = false
        watch_remove(descriptor, listener)
        return
      }
      let address = TransportAddress(high: from.address_high, low: from.address_low, port: from.port, isStream: true)
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
    Glibc.close(connection.descriptor)
    lost(connection.address)
  }

  private func read(_ connection: Connection) {
    let before = connection.rest.count
    connection.rest.withUnsafeBytes { scratch.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(scratch), byteCount: before) }
    let count = recv(connection.descriptor, scratch + before, Self.readBytes, Int32(MSG_DONTWAIT))
    guard count > 0 else {
      connection.isBroken = count == 0 || ![EAGAIN, EWOULDBLOCK, EINTR].contains(errno)
      return
    }
    let all = UnsafeMutableRawBufferPointer(start: scratch, count: before + count)
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
        append(all[start..<min(start + message.segmentBytes, message.count)], to: connection)
      }
      if !connection.isWatchedForRoom { write(connection) }
    }
  }

  private func append(_ packet: Slice<UnsafeRawBufferPointer>, to connection: Connection) {
    guard connection.output.count + packet.count + 2 <= limits.outputBytes else { return }
    if framing == .lengths { connection.output.append(number: UInt16(packet.count)) }
    connection.output += packet
  }

  private func write(_ connection: Connection) {
    if !connection.output.isEmpty {
      let sent = connection.output.withUnsafeBytes {
        Glibc.send(connection.descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
      }
      if sent > 0 {
        connection.output.removeFirst(sent)
        connection.hasMoved = true
      } else if ![EAGAIN, EWOULDBLOCK, EINTR].contains(errno) {
        connection.isBroken = true
        return
      }
    }
    let waits = !connection.output.isEmpty
    guard waits != connection.isWatchedForRoom else { return }
    connection.isWatchedForRoom = waits
    watch_change(descriptor, connection.descriptor, connection.token, waits ? 1 : 0)
  }
}
