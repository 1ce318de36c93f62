import JSON
import MediaRouter

/// One session: its participants, their streams, and the messages that each must still get. It has no I/O and no clock: callers report what happens, and what
/// follows from that is in `effects` and `deadline`.
///
/// Documentation/Decisions/0014-call-sessions.md is its law.
package struct SessionLogic: Sendable {
  /// What follows, in order.
  package enum Effect: Sendable {
    /// A text message.
    case send([UInt8], to: SocketID)
    /// Nothing more is said on it, once what was said is out.
    case close(SocketID)
    case router([RouterCommand], on: WorkerID)
    case recording(RecordingCommand)
    /// A moderator's request, answered by `answer(_:of:)`; or, without one, a session that is always recorded has something to record.
    case wantsRecording(RecordingRequest)
    /// For the application's server.
    case happened(SessionEvent)
  }

  package let id: SessionID
  package let isRouted: Bool
  /// Tells its transports, tracks and subscriptions from those of other sessions: the upper half of their numbers.
  package let number: UInt32
  package var workers: SessionWorkers
  let connectionsLimit: Int
  /// Ends the keys of connections.
  let keyMark: String
  var random: any RandomNumberGenerator & Sendable

  var connections: [ConnectionID: CallConnection] = [:]
  var streams: [StreamID: CallStream] = [:]
  var sockets: [SocketID: ConnectionID] = [:]
  /// Connections without a socket, and until when they may come back (monotonic milliseconds).
  var lost: [ConnectionID: Int64] = [:]
  /// Streams that never had media, and until when they may be without (monotonic milliseconds).
  var withoutMedia: [StreamID: Int64] = [:]
  /// Connections that are to end, found while something else was done.
  var ending: [(ConnectionID, CallRefusal)] = []
  /// New streams begin without sound.
  var isMuted = false
  var signals: TokenBucket
  /// For what everyone is told.
  var broadcasts: TokenBucket
  var toldBytes: TokenBucket

  // What the router's names stand for.
  var transports: [TransportID: ConnectionID] = [:]
  var tracks: [TrackID: StreamID] = [:]
  var subscriptions: [SubscriptionID: CallSubscription] = [:]
  var lastNumber: UInt32 = 0
  var lastConnection: UInt64 = 0
  /// nil while nobody records.
  var recording: SessionRecording?
  /// It is recorded whenever somebody publishes.
  let isAlwaysRecorded: Bool

  package private(set) var effects: [Effect] = []

  package init(
    _ id: SessionID, isRouted: Bool, isAlwaysRecorded: Bool = false, number: UInt32, workers: SessionWorkers, now: CallTime,
    connectionsLimit: Int = CallLimits.connections, keyMark: String = "",
    random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
  ) {
    self.id = id
    self.isRouted = isRouted
    self.isAlwaysRecorded = isAlwaysRecorded
    self.number = number
    self.workers = workers
    self.connectionsLimit = connectionsLimit
    self.keyMark = keyMark
    self.random = random
    signals = TokenBucket(CallLimits.signalRate, at: now.monotonic)
    broadcasts = TokenBucket(CallLimits.broadcastRate, at: now.monotonic)
    toldBytes = TokenBucket(CallLimits.toldBytesRate, at: now.monotonic)
  }

  /// When `advance` is needed, in monotonic milliseconds; nil for never.
  package var deadline: Int64? { [lost.values.min(), withoutMedia.values.min(), recording?.deadline].compactMap(\.self).min() }

  /// Nobody is in it, and nothing is left of who was.
  package var isEmpty: Bool {
    connections.isEmpty && streams.isEmpty && sockets.isEmpty && lost.isEmpty && transports.isEmpty && tracks.isEmpty
      && subscriptions.isEmpty && withoutMedia.isEmpty && recording == nil
  }

  /// With what everyone came in.
  var tokens: [ConnectionID: ConnectionToken] { connections.mapValues(\.token) }

  package func has(_ connection: ConnectionID) -> Bool { connections[connection] != nil }

  package mutating func takeEffects() -> [Effect] {
    defer { effects = [] }
    return effects
  }

  mutating func add(_ effect: Effect) { effects.append(effect) }

  mutating func tell(_ commands: [RouterCommand], on worker: WorkerID) { effects.append(.router(commands, on: worker)) }
  mutating func tell(_ command: RouterCommand, on worker: WorkerID) { tell([command], on: worker) }

  /// Tells all workers that have a track.
  mutating func tell(_ command: RouterCommand, ofTrack track: CallStream.Track) {
    for worker in track.workers { tell(command, on: worker) }
  }

  /// A number that no other session has.
  mutating func nextNumber() -> UInt64 {
    lastNumber &+= 1
    return UInt64(number) << 32 | UInt64(lastNumber)
  }

  /// Of a transport, track or subscription.
  package static func number(of name: UInt64) -> UInt32 { UInt32(name >> 32) }
}

extension RouterEvent {
  /// Which session's it is; nil for what is of the whole router.
  package var sessionNumber: UInt32? {
    switch self {
    case .connected(let id), .silent(let id), .recovered(let id), .ended(let id, _), .refused(let id):
      SessionLogic.number(of: id.number)
    case .trackStarted(let id), .demand(let id, _): SessionLogic.number(of: id.number)
    case .layer(let id, _): SessionLogic.number(of: id.number)
    case .speaker(_, let track): SessionLogic.number(of: track.number)
    case .counts: nil
    }
  }
}
