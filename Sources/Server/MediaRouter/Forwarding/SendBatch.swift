/// Datagrams on their way out, in one piece of memory. Neighbours of equal length to one address become one message for
/// segmentation offload, the last of which may be shorter.
///
/// Who appends and who sends are the same thread; the memory belongs to the batch and holds until `removeAll`.
final class SendBatch {
  struct Message: Equatable {
    var offset: Int
    var count: Int
    /// What each datagram but the last has; equal to `count` for one datagram.
    var segmentBytes: Int
    var segments: Int
    var address: TransportAddress

    /// Whether one more datagram may join, if none that is shorter than the first has.
    fileprivate func takes(_ bytes: Int, to other: TransportAddress) -> Bool {
      bytes <= segmentBytes && address == other && segments < SendBatch.segmentsLimit
        && count + bytes <= SendBatch.messageBytesLimit
    }
  }

  /// What a path of 1,500 bytes carries by IPv6. A larger one would make the system refuse segmentation.
  static let datagramLimit = 1452
  static let messagesLimit = 512
  /// What one system call takes for one message; Linux' UDP_MAX_SEGMENTS, and less than 64 KiB.
  static let segmentsLimit = 60
  static let messageBytesLimit = 60_000

  private let memory: UnsafeMutableRawPointer
  private let capacity: Int
  // Unchecked here and in other classes of the router: they belong to one thread, and no method is called while another one changes them.
  @exclusivity(unchecked) private var used = 0
  @exclusivity(unchecked) private(set) var messages: [Message] = []
  /// Whether another datagram may join the last message.
  @exclusivity(unchecked) private var isOpen = false

  init(bytes: Int = 1 << 20) {
    precondition(bytes >= 2 * Self.datagramLimit)
    capacity = bytes
    memory = .allocate(byteCount: bytes, alignment: 64)
    messages.reserveCapacity(Self.messagesLimit)
  }

  deinit { memory.deallocate() }

  /// Whether the batch must be sent before another datagram fits.
  var isFull: Bool { !hasRoom(for: 1) }

  /// Whether so many datagrams fit, each in a message of its own.
  func hasRoom(for datagrams: Int) -> Bool {
    used + datagrams * Self.datagramLimit <= capacity && messages.count + datagrams <= Self.messagesLimit
  }

  /// Where the next datagram is to be written, at most `datagramLimit` bytes; `commit` makes it part of the batch.
  var space: UnsafeMutableRawPointer {
    precondition(!isFull)
    return memory + used
  }

  func commit(_ count: Int, to address: TransportAddress) {
    precondition((1...Self.datagramLimit).contains(count))
    defer { used += count }
    let last = messages.count - 1
    if isOpen, messages[last].takes(count, to: address) {
      isOpen = count == messages[last].segmentBytes
      messages[last].count += count
      messages[last].segments += 1
      return
    }
    messages.append(Message(offset: used, count: count, segmentBytes: count, segments: 1, address: address))
    isOpen = true
  }

  func append(_ datagram: [UInt8], to address: TransportAddress) {
    guard !datagram.isEmpty, datagram.count <= Self.datagramLimit else { return }
    datagram.withUnsafeBytes { space.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
    commit(datagram.count, to: address)
  }

  func bytes(of message: Message) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: memory + message.offset, count: message.count)
  }

  /// Each datagram by itself, as a system without segmentation sends them and a test looks at them.
  func forEachDatagram(_ body: (UnsafeRawBufferPointer, TransportAddress) -> Void) {
    for message in messages {
      let all = UnsafeRawBufferPointer(bytes(of: message))
      for start in stride(from: 0, to: message.count, by: message.segmentBytes) {
        let end = min(start + message.segmentBytes, message.count)
        body(UnsafeRawBufferPointer(rebasing: all[start..<end]), message.address)
      }
    }
  }

  func removeAll() {
    used = 0
    messages.removeAll(keepingCapacity: true)
    isOpen = false
  }
}
