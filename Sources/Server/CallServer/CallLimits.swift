/// Every bound of calls, each in one place. Documentation/Decisions/0014-call-sessions.md, "Limits".
package enum CallLimits {
  // Messages of the socket, in bytes.
  package static let messageBytes = 64 << 10
  /// 128 sounds and as many pictures with all profiles of H.264, which is what an offer has sections for.
  package static let offerMessageBytes = 512 << 10
  static let messageDepth = 16
  static let sections = 256

  // What a session holds.
  package static let connections = 3_000
  /// Each sends to each: clients have a link to 8 others.
  package static let connectionsOfRelayedSession = 9
  package static let streams = 200
  package static let streamsOfConnection = 4
  /// Of one user in a room's call, on all devices; of one token of an application's: the other half is for others.
  package static let streamsOfMember = 8
  package static let streamsOfToken = 100
  /// Of a session, on its home worker: with so many that all see each other, a worker has some 200,000 packets a second to send.
  package static let homeTransports = 50
  /// Of one user in a room's call, and of one token of an application's, which may be the same for many.
  package static let connectionsOfMember = 20
  package static let connectionsOfToken = 500

  // Texts: bytes of a signal, characters (Unicode scalars) of the rest.
  package static let signalKindCharacters = 128
  package static let signalDataBytes = 8_192
  package static let connectionDataCharacters = 1_000
  package static let streamNameCharacters = 1_000
  package static let layoutClassesCharacters = 1_000
  package static let layoutClassesOfStream = 16
  /// Pixels of a picture's side.
  package static let pictureSide: Int64 = 16_384

  // Rates.
  package static let requestRate = Rate(perSecond: 20, burst: 100)
  /// Of a session, REST's included.
  package static let signalRate = Rate(perSecond: 50, burst: 100)
  /// Bytes that a session's signals have as they are told, and names that everyone hears of. At once it is less than is kept for who does not
  /// acknowledge: nobody can be ended by what others say.
  package static let toldBytesRate = Rate(perSecond: 256 << 10, burst: 384 << 10)
  /// Bytes that one connection may have handed on to others of a relayed session: to a receiver, with all others, no more than half of what
  /// is kept for it.
  package static let relayedBytesRate = Rate(perSecond: 128 << 10, burst: 384 << 10)
  /// Bytes that are said again to one connection that comes back.
  package static let resumedBytesRate = Rate(perSecond: 256 << 10, burst: 4 << 20)
  /// What coming back counts at least.
  static let resumedBytesLeast = 16 << 10
  /// What happens to all of a session: comings, and requests that everyone hears of beside signals. With the signals it is less at once
  /// than is kept for who does not acknowledge.
  package static let broadcastRate = Rate(perSecond: 100, burst: 500)
  /// The rate of all messages of a connection, also invalid ones. A connection that exceeds it is closed.
  package static let messageRate = Rate(perSecond: 50, burst: 400)
  /// Of a connection: reading one and answering it is the dearest of all requests.
  package static let offerRate = Rate(perSecond: 5, burst: 30)
  /// Bytes of offers that one holder of a token has read, on all connections: a few tens of milliseconds of a processor for each megabyte. At once
  /// it is one long offer for each of 500.
  package static let offerBytesRate = Rate(perSecond: 4 << 20, burst: 64 << 20)
  /// Of one connection, so that none takes what all with its token have.
  package static let offerBytesOfConnectionRate = Rate(perSecond: 1 << 20, burst: 8 << 20)
  /// What an offer counts at least.
  static let offerBytesLeast = 8 << 10
  /// First messages from one network.
  package static let connectRate = Rate(perSecond: 20, burst: 200)
  /// REST requests of a project.
  package static let restRate = Rate(perSecond: 100, burst: 400)
  /// Networks and projects whose rates are remembered.
  static let rateEntries = 10_000

  // What is owed to a connection that does not acknowledge.
  package static let unacknowledgedMessages = 1_500
  package static let unacknowledgedBytes = 1 << 20
  /// The time after which a connection that owes acknowledgements of half of that may get another hand-over: a client acknowledges every 10 s.
  package static let fullOutboxMilliseconds: Int64 = 10_000
  /// Messages that wait for a socket to take them.
  static let socketQueue = 4_096
  package static let socketQueueBytes = 2 << 20

  // Times, in milliseconds.
  package static let firstMessageMilliseconds: Int64 = 10_000
  package static let resumeMilliseconds: Int64 = 30_000
  /// When a client may try again that came while the database was away.
  static let databaseRetryMilliseconds: Int64 = 1_000
  /// How often a node looks whether it could renew its lease.
  static let leaseLookMilliseconds: Int64 = 250
  /// How long a stream may have no media from the beginning, while its connection has a socket.
  package static let firstMediaMilliseconds: Int64 = 30_000
  /// Of a token for a session.
  package static let tokenMilliseconds: Int64 = 30 * 24 * 60 * 60 * 1_000
  /// A token of the old form that does not say when it ends. OpenTok's documentation: a day.
  static let tokenDefaultMilliseconds: Int64 = 24 * 60 * 60 * 1_000
  /// How far ahead the end of a REST request's token may be.
  package static let authorizationMilliseconds: Int64 = 10 * 60 * 1_000
  /// Of a token for a call in a room: it is asked for when it is needed.
  package static let roomTokenMilliseconds: Int64 = 60 * 60 * 1_000

  // Recordings.
  /// OpenTok's documentation: 4 hours.
  package static let recordingMilliseconds: Int64 = 4 * 60 * 60 * 1_000
  package static let recordingNameCharacters = 1_000
  /// More end it: the manifest, which is written anew with each, has to stay readable.
  package static let filesOfRecording = 1_000
  /// Of the composed picture, which depends on all of them for its whole length.
  package static let changesOfRecording = 1_000
  /// How long it is told of a recording that it recorded nothing.
  package static let failedRecordingMilliseconds: Int64 = 24 * 60 * 60 * 1_000
  package static let recordingsPage: Int64 = 1_000
  static let recordingsPageDefault: Int64 = 50
  /// Media that waits for the recording thread; what comes then is left out.
  static let recordedBytesWaiting = 64 << 20
  /// How long the address of a recorded file is good. OpenTok's documentation: 10 minutes.
  package static let downloadSeconds: Int64 = 600
  /// A session that nobody has joined or asked about for so long is removed.
  package static let sessionDisuseMilliseconds: Int64 = 90 * 24 * 60 * 60 * 1_000
  /// How exactly that is known.
  static let sessionUseMilliseconds: Int64 = 24 * 60 * 60 * 1_000

  // Callbacks.
  /// Of one project; what comes then is left out.
  package static let callbacksWaiting = 1_000
  package static let callbackAttempts = 5
  static let callbackTimeout = Duration.seconds(10)
  package static let callbackURLBytes = 2_048

  // The database.
  package static let projects = 1_000
  package static let projectNameCharacters = 100
  static let restBodyBytes = 64 << 10

  /// An allowance: `burst` at once, `perSecond` from then on.
  package struct Rate: Sendable {
    package let perSecond: Int64
    package let burst: Int64
  }
}
