/// What the open room says.
extension Strings {
  // MARK: Rows
  static let replyUnavailable = "This message is not available."
  static let youName = "You"
  static func list(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }
  static func andMore(_ text: String, _ count: Int) -> String { text + " and \(count) more" }
  static func joinedRoom(_ names: String) -> String { names + " joined" }
  static func moreChanges(_ first: String, _ count: Int) -> String {
    first + (count == 1 ? " · 1 more change" : " · \(count) more changes")
  }

  // MARK: Acting
  static let reply = "Reply"
  static let replyInThread = "Reply in thread"
  static let react = "React"
  static let editMessage = "Edit"
  static let copyLink = "Copy link"
  static let pin = "Pin"
  static let unpin = "Unpin"
  static let endPoll = "End the poll"
  static let report = "Report"
  static let reportTitle = "Report this message?"
  static let reportNote = "Whoever runs the server sees it, with what you write."
  static let reportReason = "Reason"
  static let reporting = "Reporting…"
  static let reported = "The message was reported."
  static let viewSource = "View source"
  static let source = "Source"
  static let history = "History of edits"
  static let emojiTitle = "Pick a reaction"
  static let emojiSearch = "Search emoji"
  static let noEmoji = "No emoji has that name."
  static let reactions = "Reactions"
  static let readers = "Read by"
  static let playFailed = "This cannot be played."
  static let pollEndedText = "The poll has ended."
  static let eventGone = "This message cannot be found."
  static let showLatest = "Go to the latest messages"
}

extension Strings {
  // MARK: Writing
  static let editing = "Editing a message"
  static func replyingTo(_ name: String, _ text: String) -> String { "Replying to " + name + ": " + text }
  static func unknownCommand(_ name: String) -> String {
    "There is no command /" + name + ". Begin with // to send it as a message."
  }
  static func commandUse(_ use: String) -> String { "Write it like this: " + use }
  static let completions = "Suggestions"

  // MARK: Beside the room
  static let thread = "Thread"
  static let pinned = "Pinned messages"
  static let nothingPinned = "Nothing is pinned here."
  static let searchRoom = "Search in this room"
  static let searchFor = "Search for"
  static let searching = "Searching…"
  static let nothingFound = "Nothing was found."
  static let moreResults = "Show more"
  static let jumpToDate = "Jump to a date"
  static let date = "Date"
  static let jump = "Jump"
  static let firstUnread = "First unread message"
  static let nothingUnread = "Everything is read."
  static let roomMenu = "More about this room"
  static let hideLinkPreviews = "Hide previews of links"
  static let linkPreviews = "Show previews of links"
}
