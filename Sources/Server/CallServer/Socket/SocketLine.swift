import HTTPServer

/// What is on its way to a client, in order.
final class SocketLine: Sendable {
  private let messages: AsyncStream<[UInt8]>
  private let input: AsyncStream<[UInt8]>.Continuation

  init() { (messages, input) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(CallLimits.socketQueue)) }

  /// Queues a text. Where the client takes too little, nothing more is said to it: it may resume on another socket.
  func send(_ message: [UInt8]) {
    if case .dropped = input.yield(message) { input.finish() }
  }

  /// Ends the socket once what was queued is out.
  func close() { input.finish() }

  /// Writes until the line is closed or the client gone.
  func write(to socket: WebSocket) async {
    for await message in messages {
      do { try await socket.send(.text(String(decoding: message, as: UTF8.self))) } catch { break }
    }
    await socket.close()
  }
}
