import JSON
import MatrixModel

/// What an `m.room.message`, an `m.sticker`, a poll or a live location says.
public struct MessageContent: Sendable {
  /// The numbers are stored.
  public enum Kind: UInt8, Sendable {
    case text, emote, notice, image, video, audio, file, location, sticker
    /// A message type this client does not know: it shows as its body.
    case unknown
    /// A recorded voice: an audio message with a waveform.
    case voice
    /// Several files as one message.
    case gallery
    case poll
    /// A place that moves.
    case liveLocation
  }

  public var kind: Kind
  /// Text; of media the caption or file name; of a poll its question; always there for who cannot show more.
  public var body: ByteString
  /// HTML as its sender wrote it, without the quotation of a reply: nothing in it is safe to show as it is.
  public var formattedBody: ByteString?
  /// nil if the event does not say whether it mentions anybody.
  public var mentions: Mentions?
  /// nil for kinds without a file.
  public var attachment: Attachment? {
    get { file?.wrappedValue }
    set { file = newValue.map { Boxed(wrappedValue: $0) } }
  }
  private var file: Boxed<Attachment>?
  public var details = Details.none
  /// Its sender wanted nobody to be notified of it (`martlet.silent`); an edit does not say it again.
  public package(set) var isSilent = false
  /// Who wrote it, if it was forwarded.
  public var origin: Origin? {
    get { forwarded?.wrappedValue }
    set { forwarded = newValue.map { Boxed(wrappedValue: $0) } }
  }
  private var forwarded: Boxed<Origin>?

  /// Who wrote a message that somebody else sent on, as they say (`martlet.forwarded`): nothing proves it.
  public struct Origin: Sendable, Hashable {
    public var sender: UserID
    /// What the sender was called there; nil if they had no name.
    public var name: ByteString?

    public init(sender: UserID, name: ByteString? = nil) {
      self.sender = sender
      self.name = name
    }
  }

  /// What only some kinds have.
  public indirect enum Details: Sendable {
    case none
    case location(Location)
    /// Images, videos, audio and files, each with its own caption.
    case gallery([MessageContent])
    case poll(Poll)
    case liveLocation(LiveLocation)
    /// Text that has links which are to be shown without a preview.
    case text(unpreviewed: [ByteString])
    /// All of a message whose type this client does not know: a JSON object.
    case unknown(type: ByteString, content: [UInt8])
  }

  public init(
    kind: Kind, body: ByteString, formattedBody: ByteString? = nil, mentions: Mentions? = nil,
    attachment: Attachment? = nil, details: Details = .none
  ) {
    self.kind = kind
    self.body = body
    self.formattedBody = formattedBody
    self.mentions = mentions
    self.attachment = attachment
    self.details = details
  }

  /// What stands under a file; nil where the body is but its name.
  public var caption: ByteString? { attachment.flatMap { $0.fileName == body ? nil : body } }

  public var location: Location? { if case .location(let location) = details { location } else { nil } }
  public var gallery: [MessageContent] { if case .gallery(let entries) = details { entries } else { [] } }
  /// Addresses in the text of which nobody shall be shown a preview.
  public var unpreviewed: [ByteString] { if case .text(let addresses) = details { addresses } else { [] } }
  public var poll: Poll? { if case .poll(let poll) = details { poll } else { nil } }
  public var liveLocation: LiveLocation? { if case .liveLocation(let share) = details { share } else { nil } }
}
