/// What a person does with a row.
public enum TimelineAction {
  /// Send a failed message again.
  case retry(RowID)
  /// Give up a message or an upload that is not sent.
  case cancel(RowID)
  /// A picture or video: which part of the message, and which of a gallery.
  case openMedia(RowID, part: Int, item: Int)
  case openFile(RowID, part: Int)
  /// A link in a text; unhandled, the browser opens it in a new tab.
  case openLink(RowID, url: String)
  case openSender(RowID)
  case openMention(RowID, id: String)
  case openLocation(RowID, part: Int)
  /// The message that this one answers is not among the rows.
  case openReply(RowID)
  /// React, or take the own reaction back.
  case react(RowID, key: String)
  /// Choose a reaction; a point of the window in pixels.
  case addReaction(RowID, x: Double, y: Double)
  case showReactors(RowID)
  case openThread(RowID)
  case showReaders(RowID)
  /// The answers that are now chosen, by the poll's own identities.
  case vote(RowID, part: Int, answers: [String])
  /// Play or pause; then the host tells by `setPlayback` what it does.
  case play(RowID, part: Int)
  /// Go to a place in what is played, 0...1.
  case seek(RowID, part: Int, fraction: Double)
  /// Another speed.
  case changeRate(RowID, part: Int)
  /// Put a text into the clipboard.
  case copy(RowID, text: String)
  /// Answer the message.
  case reply(RowID)
  /// Show or hide what is folded into a row, or do what a line offers.
  case toggleFold(RowID)
  /// Try again to fill a gap.
  case retryGap(RowID)
  /// Try again to fetch older rows.
  case retryHead
  /// Try again to fetch newer rows.
  case retryTail
  /// The jump button was pressed while newer rows exist that are not here. Unhandled, the timeline goes to the last row it has.
  case jumpToEnd
  /// The context menu of a row was asked for, at a point of the window in pixels.
  case menu(RowID, x: Double, y: Double)
  /// A key was pressed while the row has the focus that arrow keys gave it: one character, or `Delete`. Unhandled, it is the browser's.
  case key(RowID, String)
}

/// The actions a host can carry out. No control is drawn for the others.
public struct ActionSet: OptionSet, Sendable {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  public static let openMedia = ActionSet(rawValue: 1)
  public static let openFile = ActionSet(rawValue: 1 << 1)
  public static let openSender = ActionSet(rawValue: 1 << 2)
  /// Try again and give up, on messages that failed.
  public static let retry = ActionSet(rawValue: 1 << 3)
  public static let openMention = ActionSet(rawValue: 1 << 4)
  public static let openLocation = ActionSet(rawValue: 1 << 5)
  public static let openReply = ActionSet(rawValue: 1 << 6)
  public static let react = ActionSet(rawValue: 1 << 7)
  public static let addReaction = ActionSet(rawValue: 1 << 8)
  public static let showReactors = ActionSet(rawValue: 1 << 9)
  public static let openThread = ActionSet(rawValue: 1 << 10)
  public static let showReaders = ActionSet(rawValue: 1 << 11)
  public static let vote = ActionSet(rawValue: 1 << 12)
  public static let play = ActionSet(rawValue: 1 << 13)
  public static let copy = ActionSet(rawValue: 1 << 14)
  public static let reply = ActionSet(rawValue: 1 << 15)
  /// A button for the context menu, where a pointer or the keyboard is.
  public static let menu = ActionSet(rawValue: 1 << 16)
  /// Hashtags and dates in texts, as links: `openLink` with `#word` or `date:2026-11-27T14:30`.
  public static let openTerms = ActionSet(rawValue: 1 << 17)
}

/// The rows a reader really sees: at least half of the row, or half of the viewport for taller ones. The last one is the newest.
public struct VisibleRows: Equatable, Sendable {
  public var first: RowID
  public var last: RowID
  /// The end of the newest row is in view.
  public var isAtEnd: Bool
}

/// Where a reader was: which row, and how many pixels of it lie above the viewport's top (negative: the row is below it).
public struct ReadingPosition: Equatable, Sendable {
  public var row: RowID
  public var offset: Double
  public init(row: RowID, offset: Double) {
    self.row = row
    self.offset = offset
  }
}

/// What a transaction does with the reading position.
public enum TransactionMode: UInt8, Sendable {
  /// The scroll position stays the number it is.
  case none
  /// Who is at the end stays there, who reads elsewhere keeps the row before their eyes.
  case natural
  /// The row before the eyes stays, at the end too.
  case keepStable
}

/// How rows come and go, where a person sees it.
public enum RowMotion: UInt8, Sendable {
  case none
  /// One new row rises; nothing else moves.
  case rise
  /// New rows appear where others made room for them, rows that go fade.
  case fade
  /// The same, but messages come in from their sender's side and leave to it.
  case slide
}

/// Where a row shall come to stand.
public enum RowPlace: Sendable {
  case top, centre, bottom
}

/// Someone who is writing right now.
public struct TypingMember: Sendable {
  public var sender: Sender
  public init(_ sender: Sender) { self.sender = sender }
}
