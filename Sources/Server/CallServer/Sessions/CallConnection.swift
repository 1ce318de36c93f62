import JSON
import MediaRouter

/// A socket. The socket's owner chooses the number.
package struct SocketID: Sendable, Hashable {
  package let number: UInt64
  package init(_ number: UInt64) { self.number = number }
}

/// A participant as a session keeps it.
struct CallConnection: Sendable {
  let id: ConnectionID
  /// Grows with each that comes.
  let number: UInt64
  /// What proves, on another socket, that it is the same.
  let key: [UInt8]
  var token: ConnectionToken
  /// Milliseconds since 1970.
  let created: Int64
  /// nil while its socket is lost.
  var socket: SocketID?
  var outbox = Outbox()
  /// The number of the last request that was carried out.
  var handled: Int64 = 0
  var requests: TokenBucket
  var messages: TokenBucket
  var offers: TokenBucket
  var relayedBytes: TokenBucket
  var resumedBytes: TokenBucket
  /// In the order of publishing.
  var streams: [StreamID] = []
  var preferences: [StreamID: Preference] = [:]
  var peer: PeerState?
  /// The peer connection whose transport has ended after it was connected.
  var ended: PeerOffer.Identity?

  var role: Role { token.role }

  func write(to writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("id", id)
      writer.member("data", token.data)
      writer.member("role", role.rawValue)
      writer.member("created", created)
    }
  }
}

/// A connection's transport, and what its sections are for.
struct PeerState: Sendable {
  enum Use: Sendable, Equatable {
    case publish(StreamID, TrackID)
    case subscribe(StreamID, SubscriptionID)
  }

  struct Section: Sendable {
    let use: Use
    let format: MediaOffer.Format
    var ssrc: UInt32 = 0
    var rtxSSRC: UInt32?
  }

  let transport: TransportID
  let worker: WorkerID
  /// As of its last offer.
  var identity: PeerOffer.Identity
  let isDTLSClient: Bool
  var credentials: ICECredentials
  /// Its DTLS handshake is done.
  var wasConnected = false
  /// Of the last answer.
  var version: UInt64 = 0
  /// By MID.
  var sections: [String: Section] = [:]
}

/// A stream's track on its way to a connection.
struct CallSubscription: Sendable {
  let connection: ConnectionID
  let worker: WorkerID
  let mid: String
  let stream: StreamID
  let isAudio: Bool
  /// The connection asked for it to rest.
  var isPaused = false
  /// Its path carries no picture of it.
  var isStarved = false
}
