/// Every text the messenger itself says. The defaults are English.
public struct Phrases {
  public var newMessagesDivider = "New messages"
  public var newMessagesBadge: (Int) -> String = { $0 == 1 ? "1 new message" : "\($0) new messages" }
  public var jumpToEnd = "Jump to the latest message"
  public var timeline = "Messages"
  public var startOfHistory = "This is the beginning of the conversation."
  public var loading = "Loading messages…"
  public var loadingFailed = "Could not load messages."
  public var gap = "Some messages are missing here."
  public var retry = "Try again"
  public var cancel = "Delete"
  public var sending = "Sending…"
  public var queued = "Waiting to send"
  public var failed = "Not sent"
  public var edited = "edited"
  public var redacted = "Message deleted"
  public var undecryptable = "This message could not be decrypted yet."
  public var unsupported = "This kind of message is not supported here."
  public var unreadMembers: (Int) -> String = {
    $0 == 1 ? "1 member has not read this" : "\($0) members have not read this"
  }
  public var typing: (String) -> String = { "\($0) is typing" }
  public var openImage: (String) -> String = { "Open image \($0)" }
  public var composerPlaceholder = "Write a message"
  public var attach = "Attach a file"
  public var send = "Send"
  public var remainingLength: (Int) -> String = { $0 < 0 ? "\(-$0) over the limit" : "\($0) left" }
  public init() {}
}

/// What a timeline needs to know about time and manners.
public struct TimelineOptions {
  /// Consecutive messages of one sender closer than this are one group; 0 never groups.
  public var groupingMilliseconds: Int64 = 120_000
  /// The local calendar day of a moment (milliseconds since 1970, UTC), as a number that grows by one from day to day.
  public var localDay: (Int64) -> Int = { Int(clamping: $0 / 86_400_000) }
  /// The day's heading, for example "Today" or "Monday, 3 November".
  public var dayLabel: (Int64) -> String = { "\($0 / 86_400_000)" }
  /// The clock time of a moment, for example "14:05".
  public var clockLabel: (Int64) -> String = { milliseconds in
    let minutes = Int(milliseconds / 60_000 % 1440)
    return "\(minutes / 60):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60)"
  }
  public var phrases = Phrases()
  /// Pixels rendered above and below what is visible.
  public var overscan: Double = 500
  /// Older rows are asked for when fewer viewports than this are left above.
  public var leadViewports: Double = 2
  /// The reader counts as being at the end within this many pixels.
  public var followDistance: Double = 16
  public init() {}
}
