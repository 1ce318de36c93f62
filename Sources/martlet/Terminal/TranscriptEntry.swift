import JSON
import MatrixClient
import MatrixModel

/// One line of a room as `read` shows it.
struct TranscriptEntry: Sendable {
  enum Kind: Sendable {
    case message(MessageContent)
    /// In words, the sender's name in front.
    case state(String)
    case redacted
    case undecryptable
    case unknown(EventType)
  }

  let eventID: EventID
  let sender: UserID
  let timestampMilliseconds: Int64
  var kind: Kind
  var replyTo: EventID?
  var isEdited = false

  /// nil for what has no line of its own: reactions, edits, redactions, settings that a room begins with.
  init?(_ event: Event) {
    guard let eventID = event.eventID, let sender = event.sender else { return nil }
    self.eventID = eventID
    self.sender = sender
    timestampMilliseconds = event.originServerTimestamp ?? 0
    if event.stateKey != nil {
      guard let change = event.stateChange else { return nil }
      kind = .state(StateWords.line(change, sender: sender.string))
      return
    }
    switch event.type {
    case .message, .sticker, .encrypted:
      if event.isRedacted || event.content.count == 0 {
        kind = .redacted
      } else if event.type == .encrypted {
        kind = .undecryptable
      } else if event.edited != nil {
        return nil
      } else if let message = event.message {
        let edit = event.bundledEdit?.newMessage
        kind = .message(edit ?? message)
        isEdited = edit != nil
        replyTo = event.replyTo
      } else {
        kind = .unknown(event.type)
      }
    case .reaction, .redaction: return nil
    default: kind = .unknown(event.type)
    }
  }

  /// nil for gaps and for what the server has not given.
  init?(_ item: TimelineItem) {
    guard let eventID = item.eventID, case .received = item.delivery else { return nil }
    self.eventID = eventID
    sender = item.sender
    timestampMilliseconds = item.timestampMilliseconds
    replyTo = item.replyTo
    isEdited = item.isEdited
    switch item.content {
    case .message(let message): kind = .message(message)
    case .state(let change): kind = .state(StateWords.line(change, sender: item.sender.string))
    case .redacted: kind = .redacted
    case .undecryptable: kind = .undecryptable
    case .unparsable(let type): kind = .unknown(type)
    case .gap: return nil
    }
  }

  // MARK: For people

  /// With a line break; further lines of a message are indented, so that none can pass for another message.
  var text: String {
    let time = Clock.text(timestampMilliseconds)
    let lines = HarmlessText.lines(words).split(separator: "\n", omittingEmptySubsequences: false)
    return HarmlessText.line(time) + "  " + lines.joined(separator: "\n    ") + "\n"
  }

  private var words: String {
    switch kind {
    case .message(let message):
      let text = (replyTo == nil ? "" : "↳ ") + message.words + (isEdited ? " (edited)" : "")
      return message.kind == .emote ? "* \(sender) \(text)" : "\(sender)  \(text)"
    case .state(let text): return "-- " + text
    case .redacted: return "\(sender)  [message removed]"
    case .undecryptable: return "\(sender)  [encrypted; this client has no key]"
    case .unknown(let type): return "\(sender)  [\(type)]"
    }
  }

  // MARK: For machines

  func write(to writer: inout JSONWriter, in room: RoomID) {
    writer.member("room_id", room)
    writer.member("event_id", eventID)
    writer.member("sender", sender)
    writer.member("origin_server_ts", timestampMilliseconds)
    switch kind {
    case .message(let message):
      writer.member("kind", message.kind.word)
      writer.member("text", message.body)
      if let attachment = message.attachment { attachment.write(to: &writer) }
    case .state(let text):
      writer.member("kind", "state")
      writer.member("text", text)
    case .redacted: writer.member("kind", "redacted")
    case .undecryptable: writer.member("kind", "undecryptable")
    case .unknown(let type):
      writer.member("kind", "unknown")
      writer.member("type", type)
    }
    if let replyTo { writer.member("reply_to", replyTo) }
    if isEdited { writer.member("edited", true) }
  }
}

extension MessageContent {
  /// Text, or what the file is.
  var words: String {
    guard let attachment else { return body.string }
    let size = attachment.sizeBytes.map { ", " + Bytes.text($0) } ?? ""
    let caption = body == attachment.fileName ? "" : " " + body.string
    return "[\(kind.word): \(attachment.fileName)\(size)\(attachment.source.map { ", \($0)" } ?? "")]\(caption)"
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
    case .unknown: "unknown"
    }
  }
}

extension Attachment {
  fileprivate func write(to writer: inout JSONWriter) {
    writer.key("file")
    writer.object { writer in
      writer.member("name", fileName)
      if let source { writer.member("url", source) }
      if let mimeType { writer.member("mimetype", mimeType) }
      if let sizeBytes { writer.member("size", sizeBytes) }
    }
  }
}
