/// Bounds and intervals of calls, each in one place.
public enum CallLimits {
  // Sessions (Documentation/Decisions/0014-call-sessions.md)
  /// Of one message, and of one with an offer or answer in it.
  public static let messageBytes = 64 << 10
  public static let descriptionMessageBytes = 512 << 10
  /// Of the first answer, which tells a whole session.
  public static let greetingBytes = 16 << 20
  public static let signalKindBytes = 128
  public static let signalBytes = 8_192
  public static let connectionDataBytes = 4_000
  public static let nameBytes = 4_000
  static let codecBytes = 32
  public static let connections = 3_000
  public static let streams = 200
  /// Of one connection.
  public static let publications = 4
  /// That have no answer yet; more are refused here. After a cut all go out at once, and so many requests, or signals, the server takes at once.
  public static let requests = 100
  public static let iceServers = 16
  /// Peers of a relayed session: the server takes one connection more.
  public static let relayedPeers = 8
  /// An ack goes out after so many messages or so much time: half of what the server asks for.
  static let ackMessages: Int64 = 16
  /// Or bytes: a quarter of what the server keeps.
  static let ackBytes = 256 << 10
  static let ackMilliseconds: Int64 = 5_000
  /// How long a socket may take to open, to be greeted, and to answer a request, before another is tried.
  static let answerMilliseconds: Int64 = 10_000
  static let backoffFirstMilliseconds: Int64 = 500
  static let backoffLastMilliseconds: Int64 = 15_000
  /// How long a lost server is looked for.
  static let reconnectMilliseconds: Int64 = 300_000
  /// What a refusal may make us wait.
  static let retryMilliseconds: Int64 = 30_000
  /// Failures of the host's, one after the other, after which a session ends.
  static let mediaFailures = 3

  // Transports
  /// How long ICE may be disconnected, or without success after a restart, until it is restarted.
  static let iceDisconnectedMilliseconds: Int64 = 4_000
  static let iceFailedMilliseconds: Int64 = 1_000
  static let iceRestartMilliseconds: Int64 = 10_000
  static let candidateBytes = 4_096
  /// Candidates of others that are kept until there is a use for them.
  static let candidates = 256
  /// Of one peer connection, as the server takes them.
  static let sections = 256

  // Matrix' calls
  /// Of an event's content.
  static let contentBytes = 64 << 10
  /// Calls followed at a time, and calls remembered as over.
  static let calls = 16
  /// That one person asks for.
  static let callsOfOne = 4
  static let endedCalls = 64
  static let callIDBytes = 255
  /// Spec: "Call Event Liveness": 90 seconds at least.
  static let lifetimeMilliseconds: Int64 = 90_000
  static let longestLifetimeMilliseconds: Int64 = 600_000
  /// What must be left of it for a call to ring.
  static let ringMilliseconds: Int64 = 5_000
  static let negotiationMilliseconds: Int64 = 30_000
  /// Spec: "ICE Candidate Batching".
  static let gatherMilliseconds: Int64 = 200
  static let candidatesAfterInviteMilliseconds: Int64 = 2_000
  static let candidatesAfterAnswerMilliseconds: Int64 = 500
  /// How long an answered call may take to connect, and how long it may be without a connection later.
  static let connectMilliseconds: Int64 = 40_000
  static let interruptionMilliseconds: Int64 = 30_000
  static let mediaStreams = 8

  // Calls of rooms
  /// Without `expires`, as today's clients take it.
  public static let membershipMilliseconds: Int64 = 4 * 3_600_000
  static let longestMembershipMilliseconds: Int64 = 7 * 24 * 3_600_000
  /// Of times in events: the integers of JSON.
  static let timestamp: Int64 = 1 << 53
  static let callMembers = 3_000
  static let transports = 16

  // Encrypted calls of rooms
  /// After a departure another key is made, and so much later it is used. Within both together nobody listens who has left.
  static let keyChangeMilliseconds: Int64 = 3_000
  static let keyUseMilliseconds: Int64 = 2_000
  /// When a key goes again to a device that could not be reached.
  static let keyRetryMilliseconds: Int64 = 15_000
  /// Of 32 bytes in base64, without or with padding.
  static let keyCharacters = 43...44
  /// Keys of devices that are not seen in the call yet, in all and of each.
  static let earlyKeys = 200, earlyKeysOfDevice = 2
}
