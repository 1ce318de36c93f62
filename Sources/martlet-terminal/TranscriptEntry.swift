import JSON
import MatrixClient
import MatrixModel
import Transcripts

/// One line of a room as `read` shows it.
struct TranscriptEntry: Sendable {
  let eventID: EventID
  let sender: UserID
  let timestampMilliseconds: Int64
  var content: TimelineItem.Content
  var replyTo: EventID?
  var isEdited = false
  var trust: MessageTrust?
  var reactions: [Reaction] = []

  struct Reaction: Sendable, Hashable {
    let key: String
    let sender: UserID
  }

  /// nil for what has no line of its own: reactions, edits, redactions, settings that a room begins with.
  init?(_ event: Event) {
    guard let eventID = event.eventID, let sender = event.sender, let item = event.item else { return nil }
    self.eventID = eventID
    self.sender = sender
    timestampMilliseconds = event.originServerTimestamp ?? 0
    content = item.content
    replyTo = item.replyTo
    if let edit = event.bundledEdit { self.edit(edit) }
  }

  /// nil for gaps and for what the server has not given.
  init?(_ item: TimelineItem) {
    guard let eventID = item.eventID, case .received = item.delivery else { return nil }
    if case .gap = item.content { return nil }
    self.eventID = eventID
    sender = item.sender
    timestampMilliseconds = item.timestampMilliseconds
    content = item.content
    replyTo = item.replyTo
    isEdited = item.isEdited
    trust = item.trust
    reactions = item.reactions.flatMap { reaction in
      reaction.senders.map { Reaction(key: reaction.key.string, sender: $0) }
    }
  }

  /// Only messages are edited.
  mutating func edit(_ message: MessageContent) {
    guard case .message = content else { return }
    content = .message(message)
    isEdited = true
  }

  // MARK: For people

  /// With a line break; further lines of a message are indented, so that none can pass for another message.
  var text: String {
    let time = Clock.text(timestampMilliseconds)
    let lines = HarmlessText.lines(words).split(separator: "\n", omittingEmptySubsequences: false)
    return HarmlessText.line(time) + "  " + lines.joined(separator: "\n    ") + "\n"
  }

  private var words: String {
    switch content {
    case .message(let message):
      let warning = trust?.english.map { " [\($0)]" } ?? ""
      let text = (replyTo == nil ? "" : "↳ ") + message.words + (isEdited ? " (edited)" : "") + warning
      return message.kind == .emote ? "* \(sender) \(text)" : "\(sender)  \(text)"
    case .state(let change): return "-- " + Self.words(change, sender)
    case .redacted: return "\(sender)  [message removed]"
    case .undecryptable(let reason):
      return "\(sender)  [encrypted: \(reason.english(sentAt: timestampMilliseconds, at: Clock.now()))]"
    case .call(let call): return "\(sender)  [\(call.english)]"
    case .verification(let verification): return "\(sender)  [\(verification.english)]"
    case .custom(let event): return "\(sender)  [\(event.type)]\(event.text.map { " \($0)" } ?? "")"
    case .unparsable(let type, _): return "\(sender)  [\(type)]"
    case .gap: return ""
    }
  }

  private static func words(_ change: StateChange, _ sender: UserID) -> String {
    change.english(sender: sender.string) { $0.string }
  }

  // MARK: For machines

  func write(to writer: inout JSONWriter, in room: RoomID) {
    writer.member("room_id", room)
    writer.member("event_id", eventID)
    writer.member("sender", sender)
    writer.member("origin_server_ts", timestampMilliseconds)
    switch content {
    case .message(let message):
      writer.member("kind", message.kind.word)
      writer.member("text", message.body)
      if let attachment = message.attachment { attachment.write(to: &writer) }
    case .state(let change):
      writer.member("kind", "state")
      writer.member("text", Self.words(change, sender))
    case .redacted: writer.member("kind", "redacted")
    case .undecryptable(let reason):
      writer.member("kind", "undecryptable")
      writer.member("reason", reason.name)
    case .verification(let verification):
      writer.member("kind", "verification")
      writer.member("text", verification.english)
    case .call(let call):
      writer.member("kind", "call")
      writer.member("text", call.english)
    case .custom(let event):
      writer.member("kind", "unknown")
      if let text = event.text { writer.member("text", text) }
      writer.member("type", event.type)
    case .unparsable(let type, _):
      writer.member("kind", "unknown")
      writer.member("type", type)
    case .gap: break
    }
    if let replyTo { writer.member("reply_to", replyTo) }
    if isEdited { writer.member("edited", true) }
    if let trust { writer.member("trust", trust.name) }
  }
}

extension MessageContent {
  /// Text, or what the file is, or a poll with its answers.
  var words: String {
    if let poll { return "[poll] \(body)" + poll.answers.map { "\n- \($0.text)" }.joined() }
    if let liveLocation { return "[live location] \(liveLocation.description?.string ?? "")" }
    guard let attachment else { return ([body.string] + gallery.map { $0.words }).joined(separator: "\n") }
    let size = attachment.sizeBytes.map { ", " + Bytes.text($0) } ?? ""
    let place = (attachment.encrypted?.source ?? attachment.source).map { ", \($0)" } ?? ""
    return "[\(kind.word): \(attachment.fileName)\(size)\(place)]\(caption.map { " \($0)" } ?? "")"
  }
}

extension MessageContent.Kind {
  var word: String {
    switch self {
    case .text: "text"
    case .emote: "emote"
    case .notice: "notice"
    case .image: "image"
    case .video: "video"
    case .audio: "audio"
    case .file: "file"
    case .location: "location"
    case .sticker: "sticker"
    case .voice: "voice"
    case .gallery: "gallery"
    case .poll: "poll"
    case .liveLocation: "live_location"
    case .unknown: "unknown"
    }
  }
}

extension Attachment {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.key("file")
    writer.object { writer in
      writer.member("name", fileName)
      if let source = encrypted?.source ?? source { writer.member("url", source) }
      if encrypted != nil { writer.member("encrypted", true) }
      if let mimeType { writer.member("mimetype", mimeType) }
      if let sizeBytes { writer.member("size", sizeBytes) }
    }
  }
}
