/// Every bound of calls, each in one place. Documentation/Decisions/0014-call-sessions.md, "Limits".
package enum CallLimits {
  // Messages of the socket, in bytes.
  package static let messageBytes = 64 << 10
  package static let offerMessageBytes = 128 << 10
  static let messageDepth = 16
  static let sections = 256

  // What a session holds.
  package static let connections = 3_000
  package static let streams = 200
  package static let streamsOfConnection = 4

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
  /// First messages from one network.
  package static let connectRate = Rate(perSecond: 20, burst: 200)
  /// REST requests of a project.
  package static let restRate = Rate(perSecond: 100, burst: 400)
  /// Networks and projects whose rates are remembered.
  static let rateEntries = 10_000

  // What is owed to a connection that does not acknowledge.
  package static let unacknowledgedMessages = 1_000
  package static let unacknowledgedBytes = 1 << 20
  /// Messages that wait for a socket to take them.
  static let socketQueue = 4_096

  // Times, in milliseconds.
  package static let firstMessageMilliseconds: Int64 = 10_000
  package static let resumeMilliseconds: Int64 = 30_000
  /// Of a token for a session.
  package static let tokenMilliseconds: Int64 = 30 * 24 * 60 * 60 * 1_000
  /// A token of the old form that does not say when it ends. OpenTok's documentation: a day.
  static let tokenDefaultMilliseconds: Int64 = 24 * 60 * 60 * 1_000
  /// How far ahead the end of a REST request's token may be.
  package static let authorizationMilliseconds: Int64 = 10 * 60 * 1_000
  /// Of a token for a call in a room: it is asked for when it is needed.
  package static let roomTokenMilliseconds: Int64 = 60 * 60 * 1_000

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
