/// One connection of `StreamSockets`.
final class StreamConnection {
  let descriptor: Int32
  let token: UInt64
  let address: TransportAddress
  /// From the first bytes of a secure one on.
  var tls: TLSSession?
  var isKnown = false
  /// When the connection last belonged to a known participant.
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

  /// Puts a packet behind what waits, if there is room for it. Once it is sealed it cannot be lost any more.
  func append(_ packet: UnsafeRawBufferPointer, _ framing: StreamFraming, limit: Int) {
    let overhead = address.isSecure ? TLSSession.overheadBytes : 2
    guard output.count + packet.count + overhead <= limit else { return }
    if address.isSecure {
      guard let tls, tls.isEstablished else { return }
      if !tls.seal(packet) { isBroken = true }
      tls.drain(into: &output)
    } else {
      if framing == .lengths { output.append(number: UInt16(packet.count)) }
      output += packet
    }
  }
}
