/// Every text the messenger itself says. The defaults are English. One object: as a value its copies would be much code.
public final class Phrases {
  public var newMessagesDivider = "New messages"
  /// At the button that leads to the end, and said once for several messages that came together.
  public var newMessages: (Int) -> String = { $0 == 1 ? "1 new message" : "\($0) new messages" }
  public var jumpToEnd = "Jump to the latest message"
  public var timeline = "Messages"
  public var startOfHistory = "This is the beginning of the conversation."
  public var loading = "Loading messages…"
  public var loadingFailed = "Could not load messages."
  public var loadMore = "Show more"
  public var gap = "Some messages are missing here."
  public var reply = "Reply"
  public var moreActions = "More actions"
  public var showChanges = "Show all"
  public var hideChanges = "Show less"
  /// Said of a row that is chosen.
  public var selected = "Selected"
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
  public var openVideo: (String) -> String = { "Open video \($0)" }
  public var uploading = "Uploading"
  public var play = "Play"
  public var pause = "Pause"
  public var seek = "Position"
  public var playbackRate = "Speed"
  public var copyCode = "Copy"
  public var location = "Location"
  public var liveLocation = "Live location"
  public var poll: (String) -> String = { "Poll: \($0)" }
  public var votes: (Int) -> String = { $0 == 1 ? "1 vote" : "\($0) votes" }
  public var pollVoters: (Int) -> String = { $0 == 1 ? "1 person voted" : "\($0) people voted" }
  public var pollEnded: (Int) -> String = { "Final result, \($0 == 1 ? "1 person" : "\($0) people") voted" }
  /// The reason may be empty.
  public var spoiler: (String) -> String = { $0.utf8.isEmpty ? "Hidden text, show it" : "Hidden text, show it: \($0)" }
  public var replyTo: (String) -> String = { $0.utf8.isEmpty ? "In reply to a message" : "In reply to \($0)" }
  public var replies: (Int) -> String = { $0 == 1 ? "1 reply" : "\($0) replies" }
  public var addReaction = "Add a reaction"
  public var reactWith: (String) -> String = { "React with \($0)" }
  /// The emoji, how many, and who (may be empty).
  public var reaction: (String, Int, String) -> String = { key, count, people in
    people.utf8.isEmpty ? "\(key) \(count)" : "\(key) \(count), \(people)"
  }
  public var readBy: (Int) -> String = { "Read by \($0)" }
  public var sent = "Sent"
  public var delivered = "Delivered"
  public var read = "Read"
  public var endOfHistory = "These are the latest messages."
  public var closeChat = "Close"
  public var composerPlaceholder = "Write a message"
  public var attach = "Attach a file"
  public var send = "Send"
  public var remainingLength: (Int) -> String = { $0 < 0 ? "\(-$0) over the limit" : "\($0) left" }
  public init() {}
}

/// Where the avatars of others stand.
public enum AvatarPlace: UInt8, Sendable {
  /// Beside the first message of a group.
  case groupStart
  /// Beside the last one.
  case groupEnd
  case everyMessage
  case none
}

/// What a timeline needs to know about time and manners. One object, as `Phrases` are.
public final class TimelineOptions {
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
  /// Reactions that are offered beside a message, for one touch.
  public var quickReactions: () -> [String] = { [] }
  /// What the host can do; nothing else is offered.
  public var actions: ActionSet = [.openMedia, .openFile, .openSender, .retry]
  public var avatars = AvatarPlace.groupStart
  /// How a `MessengerView` lets rows stand; a timeline alone is told by `use`.
  public var policy: ListPolicy = []
  /// Calls back after some milliseconds. Without it there is no motion of rows that go, and a burst of messages is what comes in one step.
  public var after: ((Int, @escaping () -> Void) -> Void)?
  /// Pixels rendered above and below what is visible.
  public var overscan: Double = 500
  /// Older rows are asked for when fewer viewports than this are left above.
  public var leadViewports: Double = 2
  /// The reader counts as being at the end within this many pixels.
  public var followDistance: Double = 16
  public init() {}
}
