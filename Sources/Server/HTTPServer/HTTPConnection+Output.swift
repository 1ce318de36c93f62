import CUV
import EventLoop

/// A block of bytes a `uv_write` has until it is done, in one piece with libuv's request.
private enum WriteBlock {
  static let dataBytes = 64 << 10
  static let headerBytes = (MemoryLayout<uv_write_t>.size + 15) & ~15
}

extension HTTPConnection {
  /// Queues bytes and sends what the socket takes.
  func write(_ bytes: [UInt8]) {
    output.append(bytes)
    pump()
  }

  /// Sends bytes of the loop's shared buffer, then whole arrays. Only what the socket does not take is copied.
  func writeShared(_ bytes: [UInt8], followedBy parts: [[UInt8]]) {
    var taken = 0
    if output.isEmpty && inFlightBytes == 0 && parts.isEmpty {
      let result = bytes.withUnsafeBytes { raw in
        let base = UnsafeMutableRawPointer(mutating: raw.baseAddress)?.assumingMemoryBound(to: CChar.self)
        var buffer = uv_buf_init(base, UInt32(raw.count))
        return uv_try_write(stream, &buffer, 1)
      }
      if result > 0 { taken = Int(result) }
    }
    guard taken < bytes.count || !parts.isEmpty else { return }
    lastProgress = state.now
    output.append(Array(bytes[taken...]))
    for part in parts { output.append(part) }
    pump()
  }

  /// Sends what the socket takes, and leaves one block with libuv to learn when it takes more.
  func pump() {
    if case .closed = mode { return }
    while !output.isEmpty && inFlightBytes == 0 {
      let result = output.tryWrite(to: stream)
      if result > 0 {
        lastProgress = state.now
        output.drop(Int(result))
      } else if result == UV_EAGAIN.rawValue {
        startWrite()
      } else {
        // Closing here would pull the connection from under the caller.
        output.removeAll()
        loop.submit { self.assumeIsolated { $0.close() } }
        return
      }
    }
    if output.bytes + inFlightBytes <= core.configuration.outputHighWaterBytes / 4 { resumeWriters(throwing: nil) }
  }

  private func startWrite() {
    let count = min(output.bytes, WriteBlock.dataBytes)
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: WriteBlock.headerBytes + count, alignment: 16)
    let data = UnsafeMutableRawBufferPointer(rebasing: block[WriteBlock.headerBytes...])
    inFlightBytes = output.move(to: data)
    let request = block.baseAddress!.bindMemory(to: uv_write_t.self, capacity: 1)
    request.pointee.data = Unmanaged.passRetained(self).toOpaque()
    var buffer = uv_buf_init(data.baseAddress!.assumingMemoryBound(to: CChar.self), UInt32(inFlightBytes))
    let result = uv_write(request, stream, &buffer, 1) { request, status in
      let owner = Unmanaged<HTTPConnection>.fromOpaque(request!.pointee.data)
      owner._withUnsafeGuaranteedRef { connection in connection.assumeIsolated { $0.written(status) } }
      owner.release()
      UnsafeMutableRawPointer(request!).deallocate()
    }
    if result != 0 {
      Unmanaged.passUnretained(self).release()
      block.deallocate()
      inFlightBytes = 0
      output.removeAll()
      loop.submit { self.assumeIsolated { $0.close() } }
    }
  }

  private func written(_ status: Int32) {
    inFlightBytes = 0
    if case .closed = mode { return }
    guard status == 0 else {
      close()
      return
    }
    lastProgress = state.now
    pump()
    advance()
    afterChange()
  }

  // MARK: Back-pressure

  var unsentBytes: Int { output.bytes + inFlightBytes }

  /// Returns when the unsent bytes are below the high-water mark, or, once above it, at a quarter of it.
  func drained() async throws {
    if case .closed = mode { throw HTTPError.clientGone }
    guard output.bytes + inFlightBytes > core.configuration.outputHighWaterBytes else { return }
    try await withCheckedThrowingContinuation { writers.append($0) }
  }

  func resumeWriters(throwing error: (any Error)?) {
    guard !writers.isEmpty else { return }
    let waiting = writers
    writers = []
    for writer in waiting {
      if let error { writer.resume(throwing: error) } else { writer.resume() }
    }
  }
}
