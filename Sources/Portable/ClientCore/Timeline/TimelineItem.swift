import JSON
import MatrixModel

/// Names a timeline item for the life of the process: the same from the local echo to the event the server sends back.
public typealias ItemID = UInt64

/// One row of a timeline.
public struct TimelineItem: Sendable {
  public enum Content: Sendable {
    case message(MessageContent)
    case state(StateChange)
    /// Its content was removed.
    case redacted
    /// An encrypted event whose key this client does not have.
    case undecryptable
    /// An event of a kind or shape that this client cannot show.
    case unparsable(EventType)
    /// Events are missing here; `Command.fillGap` brings them.
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
  /// Of an echo: by it the event is known again.
  var transactionID: TransactionID?
  /// Members whose last read event this is.
  var readerCount = 0
  public internal(set) var isEdited = false
  /// By first appearance.
  public internal(set) var reactions: [Reaction] = []
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
  /// Stays until `Command.retry` or `.cancel`.
  case failed(ClientError)
}

public struct Reaction: Sendable {
  /// Usually an emoji.
  public let key: ByteString
  public internal(set) var count: Int
  public internal(set) var isOwn: Bool
  /// Whether the own part in it is on its way still.
  public internal(set) var isPending = false
}

/// Body and media of an `m.room.message` or `m.sticker`.
public struct MessageContent: Sendable {
  public enum Kind: UInt8, Sendable {
    case text, emote, notice, image, video, audio, file, location, sticker, unknown, voice, gallery
  }

  public var kind: Kind
  /// Text; of media the caption or file name.
  public var body: ByteString
  /// nil for kinds without a file.
  public var attachment: Attachment?

  public init(kind: Kind, body: ByteString, attachment: Attachment? = nil) {
    self.kind = kind
    self.body = body
    self.attachment = attachment
  }
}

/// A file, on the server or still here.
public struct Attachment: Sendable {
  public var fileName: ByteString
  /// nil until it is uploaded.
  public var source: MediaURI?
  /// The file as this machine holds it, in own messages on their way.
  public var blob: BlobHandle?
  public var mimeType: ByteString?
  public var sizeBytes: Int64?
  /// Pixels.
  public var width: Int64?
  public var height: Int64?
  public var durationMilliseconds: Int64?
  public var thumbnail: MediaURI?
  public var thumbnailWidth: Int64?
  public var thumbnailHeight: Int64?
  /// A blurred picture to show until the real one is there. MSC2448.
  public var blurHash: ByteString?
  /// Loudness over the length of a voice message, 0 to 1024 each; empty where unknown. MSC3246.
  public var waveform: [UInt16] = []

  public init(
    fileName: ByteString, blob: BlobHandle? = nil, mimeType: ByteString? = nil, sizeBytes: Int64? = nil,
    width: Int64? = nil,
    height: Int64? = nil
  ) {
    self.fileName = fileName
    self.blob = blob
    self.mimeType = mimeType
    self.sizeBytes = sizeBytes
    self.width = width
    self.height = height
  }
}
