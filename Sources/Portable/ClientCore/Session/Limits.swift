/// Bounds and intervals of the client, each in one place.
enum Limits {
  /// How long the server may hold a sync without news.
  static let longPollMilliseconds: Int64 = 30_000
  /// What a sync may take beyond that; a first sync may take all of it.
  static let syncGraceMilliseconds: Int64 = 90_000
  static let uploadTimeoutMilliseconds: Int64 = 600_000
  static let backoffFirstMilliseconds: Int64 = 1_000
  static let backoffLastMilliseconds: Int64 = 30_000
  /// Longest wait that a server's `retry_after_ms` is followed to.
  static let retryAfterMilliseconds: Int64 = 600_000
  /// Events of a room's timeline that one sync brings.
  static let syncEvents = 20
  static let pageEvents = 50
  /// Pages without anything to show that are followed by the next one at once.
  static let emptyPages = 10
  /// Events of a room that stay in the store.
  static let storedEvents = 60
  /// Timelines in memory besides the open ones.
  static let keptTimelines = 4
  /// Items of a timeline that is kept without being open.
  static let keptItems = 2_000
  /// Member lists beyond this are not stored whole.
  static let storedMembers = 1_000
  /// "10-second fuse": someone who went away without a word stops writing.
  static let typingFuseMilliseconds: Int64 = 10_000
  /// While text goes in, the server hears about it this often, and forgets after the second figure.
  static let typingRefreshMilliseconds: Int64 = 8_000
  static let typingTimeoutMilliseconds: Int64 = 12_000
  static let receiptIntervalMilliseconds: Int64 = 1_000
  static let draftDelayMilliseconds: Int64 = 500
  /// Messages waiting in the outbox.
  static let outboxEntries = 1_000
  /// Content of an event: the server takes 64 KiB, to which it adds members of its own.
  static let contentBytes = 60_000
  static let reactionBytes = 1_024
  static let galleryFiles = 60
  static let waveformValues = 1_024
  static let pollAnswers = 20

  // Formatting
  /// Bytes of HTML or Markdown that are read.
  static let htmlBytes = 256 << 10
  /// Spec: "m.room.message msgtypes": tags must not be nested deeper.
  static let htmlDepth = 100
  static let htmlAttributes = 16
  /// Bytes of a link's target.
  static let linkBytes = 2_048
  /// Quotes and lists in each other.
  static let quoteDepth = 16
  /// Emphasis within emphasis that is written.
  static let markDepth = 40
  static let mentions = 200
}
