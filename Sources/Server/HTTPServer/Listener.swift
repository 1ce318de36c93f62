import CUV
import EventLoop
import Glibc

/// One listening socket on one loop. Confined to the loop's thread.
final class Listener {
  private let state: LoopState
  private let handle = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)

  init(state: LoopState) { self.state = state }

  /// Takes the descriptor over. Returns libuv's code; on failure the descriptor is closed.
  func start(descriptor: Int32, backlog: Int32) -> Int32 {
    uv_tcp_init(state.loop.uv, handle)
    handle.pointee.data = Unmanaged.passRetained(self).toOpaque()
    var result = uv_tcp_open(handle, descriptor)
    if result != 0 { Glibc.close(descriptor) }
    if result == 0 {
      result = uv_listen(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_stream_t.self), backlog) { stream, status in
        guard status == 0 else { return }
        Unmanaged<Listener>.fromOpaque(stream!.pointee.data).takeUnretainedValue().accept()
      }
    }
    if result != 0 { close() }
    return result
  }

  func close() {
    uv_close(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)) { handle in
      let listener = Unmanaged<Listener>.fromOpaque(handle!.pointee.data).takeRetainedValue()
      listener.handle.deallocate()
    }
  }

  private func accept() {
    let tcp = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
    uv_tcp_init(state.loop.uv, tcp)
    let stream = UnsafeMutableRawPointer(tcp).assumingMemoryBound(to: uv_stream_t.self)
    let accepted = uv_accept(UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_stream_t.self), stream)
    guard accepted == 0, let peer = Self.peer(of: tcp) else {
      Self.discard(tcp)
      return
    }
    let isExempt = state.core.isTrustedProxy(peer)
    guard !state.isShuttingDown, state.core.census.enter(peer.ip, isExempt: isExempt) else {
      refuse(stream)
      Self.discard(tcp)
      return
    }
    HTTPConnection.open(tcp, peer: peer, isCensusExempt: isExempt, state: state)
  }

  /// Tells a client that is one too many; whether it hears is luck.
  private func refuse(_ stream: UnsafeMutablePointer<uv_stream_t>) {
    let text: StaticString = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
    let bytes = UnsafeMutableRawPointer(mutating: text.utf8Start).assumingMemoryBound(to: CChar.self)
    var buffer = uv_buf_init(bytes, UInt32(text.utf8CodeUnitCount))
    uv_try_write(stream, &buffer, 1)
  }

  private static func discard(_ tcp: UnsafeMutablePointer<uv_tcp_t>) {
    uv_close(UnsafeMutableRawPointer(tcp).assumingMemoryBound(to: uv_handle_t.self)) { handle in
      UnsafeMutableRawPointer(handle!).assumingMemoryBound(to: uv_tcp_t.self).deallocate()
    }
  }

  private static func peer(of tcp: UnsafeMutablePointer<uv_tcp_t>) -> SocketAddress? {
    var storage = sockaddr_storage()
    return withUnsafeMutableBytes(of: &storage) { bytes in
      let address = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
      var count = Int32(bytes.count)
      return uv_tcp_getpeername(tcp, address, &count) == 0 ? SocketAddress(system: address, count: Int(count)) : nil
    }
  }
}
