public import JSON
public import MatrixModel

/// Something to be sent: what it says, and what it answers.
///
///     .sending(.send(room, .text("Hello")))
///     .sending(.send(room, .message(.markdown("**Hello**")).replying(to: .item(item))))
///     .sending(.send(room, .media([OutgoingMedia(.image, picture, caption: .markdown("Look!"))])))
public struct OutgoingMessage: Sendable {
  public enum Style: UInt8, Sendable { case text, emote, notice }

  indirect enum Body: Sendable {
    case text(FormattedText, Style)
    case media(OutgoingMedia)
    case gallery([OutgoingMedia], FormattedText)
    case sticker(Attachment, body: ByteString)
    case location(OutgoingLocation)
    case poll(OutgoingPoll)
    case custom(EventType, [UInt8])
  }

  let body: Body
  /// The message this one answers.
  public var replyTo: SendTarget?
  /// The root of the thread it belongs to.
  public var threadRoot: SendTarget?
  /// The last message of the thread, to which clients without threads show it as a reply; nil takes the root.
  public var threadLatest: EventID?
  /// Besides those that the text names; say, the sender of what it answers.
  public var mentions = Mentions()
  /// Nobody is notified of it; it is unread like any other (`martlet.silent`, Documentation/Extensions.md).
  public var isSilent = false

  // MARK: Making

  public static func text(_ text: ByteString, style: Style = .text, replyTo: EventID? = nil) -> OutgoingMessage {
    var message = OutgoingMessage(body: .text(FormattedText(text), style))
    message.replyTo = replyTo.map { .event($0) }
    return message
  }

  public static func message(_ text: FormattedText, style: Style = .text) -> OutgoingMessage {
    OutgoingMessage(body: .text(text, style))
  }

  /// One file. `attachment` names the blob; kind image, video, audio, voice or file.
  public static func attachment(kind: MessageContent.Kind, _ attachment: Attachment) -> OutgoingMessage {
    OutgoingMessage(body: .media(OutgoingMedia(kind, attachment)))
  }

  public static func media(_ media: OutgoingMedia) -> OutgoingMessage { OutgoingMessage(body: .media(media)) }

  /// Files that one event may have.
  public static var galleryLimit: Int { ContentLimits.galleryEntries }

  /// Several files as one event (MSC4274, `dm.filament.gallery`); at most `galleryLimit`.
  public static func gallery(_ media: [OutgoingMedia], caption: FormattedText = FormattedText("")) -> OutgoingMessage {
    OutgoingMessage(body: .gallery(media, caption))
  }

  /// A picture the server has (`source`) or one to upload (`blob`).
  public static func sticker(_ picture: Attachment, body: ByteString) -> OutgoingMessage {
    OutgoingMessage(body: .sticker(picture, body: body))
  }

  public static func location(_ location: OutgoingLocation) -> OutgoingMessage {
    OutgoingMessage(body: .location(location))
  }

  public static func poll(_ poll: OutgoingPoll) -> OutgoingMessage { OutgoingMessage(body: .poll(poll)) }

  /// Any event. `content` is a JSON object; its members go out as they are, `m.relates_to` too unless the message answers something.
  public static func custom(_ type: EventType, content: [UInt8]) -> OutgoingMessage {
    OutgoingMessage(body: .custom(type, content))
  }

  /// `mentioning` is the sender of the other message, where that person is to be told.
  public func replying(to target: SendTarget, mentioning user: UserID? = nil) -> OutgoingMessage {
    var message = self
    message.replyTo = target
    if let user { message.mentions.add(user) }
    return message
  }

  public func inThread(_ root: SendTarget, latest: EventID? = nil) -> OutgoingMessage {
    var message = self
    message.threadRoot = root
    message.threadLatest = latest
    return message
  }
}

/// Spec: `m.location`; MSC3488.
public struct OutgoingLocation: Sendable {
  /// `geo:latitude,longitude;u=metres`. RFC 5870.
  public var geoURI: ByteString
  /// What it is, in words; also shown where there is no map.
  public var description: ByteString
  /// Whether this is the sender's position, rather than any place.
  public var isOwnPosition: Bool

  public init(geoURI: ByteString, description: ByteString, isOwnPosition: Bool = true) {
    self.geoURI = geoURI
    self.description = description
    self.isOwnPosition = isOwnPosition
  }
}

/// MSC3381.
public struct OutgoingPoll: Sendable {
  public var question: ByteString
  /// 1 to 20.
  public var answers: [ByteString]
  /// Whether everybody sees how it stands before it ends.
  public var isDisclosed: Bool
  /// How many answers one may choose.
  public var selectionLimit: Int

  public init(question: ByteString, answers: [ByteString], isDisclosed: Bool = true, selectionLimit: Int = 1) {
    self.question = question
    self.answers = answers
    self.isDisclosed = isDisclosed
    self.selectionLimit = selectionLimit
  }
}

/// Announces that the sender shares their position from now on for some time. MSC3489, MSC3672.
public struct BeaconInfo: Sendable {
  public var description: ByteString?
  /// After which it is over by itself.
  public var timeoutMilliseconds: Int64
  /// Milliseconds since 1970; nil for now.
  public var startedAtMilliseconds: Int64?
  /// False ends it early; the rest stays as it was.
  public var isLive: Bool

  public init(
    description: ByteString? = nil, timeoutMilliseconds: Int64, startedAtMilliseconds: Int64? = nil, isLive: Bool = true
  ) {
    self.description = description
    self.timeoutMilliseconds = timeoutMilliseconds
    self.startedAtMilliseconds = startedAtMilliseconds
    self.isLive = isLive
  }
}
