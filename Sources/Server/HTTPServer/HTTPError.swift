/// What this module throws at handlers and at the error response closure.
package enum HTTPError: Error, Equatable, Sendable {
  /// The body is longer than the route or the reader allows, in bytes: 413.
  case bodyTooLarge(limit: Int)
  /// The client stopped sending the body for longer than `bodyIdleTimeout`: 408.
  case bodyTimeout
  /// The client went away, or the server is going down, before the body or the response was complete. Nobody reads the answer.
  case clientGone
  /// The framing of the body is broken (a bad chunk): 400.
  case malformedBody
  /// A path segment or query does not decode to UTF-8: 400.
  case malformedPath
  /// The handler wrote more or fewer bytes than the length it announced; the connection is closed.
  case wrongBodyLength
  /// `.webSocket` answered to a request that is no WebSocket handshake: 426.
  case notWebSocket
  /// The body was asked for twice.
  case bodyAlreadyRead

  /// The status that tells the client.
  package var status: Status {
    switch self {
    case .bodyTooLarge: .contentTooLarge
    case .bodyTimeout: .requestTimeout
    case .clientGone, .malformedBody, .malformedPath: .badRequest
    case .notWebSocket: .upgradeRequired
    case .wrongBodyLength, .bodyAlreadyRead: .internalServerError
    }
  }
}

/// Why the server refused to listen.
package struct BindError: Error, CustomStringConvertible {
  package let address: String
  package let reason: String

  package var description: String { "cannot listen on \(address): \(reason)" }
}
