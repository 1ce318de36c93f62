/// What a handler answers. Framing (Content-Length, Transfer-Encoding, Connection, Date) is the server's and is not set here.
package struct Response: Sendable {
  package enum Body: Sendable {
    case empty
    case bytes([UInt8])
    /// Written one after the other without being joined.
    case parts([[UInt8]])
    /// A range of an open file, read 64 KB at a time on the blocking pool.
    case file(OpenFile, range: Range<Int64>)
    /// A body made while it is sent: chunked when `length` is nil. An error thrown after the first byte closes the connection.
    case stream(length: Int64?, @Sendable (BodyWriter) async throws -> Void)
    /// Status 101 and then messages, until the closure returns. Only for a WebSocket handshake, else `HTTPError.notWebSocket`.
    case webSocket(subprotocol: String?, @Sendable (WebSocket) async -> Void)
  }

  package var status: Status
  package var headers: ResponseHeaders
  package var body: Body

  package init(status: Status = .ok, headers: ResponseHeaders = ResponseHeaders(), body: Body = .empty) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Plain text.
  package static func text(_ text: String, status: Status = .ok) -> Response {
    Response(status: status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: .bytes(Array(text.utf8)))
  }

  /// Ready JSON bytes.
  package static func json(_ bytes: [UInt8], status: Status = .ok) -> Response {
    Response(status: status, headers: ["Content-Type": "application/json"], body: .bytes(bytes))
  }
}
