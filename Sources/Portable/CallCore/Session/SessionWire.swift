import JSON

/// The socket that is there, or the next one.
struct SocketState: Sendable {
  enum Phase: Sendable {
    case none
    /// For the time of the next try.
    case waiting
    case opening
    /// Open, but not greeted yet.
    case greeting
    case open
  }

  var id: SocketID = 0
  var phase = Phase.none
  /// For the phase.
  var deadline: Int64?
  var failures: Int64 = 0
  /// Since when there is no connection.
  var lostAt: Int64?
}

/// What both sides have said and heard in one connection's life, on however many sockets.
struct SessionWire: Sendable {
  /// Proves that the connection is ours. Never in a log.
  var key: ByteString = ""
  var lastRequest: Int64 = 0
  /// Without an answer, in the order of their numbers.
  var requests: [SessionRequest] = []
  var lastHeard: Int64 = 0
  var lastAcknowledged: Int64 = 0
  var ackAt: Int64?
  var unacknowledgedBytes = 0

  /// Since when the first of those on the socket waits.
  var unansweredSince: Int64? { requests.first?.sentAt }
}

struct SessionRequest: Sendable {
  enum Purpose: Sendable {
    case plain
    case publish(SourceID)
    case offer(PeerID)
    case relay(PeerID, RelayedData)
  }

  let number: Int64
  let text: [UInt8]
  let purpose: Purpose
  let command: CommandID
  /// On the socket that is there now.
  var sentAt: Int64?
}
