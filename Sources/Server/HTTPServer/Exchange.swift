import EventLoop
import Telemetry

/// One request and its response, as the connection keeps them between callbacks.
struct Exchange {
  enum Progress: Equatable {
    /// The handler runs.
    case waiting
    /// The head is out, the body on its way. `remaining` is nil for chunks or until close.
    case streaming(remaining: Int64?, isChunked: Bool)
    case webSocket
    /// Everything has been queued.
    case written
  }

  /// Tells an exchange from its successors on the same connection.
  let number: UInt64
  let id: RequestID
  let method: Method
  let routePattern: String
  let peer: SocketAddress
  /// Nanoseconds of the monotonic clock.
  let started: UInt64
  let endsOnShutdown: Bool
  let isHTTP10: Bool
  var keepsAlive: Bool
  let announcedLength: Int64?
  var pipe: BodyPipe?
  /// The client waits for `100 Continue`, and has not got it.
  var owesContinue: Bool
  var isBodyComplete: Bool
  var progress = Progress.waiting
  var status: Status?
  var requestBodyBytes: Int64
  var responseBodyBytes: Int64 = 0
  var task: Task<Void, Never>?
  /// The key of a WebSocket handshake.
  var webSocketKey: [UInt8]?
}
