import CCurl
import CallCore
import Synchronization
import WebSockets

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// A WebSocket of texts on a thread of its own: libcurl makes the connection with TLS and proxies, wslay the frames.
///
/// It tells `opened` at most once, then texts, and `closed` exactly once unless it was closed from here.
final class CallSocket: Sendable {
  enum Event: Sendable {
    case opened
    case text([UInt8])
    case closed
  }

  /// The limit of data that waits to be sent. A peer that does not read loses the socket.
  static let outputBytesLimit = 4 << 20
  /// For the connection with TLS, and for what is left to say at the end.
  static let connectSeconds = 10
  static let farewellMilliseconds: Int64 = 1_000

  let id: SocketID
  private let mailbox: Mailbox

  init(id: SocketID, _ address: SocketAddress, tell: @escaping @Sendable (Event) -> Void) {
    self.id = id
    let mailbox = Mailbox()
    self.mailbox = mailbox
    DetachedThread.start {
      var line = SocketLine(address, mailbox, tell)
      line.run()
      if !mailbox.isClosed { tell(.closed) }
      mailbox.finish()
    }
  }

  deinit { mailbox.close() }

  func send(_ text: [UInt8]) { mailbox.put(text) }

  /// What was sent before still goes out. Nothing is told after it.
  func close() { mailbox.close() }

  /// Waits until nothing is left to say, or the line is gone.
  func finished() async { await mailbox.finished() }
}

/// Texts on their way to the socket's thread, and a pipe that wakes it.
private final class Mailbox: Sendable {
  private struct Box: Sendable {
    var texts: [[UInt8]] = []
    var isClosed = false
    var isFinished = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }
  private let box = Mutex(Box())
  /// To read from, to write to; -1 where the system has none left.
  let ends: (read: Int32, write: Int32)

  init() {
    var ends: [Int32] = [-1, -1]
    if pipe(&ends) == 0 {
      for end in ends {
        _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        _ = fcntl(end, F_SETFL, O_NONBLOCK)
      }
    }
    self.ends = (ends[0], ends[1])
  }

  deinit {
    for end in [ends.read, ends.write] where end >= 0 { closeDescriptor(end) }
  }

  var isClosed: Bool { box.withLock { $0.isClosed } }

  func put(_ text: [UInt8]) {
    box.withLock { $0.texts.append(text) }
    wake()
  }

  func close() {
    box.withLock { $0.isClosed = true }
    wake()
  }

