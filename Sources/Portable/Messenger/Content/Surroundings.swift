/// What stands around a message's body: few messages have any of it.
public struct Surroundings: Sendable {
  /// A small line above the body.
  public var header: String
  /// A small line below the bubble.
  public var footer: String
  /// Something is off with the message.
  public var warning: Warning?
  public var reply: ReplyQuote?
  public var reactions: [Reaction]
  public var thread: ThreadChip?
  /// Who has read it and is shown by face, the latest first. They stand in place of the words of `MessageRow.receipt`.
  public var readers: [Sender]
  /// All of them, also those not in `readers`.
  public var readerCount: Int

  /// Chips drawn below one message; one more says how many kinds are missing.
  public static let reactionsLimit = 20
  public static let readersLimit = 5

  public init(
    header: String = "", footer: String = "", warning: Warning? = nil, reply: ReplyQuote? = nil, reactions: [Reaction] = [],
    thread: ThreadChip? = nil, readers: [Sender] = [], readerCount: Int? = nil
  ) {
    self.header = header
    self.footer = footer
    self.warning = warning
    self.reply = reply
    self.reactions = reactions
    self.thread = thread
    self.readers = readers
    self.readerCount = readerCount ?? readers.count
  }

  /// Whether anything of it stands below the bubble.
  var standsBelow: Bool { !reactions.isEmpty || thread != nil || readerCount > 0 || !footer.utf8.isEmpty || warning != nil }
}

/// A small sign below the bubble. Its words are its title, and are read aloud.
public struct Warning: Sendable {
  public var text: String
  /// Whether it is red.
  public var isSerious: Bool

  public init(_ text: String, isSerious: Bool) {
    self.text = text
    self.isSerious = isSerious
  }
}

/// The message that this one answers.
public struct ReplyQuote: Sendable {
  /// nil while it is not known who wrote it.
  public var sender: Sender?
  public var text: String
  /// Its row, if there is one in this timeline: a click goes there. Otherwise the host is asked (`TimelineAction.openReply`).
  public var row: RowID?

  public init(sender: Sender?, text: String, row: RowID? = nil) {
    self.sender = sender
    self.text = text
    self.row = row
  }
}

public struct Reaction: Sendable {
  /// An emoji or a short text.
  public var key: String
  /// A picture instead of the key's text.
  public var source: String?
  public var count: Int
  /// The reader reacted so.
  public var isOwn: Bool
  /// Who did, in the reader's language; shown by hovering and read aloud.
  public var people: String

  public init(key: String, source: String? = nil, count: Int, isOwn: Bool = false, people: String = "") {
    self.key = key
    self.source = source
    self.count = count
    self.isOwn = isOwn
    self.people = people
  }
}

/// The thread that begins at a message.
public struct ThreadChip: Sendable {
  public var replyCount: Int
  public var lastSender: Sender?
  public var lastText: String
  public var isUnread: Bool

  public init(replyCount: Int, lastSender: Sender?, lastText: String, isUnread: Bool = false) {
    self.replyCount = replyCount
    self.lastSender = lastSender
    self.lastText = lastText
    self.isUnread = isUnread
  }
}
