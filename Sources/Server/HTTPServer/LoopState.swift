import CUV
import EventLoop
import Glibc

/// What the connections of one loop share: buffers that are in use only while a callback runs, and the list of connections.
// @unchecked: confined to the loop's thread; connections are actors on that loop, the server enters with `submit`.
final class LoopState: @unchecked Sendable {
  static let readBufferBytes = 64 << 10

  let loop: EventLoop
  let core: ServerCore
  let readBuffer = UnsafeMutableRawPointer.allocate(byteCount: readBufferBytes, alignment: 16)
  /// Where responses are put together; taken while in use and given back empty.
  var output: [UInt8] = []
  var events: [ConnectionLogic.Event] = []
  private(set) var isShuttingDown = false
  /// Whether each response is the last of its connection.
  private(set) var isDraining = false
  private var connections: ContiguousArray<HTTPConnection> = []
  private var listeners: [Listener] = []
  private var date = ""
  private var dateSecond: Int64 = 0

  init(loop: EventLoop, core: ServerCore) {
    self.loop = loop
    self.core = core
    output.reserveCapacity(32 << 10)
  }

  deinit { readBuffer.deallocate() }

  /// Nanoseconds of the monotonic clock, as of the beginning of the loop's turn.
  var now: UInt64 { uv_now(loop.uv) * 1_000_000 }

  /// The Date header's text, made once a second.
  var dateText: String {
    let second = Int64(time(nil))
    if second != dateSecond {
      dateSecond = second
      date = HTTPDate.text(second)
    }
    return date
  }

  // MARK: Connections

  func add(_ connection: HTTPConnection) -> Int {
    connections.append(connection)
    return connections.count - 1
  }

  /// Takes a connection out; the last one moves into its slot.
  func remove(slot: Int) {
    let last = connections.removeLast()
    guard slot < connections.count else { return }
    connections[slot] = last
    last.assumeIsolated { $0.slot = slot }
  }

  // MARK: Listening

  func listen(on descriptor: Int32) -> Int32 {
    let listener = Listener(state: self)
    let result = listener.start(descriptor: descriptor, backlog: core.configuration.backlog)
    if result == 0 { listeners.append(listener) }
    return result
  }

  func beginDraining() {
    isDraining = true
    for connection in connections { connection.assumeIsolated { $0.beginDraining() } }
  }

  /// Accepts no more; idle connections close, the others with their response. Long polls are cancelled.
  func beginShutdown() {
    guard !isShuttingDown else { return }
    (isShuttingDown, isDraining) = (true, true)
    stopListening()
    for connection in connections { connection.assumeIsolated { $0.beginShutdown() } }
  }

  func stopListening() {
    for listener in listeners { listener.close() }
    listeners = []
  }

  /// Cancels what still runs.
  func cancelAll() {
    for connection in connections { connection.assumeIsolated { $0.cancelHandler() } }
  }

  func closeAll() {
    for connection in connections { connection.assumeIsolated { $0.close() } }
  }
}