  /// The thread is through.
  func finish() {
    let waiting = box.withLock { box in
      box.isFinished = true
      defer { box.waiting = [] }
      return box.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func finished() async {
    await withCheckedContinuation { continuation in
      let isFinished = box.withLock { box in
        if !box.isFinished { box.waiting.append(continuation) }
        return box.isFinished
      }
      if isFinished { continuation.resume() }
    }
  }

  func take() -> (texts: [[UInt8]], isClosed: Bool) {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(ends.read, &bytes, bytes.count) > 0 {}
    return box.withLock { box in
      defer { box.texts = [] }
      return (box.texts, box.isClosed)
    }
  }

  private func wake() {
    var byte: UInt8 = 0
    _ = write(ends.write, &byte, 1)
  }
}

private func closeDescriptor(_ descriptor: Int32) {
  #if canImport(Glibc)
    Glibc.close(descriptor)
  #else
    Musl.close(descriptor)
  #endif
}

/// The life of one socket, on its thread.
private struct SocketLine {
  private let address: SocketAddress
  private let mailbox: Mailbox
  private let tell: @Sendable (CallSocket.Event) -> Void
  private var output: [UInt8] = []
  private let framing = WebSocketFraming(.client, messageBytesLimit: CallLimits.greetingBytes, takesBinary: false)

  init(_ address: SocketAddress, _ mailbox: Mailbox, _ tell: @escaping @Sendable (CallSocket.Event) -> Void) {
    self.address = address
    self.mailbox = mailbox
    self.tell = tell
  }

  mutating func run() {
    curl_global_init(Int(CURL_GLOBAL_DEFAULT))
    guard mailbox.ends.read >= 0, let easy = curl_easy_init() else { return }
    defer { curl_easy_cleanup(easy) }
    guard let descriptor = connect(easy), var rest = shakeHands(easy, descriptor) else { return }
    if mailbox.isClosed { return }
    tell(.opened)
    var farewell: Int64?
    var saysGoodbye = false
    repeat {
      for message in rest.withUnsafeBytes({ framing.receive($0) }) where farewell == nil { tell(.text(message.bytes)) }
      rest = []
      let mail = mailbox.take()
      if farewell == nil {
        for text in mail.texts { _ = framing.queue(text: text) }
        if mail.isClosed { farewell = MonotonicTime.milliseconds + CallSocket.farewellMilliseconds }
      } else if !saysGoodbye {
        // After `leave` the server ends the socket by itself.
        saysGoodbye = true
        framing.queueClose(code: 1_000)
      }
      output += framing.takeOutput()
      guard output.count <= CallSocket.outputBytesLimit, flush(easy) else { return }
      // The other side's close frame has come, and what was to be said is out. To close before that could take our last words back.
      if output.isEmpty, framing.hasReadEnded { return }
      if let farewell, MonotonicTime.milliseconds >= farewell { return }
      wait(descriptor, milliseconds: farewell == nil ? -1 : 250)
      guard let bytes = receive(easy) else { return }
      rest = bytes
    } while true
  }

  // MARK: Beginning

  private func connect(_ easy: UnsafeMutableRawPointer) -> Int32? {
    martlet_curl_set_string(easy, CURLOPT_URL, address.connectionURL)
    martlet_curl_set_long(easy, CURLOPT_CONNECT_ONLY, 1)
    martlet_curl_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    martlet_curl_set_long(easy, CURLOPT_HTTPPROXYTUNNEL, 1)
    martlet_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT, CallSocket.connectSeconds)
    martlet_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)
    // Nobody waits for a socket that is not wanted any more.
    martlet_curl_set_pointer(easy, CURLOPT_XFERINFODATA, Unmanaged.passUnretained(mailbox).toOpaque())
    martlet_curl_set_progress(easy) { mailbox, _, _, _, _ in
      guard let mailbox else { return 0 }
      return Unmanaged<Mailbox>.fromOpaque(mailbox).takeUnretainedValue().isClosed ? 1 : 0
    }
    guard curl_easy_perform(easy) == CURLE_OK else { return nil }
    let descriptor = martlet_curl_active_socket(easy)
    return descriptor >= 0 ? descriptor : nil
  }

  /// What of the socket came with the answer.
  private mutating func shakeHands(_ easy: UnsafeMutableRawPointer, _ descriptor: Int32) -> [UInt8]? {
    var handshake = ClientHandshake(target: address.target, authority: address.authority)
    output = handshake.request
    let deadline = MonotonicTime.milliseconds + Int64(CallSocket.connectSeconds) * 1_000
    while !mailbox.isClosed, MonotonicTime.milliseconds < deadline {
      guard flush(easy), let bytes = receive(easy) else { return nil }
      switch handshake.receive(bytes) {
      case .open(let rest): return rest
      case .refused: return nil
      case .needsMore: wait(descriptor, milliseconds: 100)
      }
    }
    return nil
  }

  // MARK: Bytes

  /// Sends what the system takes. False where the connection is gone.
  private mutating func flush(_ easy: UnsafeMutableRawPointer) -> Bool {
    while !output.isEmpty {
      var count = 0
      let result = output.withUnsafeBytes { curl_easy_send(easy, $0.baseAddress, $0.count, &count) }
      if result == CURLE_AGAIN { return true }
      guard result == CURLE_OK else { return false }
      output.removeFirst(count)
    }
    return true
  }

  /// Everything that has come, up to a bound; nil where the connection is gone.
  private func receive(_ easy: UnsafeMutableRawPointer) -> [UInt8]? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while bytes.count < 1 << 20 {
      var count = 0
      let result = curl_easy_recv(easy, &buffer, buffer.count, &count)
      if result == CURLE_AGAIN { return bytes }
      guard result == CURLE_OK, count > 0 else { return bytes.isEmpty ? nil : bytes }
      bytes += buffer[..<count]
    }
    return bytes
  }

  private func wait(_ descriptor: Int32, milliseconds: Int32) {
    var events = [
      pollfd(fd: descriptor, events: Int16(output.isEmpty ? POLLIN : POLLIN | POLLOUT), revents: 0),
      pollfd(fd: mailbox.ends.read, events: Int16(POLLIN), revents: 0)
    ]
    poll(&events, 2, milliseconds)
  }
}
