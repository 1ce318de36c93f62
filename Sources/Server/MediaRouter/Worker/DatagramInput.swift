import CLinux

/// What comes by UDP, batch by batch: several datagrams in one message where the system puts them together, cut apart where they lie.
///
/// Used by the worker's thread alone, which the memory belongs to.
final class DatagramInput {
  /// Messages read by one call.
  static let batchLimit = 64
  private static let datagramBytes = 2048
  /// No message of several is longer than 64 KiB. An odd number of cache lines, or all messages of a batch would have the same places in the
  /// processor's cache.
  private static let messageBytes = 1041 * 64

  private let socket: Int32
  let isCoalescing: Bool
  private let messageBytes: Int
  private let slab: UnsafeMutablePointer<UInt8>
  private var received = [datagram](repeating: datagram(), count: DatagramInput.batchLimit)
  private var count = 0

  /// - Parameter isCoalescing: false where each message is to be one datagram, as it is on systems that know nothing else.
  init(_ socket: Int32, isCoalescing: Bool = true) {
    self.socket = socket
    self.isCoalescing = isCoalescing && datagrams_coalesce(socket) == 0
    messageBytes = self.isCoalescing ? Self.messageBytes : Self.datagramBytes
    slab = .allocate(capacity: Self.batchLimit * messageBytes)
  }

  deinit { slab.deallocate() }

  /// Reads one batch; how many messages it is.
  func read() -> Int {
    count = Int(max(0, datagrams_receive(socket, slab, UInt32(messageBytes), Int32(Self.batchLimit), &received)))
    return count
  }

  /// Each datagram of the batch; its memory is the caller's until `body` returns.
  func forEachDatagram(_ body: (UnsafeMutableRawBufferPointer, TransportAddress) -> Void) {
    for message in received.prefix(count) {
      let from = TransportAddress(high: message.address_high, low: message.address_low, port: message.port)
      message.forEachSegment { body($0, from) }
    }
  }
}

extension datagram {
  /// Each datagram of a message by itself, the last of which may be shorter. Without a length of segments, or with one that is not less than the
  /// whole, it is one.
  func forEachSegment(_ body: (UnsafeMutableRawBufferPointer) -> Void) {
    let all = UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))
    let step = Int(segment_bytes)
    guard (1..<max(1, all.count)).contains(step) else { return body(all) }
    for start in stride(from: 0, to: all.count, by: step) {
      body(UnsafeMutableRawBufferPointer(rebasing: all[start..<min(start + step, all.count)]))
    }
  }
}
