import CUV

/// Bytes on their way to a socket that did not take them at once. Arrays are kept as they are, not joined.
struct OutputQueue {
  private var chunks: ContiguousArray<[UInt8]> = []
  private var first = 0
  /// Bytes of the first chunk already taken.
  private var offset = 0
  private(set) var bytes = 0

  /// Chunks one system call may carry.
  private static let vectorLimit = 16

  var isEmpty: Bool { bytes == 0 }

  mutating func append(_ chunk: [UInt8]) {
    guard !chunk.isEmpty else { return }
    chunks.append(chunk)
    bytes += chunk.count
  }

  mutating func removeAll() { self = OutputQueue() }

  /// Hands as much as the kernel takes in one call to it. Returns libuv's result: bytes taken or a negative code.
  func tryWrite(to stream: UnsafeMutablePointer<uv_stream_t>) -> Int32 {
    withUnsafeTemporaryAllocation(of: uv_buf_t.self, capacity: Self.vectorLimit) { buffers in
      gather(first, into: buffers, count: 0, stream)
    }
  }

  /// Pins one array after the other, then writes: pointers into arrays are good only inside their closures.
  private func gather(
    _ index: Int, into buffers: UnsafeMutableBufferPointer<uv_buf_t>, count: Int, _ stream: UnsafeMutablePointer<uv_stream_t>
  ) -> Int32 {
    guard index < chunks.count, count < buffers.count else {
      return uv_try_write(stream, buffers.baseAddress, UInt32(count))
    }
    return chunks[index].withUnsafeBytes { bytes in
      let rest = UnsafeRawBufferPointer(rebasing: bytes[(index == first ? offset : 0)...])
      let base = UnsafeMutableRawPointer(mutating: rest.baseAddress)?.assumingMemoryBound(to: CChar.self)
      buffers.initializeElement(at: count, to: uv_buf_init(base, UInt32(min(rest.count, 1 << 30))))
      return gather(index + 1, into: buffers, count: count + 1, stream)
    }
  }

  /// Copies up to `buffer.count` bytes out of the queue and takes them off. Returns how many.
  mutating func move(to buffer: UnsafeMutableRawBufferPointer) -> Int {
    var copied = 0
    while copied < buffer.count && first < chunks.count {
      let part = min(buffer.count - copied, chunks[first].count - offset)
      chunks[first].withUnsafeBytes { bytes in
        UnsafeMutableRawBufferPointer(rebasing: buffer[copied..<copied + part])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + part]))
      }
      copied += part
      drop(part)
    }
    return copied
  }

  /// Takes bytes off the front.
  mutating func drop(_ count: Int) {
    var left = count
    bytes -= count
    while left > 0 {
      let part = min(left, chunks[first].count - offset)
      left -= part
      offset += part
      if offset == chunks[first].count {
        chunks[first] = []
        first += 1
        offset = 0
      }
    }
    if first == chunks.count {
      chunks.removeAll()
      first = 0
    } else if first > 64 {
      chunks.removeFirst(first)
      first = 0
    }
  }
}
