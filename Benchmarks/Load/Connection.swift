import CLLHTTP
import CUV
import Glibc

/// One keep-alive HTTP/1.1 connection with at most one request under way; it connects when first used and again when the
/// server has closed it.
///
/// C callbacks find the object through the handle's `data`, which is cleared before the object lets go of the handle: a
/// handle that outlives it (libuv frees handles later) calls nobody.
final class Connection {
  /// Which of its phase's connections this is, from 0.
  let slot: Int
  /// Of the last answer; 0 when there was none (the connection broke).
  private(set) var status = 0
  private(set) var body: [UInt8] = []
  /// Bytes read over the connection's life.
  private(set) var receivedBytes = 0
  var isBusy: Bool { completion != nil }

  private let loop: Loop
  private let target: Target
  private var handle: UnsafeMutablePointer<uv_tcp_t>?
  private let parser: ResponseParser
  private var request: [UInt8] = []
  private var completion: ((Connection) -> Void)?
  private var mayResend = false

  init(slot: Int, loop: Loop, target: Target) {
    self.slot = slot
    self.loop = loop
    self.target = target
    parser = ResponseParser()
  }

  deinit { close() }

  /// Sends the request; `completion` runs on the loop with `status` and `body` set, never inside this call.
  func send(_ request: [UInt8], completion: @escaping (Connection) -> Void) {
    precondition(!isBusy, "one request at a time")
    self.request = request
    self.completion = completion
    mayResend = handle != nil
    parser.begin()
    if handle == nil { connect() } else { write() }
  }

  /// Forgets the request under way and closes.
  func close() {
    completion = nil
    closeHandle()
  }

  private func closeHandle() {
    guard let handle else { return }
    self.handle = nil
    handle.pointee.data = nil
    handle.withMemoryRebound(to: uv_handle_t.self, capacity: 1) { uv_close($0) { free($0) } }
  }

  private func connect() {
    let handle = UnsafeMutablePointer<uv_tcp_t>(OpaquePointer(malloc(MemoryLayout<uv_tcp_t>.size)!))
    uv_tcp_init(loop.handle, handle)
    uv_tcp_nodelay(handle, 1)
    handle.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    self.handle = handle
    parser.reset()
    let attempt = UnsafeMutablePointer<uv_connect_t>(OpaquePointer(malloc(MemoryLayout<uv_connect_t>.size)!))
    withUnsafePointer(to: target.address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        let result = uv_tcp_connect(attempt, handle, address) { attempt, status in
          let connection = attempt?.pointee.handle.pointee.data.map(Connection.from)
          free(attempt)
          if status < 0 { connection?.broke() } else { connection?.connected() }
        }
        precondition(result == 0, String(cString: uv_strerror(result)))
      }
    }
  }

  private static func from(_ data: UnsafeMutableRawPointer) -> Connection {
    Unmanaged<Connection>.fromOpaque(data).takeUnretainedValue()
  }

  private func connected() {
    withStream { stream in
      uv_read_start(
        stream,
        { handle, _, buffer in
          guard let data = handle?.pointee.data else { return }
          let shared = Connection.from(data).loop.readBuffer
          buffer?.pointee = uv_buf_init(shared.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32(shared.count))
        },
        { stream, count, buffer in
          guard let data = stream?.pointee.data else { return }
          Connection.from(data).read(count, buffer?.pointee.base)
        })
    }
    write()
  }

  /// Nearly always everything goes out at once; the rest waits in a copy that libuv hands back.
  private func write() {
    let sent = request.withUnsafeBufferPointer { bytes in
      var buffer = uv_buf_init(
        UnsafeMutableRawPointer(mutating: bytes.baseAddress!).assumingMemoryBound(to: CChar.self), UInt32(bytes.count))
      return Int(withStream { uv_try_write($0, &buffer, 1) })
    }
    if sent == request.count { return }
    guard sent >= 0 || sent == Int(UV_EAGAIN.rawValue) else { return }  // the reading side learns of it
    let rest = request[max(0, sent)...]
    let header = MemoryLayout<uv_write_t>.stride
    let memory = malloc(header + rest.count)!
    rest.withUnsafeBytes { _ = memcpy(memory + header, $0.baseAddress!, $0.count) }
    var buffer = uv_buf_init((memory + header).assumingMemoryBound(to: CChar.self), UInt32(rest.count))
    withStream { stream in
      _ = uv_write(memory.assumingMemoryBound(to: uv_write_t.self), stream, &buffer, 1) { request, _ in free(request) }
    }
  }

  @discardableResult
  private func withStream<Result>(_ use: (UnsafeMutablePointer<uv_stream_t>) -> Result) -> Result {
    handle!.withMemoryRebound(to: uv_stream_t.self, capacity: 1, use)
  }

  private func read(_ count: Int, _ base: UnsafeMutablePointer<CChar>?) {
    if count == 0 { return }
    guard count > 0, let base else {
      if isBusy, parser.finish() { answered() } else { broke() }
      return
    }
    receivedBytes += count
    mayResend = false
    guard isBusy, parser.parse(base, count) else { return broke() }
    if parser.isComplete { answered() }
  }

  private func answered() {
    status = parser.status
    swap(&body, &parser.body)
    if !parser.keepsAlive { closeHandle() }
    finish()
  }

  /// A server may close an idle connection at the moment a request is sent: such a request goes out once more.
  private func broke() {
    closeHandle()
    guard isBusy else { return }
    if mayResend {
      mayResend = false
      parser.begin()
      return connect()
    }
    status = 0
    body = []
    finish()
  }

  private func finish() {
    let completion = completion
    self.completion = nil
    completion?(self)
  }
}
