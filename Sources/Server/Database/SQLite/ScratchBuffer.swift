/// Memory of one connection for the bytes of parameters while their statement runs. Used as a stack: statements nest.
struct ScratchBuffer: ~Copyable {
  /// Larger than an event (64 KiB is the most the specification allows) and its few identifiers.
  static let capacity = 128 << 10

  private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
  private(set) var used = 0

  deinit { memory.deallocate() }

  /// A copy of `bytes` that stays until `release(to:)` with an earlier mark; nil when there is no room (or nothing to copy).
  mutating func keep(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
    guard bytes.count > 0, bytes.count <= Self.capacity - used, let start = memory.baseAddress else { return nil }
    let destination = start + used
    destination.copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
    used += bytes.count
    return UnsafeRawPointer(destination)
  }

  mutating func release(to mark: Int) { used = mark }
}
