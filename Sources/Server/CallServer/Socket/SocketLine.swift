import HTTPServer
import Synchronization

/// What is on its way to a client, in order.
final class SocketLine: Sendable {
  private struct State {
    var bytes = 0
    /// The highest number of a message that the socket has taken.
    var written: Int64 = 0
  }

  private let messages: AsyncStream<[UInt8]>
  private let input: AsyncStream<[UInt8]>.Continuation
  private let state = Mutex(State())

  init() { (messages, input) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(CallLimits.socketQueue)) }

  /// What a client may have read at most: it cannot acknowledge more.
  var written: Int64 { state.withLock { $0.written } }
  /// What the socket has not taken yet.
  var waitingBytes: Int { state.withLock { $0.bytes } }

  /// Queues a text. Where the client takes too little, nothing more is said to it: it may resume on another socket. One message always fits,
  /// as a greeting may be long.
  func send(_ message: [UInt8]) {
    let fits = state.withLock { state in
      guard state.bytes == 0 || state.bytes + message.count <= CallLimits.socketQueueBytes else { return false }
      state.bytes += message.count
      return true
    }
    guard fits, case .enqueued = input.yield(message) else { return input.finish() }
  }

  /// Ends the socket once what was queued is out.
  func close() { input.finish() }

  /// Writes until the line is closed or the client disconnects. Runs in its own task: the task that serves the socket is cancelled when the
  /// server stops, and the message that says so is queued by then.
  func write(to socket: WebSocket) -> Task<Void, Never> {
    Task {
      await write { message in try await socket.send(.text(String(decoding: message, as: UTF8.self))) }
      await socket.close()
    }
  }

  func write(_ body: ([UInt8]) async throws -> Void) async {
    for await message in messages {
      do { try await body(message) } catch { break }
      state.withLock { state in
        state.bytes -= message.count
        if let number = Outbox.number(of: message) { state.written = number }
      }
    }
  }
}
