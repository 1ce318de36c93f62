/// The author of messages. Rows of one author share one object.
public final class Sender: Sendable {
  /// Decides who belongs together; byte-compared.
  public let id: String
  /// Display name, disambiguated by the host where needed.
  public let name: String
  /// Image source; nil shows the initials on a colour made from `id`.
  public let avatar: String?
  /// Own messages stand on the other side.
  public let isOwn: Bool
  /// 0..<12, made from `id`.
  public let colour: Int
  /// One or two letters of the name.
  public let initials: String

  public init(id: String, name: String, avatar: String? = nil, isOwn: Bool) {
    self.id = id
    self.name = name
    self.avatar = avatar
    self.isOwn = isOwn
    colour = Initials.colour(of: id)
    initials = Initials.of(name)
  }
}

/// A message.
public struct MessageRow: Sendable {
  public enum Body: Sendable {
    /// Plain text; `http` and `https` links in it can be clicked.
    case text(String)
    /// Spoken of the sender in the third person (`m.emote`).
    case emote(String)
    /// From a program (`m.notice`).
    case notice(String)
    indirect case image(ImageBody)
    indirect case file(FileBody)
    case redacted
    /// Encrypted, and the key is not here (yet).
    case undecryptable
    /// Of a kind this client does not know; the text is the event's fallback or empty.
    case unsupported(String)
  }

  public var sender: Sender
  public var body: Body
  public var sendState: SendState
  public var isEdited: Bool
  /// How many members have not read it; 0 shows no badge.
  public var unreadMembers: Int

  public init(
    sender: Sender, body: Body, sendState: SendState = .sent, isEdited: Bool = false, unreadMembers: Int = 0
  ) {
    self.sender = sender
    self.body = body
    self.sendState = sendState
    self.isEdited = isEdited
    self.unreadMembers = unreadMembers
  }
}

/// How far an own message has come. Received messages are `sent`.
public enum SendState: UInt8, Sendable {
  case sent, sending
  /// Waits for the network or for an earlier message.
  case queued
  /// Refused; the row offers to try again and to give up.
  case failed
}

public struct ImageBody: Sendable {
  /// File name or description, read aloud instead of the image.
  public var name: String
  /// Source of the picture shown in the row; nil while there is none.
  public var thumbnail: String?
  /// Pixels of the original; they fix the row's height before anything is loaded. 0 where unknown.
  public var width: Int
  public var height: Int
  /// Shown below the picture.
  public var caption: String
  /// 0...1 while the bytes are on their way up, else nil.
  public var uploadProgress: Double?

  public init(
    name: String, thumbnail: String?, width: Int, height: Int, caption: String = "", uploadProgress: Double? = nil
  ) {
    self.name = name
    self.thumbnail = thumbnail
    self.width = width
    self.height = height
    self.caption = caption
    self.uploadProgress = uploadProgress
  }
}

public struct FileBody: Sendable {
  public var name: String
  /// Second line, for example size and type, in the reader's language.
  public var detail: String
  /// 0...1 while the bytes are on their way up, else nil.
  public var uploadProgress: Double?

  public init(name: String, detail: String, uploadProgress: Double? = nil) {
    self.name = name
    self.detail = detail
    self.uploadProgress = uploadProgress
  }
}
