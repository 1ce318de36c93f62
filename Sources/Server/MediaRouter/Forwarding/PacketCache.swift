/// A received packet as the cache keeps it, with what was read from it once.
struct MediaPacket {
  /// Of the layer, unwrapped.
  var sequence: UInt64
  var timestamp: UInt32
  var marker: Bool
  /// Bytes of the payload alone; header and extensions are written anew for each subscriber.
  var payloadCount: Int
  /// Bytes of the dependency descriptor, 0 without a descriptor.
  var descriptorCount = 0
  var payload = PayloadDescription()
  /// RFC 6464 §3: the voice flag and the level.
  var audioLevel: UInt8?
  var orientation: UInt8?
  var arrival: MediaTime
  fileprivate var position: UInt64 = 0

  init(sequence: UInt64, timestamp: UInt32, marker: Bool, payloadCount: Int, arrival: MediaTime) {
    self.sequence = sequence
    self.timestamp = timestamp
    self.marker = marker
    self.payloadCount = payloadCount
    self.arrival = arrival
  }
}

/// The last payloads of a layer, for those that subscribe and for those that lost one.
///
/// A ring of bytes and a ring of entries by sequence number. An entry holds as long as the bytes after it did not run over it. The
/// ring doubles, up to its limit, while it holds less than `wantedSpan`. The memory belongs to the cache; pointers into it
/// hold until the next `insert`.
final class PacketCache {
  static let entriesLimit = 1024
  static let wantedSpan = MediaTime.Interval.milliseconds(600)

  private let bytesLimit: Int
  private var capacity: Int
  private var memory: UnsafeMutableRawPointer
  private var entries: [MediaPacket?]
  /// Bytes written since the beginning, counting what was skipped at the ring's end.
  private var head: UInt64 = 0
  /// When the ring began anew.
  private var lapBegan: MediaTime?

  /// - Parameters: powers of two.
  init(bytes: Int = 1 << 15, bytesLimit: Int = 1 << 20, entries: Int = 256) {
    precondition(bytes.isPowerOfTwo && bytesLimit.isPowerOfTwo && entries.isPowerOfTwo)
    capacity = bytes
    self.bytesLimit = bytesLimit
    memory = .allocate(byteCount: bytes, alignment: 16)
    self.entries = Array(repeating: nil, count: entries)
  }

  deinit { memory.deallocate() }

  var bytesCapacity: Int { capacity }

  /// Keeps a packet; false if one with its number is there already, or it is larger than the ring, or too late for it.
  func insert(_ packet: MediaPacket, descriptor: UnsafeRawBufferPointer? = nil, payload: UnsafeRawBufferPointer) -> Bool {
    precondition(payload.count == packet.payloadCount && (descriptor?.count ?? 0) == packet.descriptorCount)
    let count = packet.descriptorCount + packet.payloadCount
    guard count <= capacity, find(packet.sequence) == nil else { return false }
    // A late packet must not take the place of a newer one, nor come twice.
    let slot = Int(packet.sequence % UInt64(entries.count))
    if let there = entries[slot], there.sequence >= packet.sequence { return false }
    if Int(head % UInt64(capacity)) + count > capacity { beginLap(packet.arrival) }
    var kept = packet
    kept.position = head
    let place = memory + Int(head % UInt64(capacity))
    if let source = descriptor?.baseAddress { place.copyMemory(from: source, byteCount: packet.descriptorCount) }
    if let source = payload.baseAddress {
      (place + packet.descriptorCount).copyMemory(from: source, byteCount: packet.payloadCount)
    }
    head += UInt64(count)
    entries[Int(packet.sequence % UInt64(entries.count))] = kept
    return true
  }

  func find(_ sequence: UInt64) -> MediaPacket? {
    guard let entry = entries[Int(sequence % UInt64(entries.count))], entry.sequence == sequence,
      head - entry.position <= UInt64(capacity)
    else { return nil }
    return entry
  }

  /// The payload of an entry that `find` gave since the last `insert`.
  func payload(of entry: MediaPacket) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: all(of: entry)[entry.descriptorCount...])
  }

  /// Its dependency descriptor.
  func descriptor(of entry: MediaPacket) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: all(of: entry)[..<entry.descriptorCount])
  }

  private func all(of entry: MediaPacket) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: memory + Int(entry.position % UInt64(capacity)), count: entry.descriptorCount + entry.payloadCount)
  }

  /// Goes on at the ring's beginning; makes it larger if the last lap was short.
  private func beginLap(_ now: MediaTime) {
    head = (head / UInt64(capacity) + 1) * UInt64(capacity)
    if let lapBegan, now - lapBegan < Self.wantedSpan { grow() }
    lapBegan = now
  }

  private func grow() {
    if entries.count < Self.entriesLimit { growEntries() }
    guard capacity < bytesLimit else { return }
    let larger = UnsafeMutableRawPointer.allocate(byteCount: 2 * capacity, alignment: 16)
    for case let entry? in entries where head - entry.position <= UInt64(capacity) {
      let bytes = all(of: entry)
      guard let source = bytes.baseAddress else { continue }
      (larger + Int(entry.position % UInt64(2 * capacity))).copyMemory(from: source, byteCount: bytes.count)
    }
    memory.deallocate()
    memory = larger
    capacity *= 2
  }

  private func growEntries() {
    var larger = [MediaPacket?](repeating: nil, count: 2 * entries.count)
    for case let entry? in entries { larger[Int(entry.sequence % UInt64(larger.count))] = entry }
    entries = larger
  }
}

extension Int {
  fileprivate var isPowerOfTwo: Bool { self > 0 && self & (self - 1) == 0 }
}
