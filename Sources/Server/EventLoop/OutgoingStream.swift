import CUV
import Glibc

/// A TCP connection to another machine, all on one loop's thread.
///
/// It tells `opened` at most once, then bytes, and `ended` exactly once, also if it was closed from here.
package final class OutgoingStream {
  package enum Event {
    case opened
    /// Only good during the call.
    case bytes(UnsafeRawBufferPointer)
    case ended
  }

  /// A connection on which nothing is acknowledged for so long has ended.
  private static let unacknowledgedMilliseconds: Int32 = 4_000
  private static let keepAliveSeconds: UInt32 = 2
  private static let readBytes = 64 << 10

  /// What was written and is not with the system yet.
  package private(set) var unsentBytes = 0
  private let tcp = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
  private let buffer = UnsafeMutableRawPointer.allocate(byteCount: OutgoingStream.readBytes, alignment: 16)
  private var isClosed = false
  private let tell: (Event) -> Void
  private let drained: () -> Void

  private var stream: UnsafeMutablePointer<uv_stream_t> {
    UnsafeMutableRawPointer(tcp).assumingMemoryBound(to: uv_stream_t.self)
  }

  /// Begins to connect. Called on the loop's thread, as everything here.
  ///
  /// - Parameters:
  ///   - host: a name or an address.
  ///   - drained: everything that was written is with the system.
  package init(
    to host: String, port: UInt16, on loop: EventLoop, drained: @escaping () -> Void, tell: @escaping (Event) -> Void
  ) {
    self.tell = tell
    self.drained = drained
    uv_tcp_init(loop.uv, tcp)
    // The handle keeps it until it is closed.
    tcp.pointee.data = Unmanaged.passRetained(self).toOpaque()
    resolve(host, port, on: loop)
  }

  deinit {
    tcp.deallocate()
    buffer.deallocate()
  }

  package func write(_ bytes: [UInt8]) {
    guard !isClosed, !bytes.isEmpty else { return }
    let header = (MemoryLayout<uv_write_t>.size + 15) & ~15
    let block = UnsafeMutableRawPointer.allocate(byteCount: header + bytes.count, alignment: 16)
    bytes.withUnsafeBytes { (block + header).copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
    let request = block.bindMemory(to: uv_write_t.self, capacity: 1)
    // The handle of the request names the stream, so its length is all that it needs.
    request.pointee.data = UnsafeMutableRawPointer(bitPattern: bytes.count)
    var part = uv_buf_init((block + header).assumingMemoryBound(to: CChar.self), UInt32(bytes.count))
    let result = uv_write(request, stream, &part, 1) { request, status in
      guard let request else { return }
      let this = OutgoingStream.of(request.pointee.handle.pointee.data)
      let count = Int(bitPattern: request.pointee.data)
      UnsafeMutableRawPointer(request).deallocate()
      this.written(count, status)
    }
    guard result == 0 else {
      block.deallocate()
      return close()
    }
    unsentBytes += bytes.count
  }

  package func close() {
    guard !isClosed else { return }
    isClosed = true
    uv_close(UnsafeMutableRawPointer(tcp).assumingMemoryBound(to: uv_handle_t.self)) { handle in
      guard let data = handle?.pointee.data else { return }
      let this = Unmanaged<OutgoingStream>.fromOpaque(data)
      this.takeUnretainedValue().tell(.ended)
      this.release()
    }
  }

  /// Of a callback's data.
  private static func of(_ data: UnsafeMutableRawPointer) -> OutgoingStream {
    Unmanaged<OutgoingStream>.fromOpaque(data).takeUnretainedValue()
  }

  // MARK: Beginning

  private func resolve(_ host: String, _ port: UInt16, on loop: EventLoop) {
    let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
    request.pointee.data = Unmanaged.passRetained(self).toOpaque()
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    let result = uv_getaddrinfo(
      loop.uv, request,
      { request, status, list in
        guard let request else { return }
        let this = Unmanaged<OutgoingStream>.fromOpaque(request.pointee.data).takeRetainedValue()
        request.deallocate()
        defer { uv_freeaddrinfo(list) }
        guard !this.isClosed else { return }
        guard status == 0, let address = list?.pointee.ai_addr else { return this.close() }
        this.connect(to: address)
      }, host, String(port), &hints)
    guard result != 0 else { return }
    Unmanaged.passUnretained(self).release()
    request.deallocate()
    close()
  }

  private func connect(to address: UnsafeMutablePointer<sockaddr>) {
    let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
    let result = uv_tcp_connect(request, tcp, address) { request, status in
      guard let request else { return }
      let this = OutgoingStream.of(request.pointee.handle.pointee.data)
      request.deallocate()
      this.connected(status)
    }
    guard result == 0 else {
      request.deallocate()
      return close()
    }
  }

  private func connected(_ status: Int32) {
    guard !isClosed else { return }
    guard status == 0 else { return close() }
    uv_tcp_nodelay(tcp, 1)
    uv_tcp_keepalive(tcp, 1, Self.keepAliveSeconds)
    var descriptor: uv_os_fd_t = -1
    if uv_fileno(UnsafeMutableRawPointer(tcp).assumingMemoryBound(to: uv_handle_t.self), &descriptor) == 0 {
      var milliseconds = Self.unacknowledgedMilliseconds
      setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, socklen_t(MemoryLayout<Int32>.size))
    }
    uv_read_start(
      stream,
      { handle, _, buffer in
        guard let handle, let buffer else { return }
        buffer.pointee.base = OutgoingStream.of(handle.pointee.data).buffer.assumingMemoryBound(to: CChar.self)
        buffer.pointee.len = OutgoingStream.readBytes
      },
      { stream, count, buffer in
        guard let stream, let buffer else { return }
        let this = OutgoingStream.of(stream.pointee.data)
        guard count >= 0 else { return this.close() }
        if count > 0, !this.isClosed { this.tell(.bytes(UnsafeRawBufferPointer(start: buffer.pointee.base, count: count))) }
      })
    tell(.opened)
  }

  private func written(_ count: Int, _ status: Int32) {
    unsentBytes -= count
    guard !isClosed else { return }
    guard status == 0 else { return close() }
    if unsentBytes == 0 { drained() }
  }
}
