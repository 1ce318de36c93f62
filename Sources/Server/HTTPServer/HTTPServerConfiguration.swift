import Addresses
import Telemetry

/// Every limit and every hook of the server, with its default.
package struct HTTPServerConfiguration: Sendable {
  /// Where to listen. Port 0 means a free one; `HTTPServer.boundAddresses` tells which.
  package var bind: [SocketAddress]
  /// Connections the kernel keeps until they are accepted, per loop and address.
  package var backlog: Int32 = 4096

  /// Target, names and values of one request: 431, or 414 when the target alone is longer. At most 65,535.
  package var headerBytesLimit = 32 << 10
  /// Header fields of one request: 431.
  package var headerCountLimit = 100
  /// Open connections. One more is closed with 503.
  package var connectionCountLimit = 50_000
  /// Open connections of one address, trusted proxies excepted; 0 means no limit.
  package var connectionsPerAddressLimit = 0
  /// Bytes of pipelined requests kept while the server answers an earlier one. Beyond that it stops reading the socket, so it
  /// notices that the client went away only when it writes the answer.
  package var pipelinedBytesLimit = 16 << 10

  /// From the first byte of a request to the end of its header: 408. Not prolonged by dripping.
  package var headerTimeout = Duration.seconds(10)
  /// Silence while the handler waits for the body: 408.
  package var bodyIdleTimeout = Duration.seconds(30)
  /// No byte of a response taken by the client: closed.
  package var writeStallTimeout = Duration.seconds(30)
  /// From one response to the next request, and from connecting to the first: closed.
  package var keepAliveTimeout = Duration.seconds(75)
  /// After a response before the end of its request: how long the rest is read and thrown away, so that the client sees the answer.
  package var lingerTimeout = Duration.seconds(2)

  /// Unread body bytes at which the socket is no longer read.
  package var bodyHighWaterBytes = 256 << 10
  /// Unread body bytes at which it is read again.
  package var bodyLowWaterBytes = 64 << 10
  /// Unsent response bytes at which writers are suspended until fewer than a quarter are left.
  package var outputHighWaterBytes = 256 << 10

  /// A message of a WebSocket: closed with 1009.
  package var webSocketMessageBytesLimit = 64 << 10
  /// Silence after which a WebSocket is pinged; after twice as much it is closed.
  package var webSocketPingInterval = Duration.seconds(30)

  /// Whose `X-Forwarded-For` counts.
  package var trustedProxies: [IPNetwork] = []

  /// The answer to what is no request: `.empty`, `.bytes` or `.parts` only. Called on a loop; must be quick.
  package var refusal: @Sendable (Status) -> Response = { status in .text("\(status.reason)\n", status: status) }
  /// Told of every finished request, on its loop; must be quick.
  package var requestFinished: (@Sendable (FinishedRequest) -> Void)?
  /// Told what an operator should know and no request stands for.
  package var log: (@Sendable (String) -> Void)?

  package init(bind: [SocketAddress]) { self.bind = bind }
}

/// One line of an access log, without target, query, headers or bodies.
package struct FinishedRequest: Sendable {
  package let id: RequestID
  package let method: Method
  /// The route's pattern, "" when none matched.
  package let routePattern: String
  /// What was sent; 499 when the client had gone before the head of the response.
  package let status: Status
  /// From the end of the request's header to the last byte handed to the kernel.
  package let duration: Duration
  package let requestBodyBytes: Int64
  package let responseBodyBytes: Int64
  package let peer: SocketAddress
}
