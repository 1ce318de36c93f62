/// The author of messages. Rows of one author share one object.
public final class Sender: Sendable {
  /// Decides who belongs together; byte-compared.
  public let id: String
  /// Display name, disambiguated by the host where needed.
  public let name: String
  /// Image source; nil shows the initials on a colour made from `id`.
  public let avatar: String?
  /// What they are to the others, beside their name: "Moderator"; empty for nothing.
  public let role: String
  /// Own messages stand on the other side.
  public let isOwn: Bool
  /// 0..<12, made from `id`.
  public let colour: Int
  /// One or two letters of the name.
  public let initials: String

  public init(id: String, name: String, avatar: String? = nil, role: String = "", isOwn: Bool) {
    self.id = id
    self.role = role
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
    /// Anything else, in this order from top to bottom.
    indirect case parts([ContentPart], tone: Tone = .plain)
    case redacted
    /// Encrypted, and it cannot be read (yet). The text says why; if it is empty, `Phrases.undecryptable` stands there.
    case undecryptable(String)
    /// Of a kind this client does not know; the text is the event's fallback or empty.
    case unsupported(String)
  }

  /// How a message of parts is meant.
  public enum Tone: UInt8, Sendable {
    case plain, emote, notice
  }

  public var sender: Sender
  public var body: Body
  public var sendState: SendState
  public var isEdited: Bool
  /// How many members have not read it; 0 shows no badge.
  public var unreadMembers: Int
  public var receipt: ReceiptState
  private var box: Box?

  /// What stands around the body; nil for most messages.
  public var surroundings: Surroundings? {
    get { box?.surroundings }
    set { box = newValue.map { Box($0) } }
  }

  public init(
    sender: Sender, body: Body, sendState: SendState = .sent, isEdited: Bool = false, unreadMembers: Int = 0,
    receipt: ReceiptState = .hidden, surroundings: Surroundings? = nil
  ) {
    self.sender = sender
    self.body = body
    self.sendState = sendState
    self.isEdited = isEdited
    self.unreadMembers = unreadMembers
    self.receipt = receipt
    self.surroundings = surroundings
  }

  /// Keeps the rows of plain messages small.
  private final class Box: Sendable {
    let surroundings: Surroundings
    init(_ surroundings: Surroundings) { self.surroundings = surroundings }
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

/// What is known of an own message's way after the server took it. It stands in a word below the newest own message only; screen readers
/// say it of each.
public enum ReceiptState: UInt8, Sendable {
  /// Nothing is said.
  case hidden
  /// The server has it.
  case sent
  /// Another device has it.
  case delivered
  /// Someone read it.
  case read
}
