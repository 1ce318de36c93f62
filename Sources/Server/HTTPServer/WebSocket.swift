/// The server's end of a WebSocket, as its handler sees it. When the handler returns, the socket is closed with code 1000.
package struct WebSocket: Sendable {
  package enum Message: Sendable, Equatable {
    case text(String)
    case binary([UInt8])
  }

  let session: WebSocketSession

  /// What the client sends, in order. It is read by one task.
  package var messages: Messages { Messages(session: session) }

  /// Queues a message and suspends while more than `outputHighWaterBytes` are unsent.
  ///
  /// - Throws: `HTTPError.clientGone` when the socket is closed or closing.
  package func send(_ message: Message) async throws { try await session.send(message) }

  /// Says good-bye; what the client still sends is not delivered.
  ///
  /// - Parameters:
  ///   - code: 1000...4999. RFC 6455 §7.4.
  ///   - reason: at most 123 bytes, else left out.
  package func close(code: UInt16 = 1000, reason: String = "") async { await session.beginClose(code: code, reason: reason) }

  /// Ends with nil when either side closed with a handshake and throws `HTTPError.clientGone` when the connection broke.
  package struct Messages: AsyncSequence, AsyncIteratorProtocol, Sendable {
    package typealias Element = Message
    package typealias Failure = any Error

    let session: WebSocketSession

    package func next() async throws -> Message? { try await session.next() }

    package func makeAsyncIterator() -> Messages { self }
  }
}
