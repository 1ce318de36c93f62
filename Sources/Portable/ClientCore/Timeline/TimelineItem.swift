import JSON
import MatrixModel

/// Names a timeline item for the life of the process: the same from the local echo to the event the server sends back.
public typealias ItemID = UInt64

/// One row of a timeline.
public struct TimelineItem: Sendable {
  public enum Content: Sendable {
    indirect case message(MessageContent)
    indirect case state(StateChange)
    /// Its content was removed.
    case redacted
    /// An encrypted event that cannot be read.
    case undecryptable(UndecryptableReason)
    indirect case call(CallSummary)
    /// A user asks another one for a verification.
    indirect case verification(VerificationSummary)
    /// An event of a type this client does not know. `TimelineCommand.loadEvent` brings all of it.
    indirect case custom(CustomEvent)
    /// An event of a known type that lacks what it needs.
    indirect case unparsable(EventType, UnreadableReason)
    /// Events are missing here; `TimelineCommand.fillGap` brings them.
    case gap(GapState)
  }

  public enum GapState: UInt8, Sendable { case idle, loading, failed }

  public let id: ItemID
  /// nil for gaps and for what the server has not taken yet.
  public internal(set) var eventID: EventID?
  /// Empty for gaps.
  public internal(set) var sender: UserID
  /// Milliseconds since 1970, as the sender's server says.
  public internal(set) var timestampMilliseconds: Int64
  public internal(set) var content: Content
  public internal(set) var delivery: Delivery
  public internal(set) var replyTo: EventID?
  /// The event of `replyTo`; nil where it is not known here: `TimelineCommand.loadReply` brings it.
  public internal(set) var quoted: QuotedEvent?
  /// The thread it was said in. The root itself has none.
  public internal(set) var threadRoot: EventID?
  /// Of a thread's root: what was said there.
  public internal(set) var thread: ThreadSummary?
  /// Of an echo: by it the event is known again.
  var transactionID: TransactionID?
  /// Members whose last read event this is.
  var readerCount = 0
  public internal(set) var isEdited = false
  /// By first appearance.
  public internal(set) var reactions: [Reaction] = []
  /// How far a message of an encrypted room is proven to be its sender's; nil for what is not encrypted anyway, and on its way.
  public internal(set) var trust: MessageTrust?
  /// That of its event alone, without the edit that is shown.
  var eventTrust: MessageTrust?
  /// Whether its event came encrypted.
  var wasEncrypted = false
  /// Who gave the key of the message when they invited the user (`MessageTrust.notProven`): by their word alone it is its sender's.
  public internal(set) var keyGiver: UserID?
  /// An edit or redaction of it that is on its way.
  public internal(set) var pendingChange: PendingChange?
}

/// How far a message is on its way.
public enum Delivery: Sendable {
  /// It came from the server.
  case received
  /// Waits for its turn, the network or the store.
  case queued
  /// The server takes no more messages until then (slow mode, a rate limit). Milliseconds since 1970.
  case held(untilMilliseconds: Int64)
  case uploading(sentBytes: Int64, totalBytes: Int64)
  case sending
  /// The server has it; it has not come back in a sync yet.
  case sent
  /// Stays until `SendingCommand.retry` or `.cancel`.
  case failed(ClientError)
}

/// What a message said from a moment on.
public struct MessageVersion: Sendable {
  public let content: MessageContent
  /// Milliseconds since 1970, as the sender's server says.
  public let timestampMilliseconds: Int64
}

/// Who reacted in one way.
public struct Reaction: Sendable {
  /// Usually an emoji.
  public let key: ByteString
  /// The first to react in front.
  public internal(set) var senders: [UserID]
  /// The own reaction, to be redacted to take it back; nil also while it is on its way.
  public internal(set) var ownEventID: EventID?
  public internal(set) var isOwn: Bool
  /// Whether the own part in it is on its way still.
  public internal(set) var isPending = false

  public var count: Int { senders.count }
}

/// What a reply answers, as it is now: edited, or redacted. What that one answers in turn is not part of it.
public indirect enum QuotedEvent: Sendable {
  case loading
  case event(sender: UserID, TimelineItem.Content)
  /// It does not exist, or one may not see it.
  case unavailable
}

/// What was said in a thread.
public struct ThreadSummary: Sendable {
  public struct Reply: Sendable {
    public let eventID: EventID
    public let sender: UserID
    public let timestampMilliseconds: Int64
    public internal(set) var content: TimelineItem.Content
  }

  /// As far as server and client know. Spec: "approximate".
  public internal(set) var count: Int
  /// nil where all that is known of was redacted.
  public internal(set) var latest: Reply?
  /// Whether one wrote the root or in the thread.
  public internal(set) var isParticipating: Bool
}
