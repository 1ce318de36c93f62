import JSON
import MatrixModel

/// What becomes of an event that one might be told of.
public enum NotificationOutcome: Sendable {
  case content(NotificationContent)
  /// The push rules are silent, or the event is the user's own.
  case filteredOut
  /// There is nothing to be told any more.
  case redacted
}

/// What a person is told of one event.
public struct NotificationContent: Sendable {
  public enum Subject: Sendable {
    /// Of the timeline, as it is now: edited, too.
    case item(TimelineItem.Content)
    /// A reaction to a message of the user's own; `to` is that message, as far as it is known.
    case reaction(key: ByteString, to: MessageContent?)
    case invitation
  }

  public let roomID: RoomID
  /// nil for invitations.
  public let eventID: EventID?
  public let subject: Subject
  public let sender: UserID
  public let senderName: ByteString
  public let senderAvatar: MediaURI?
  public let roomName: RoomName
  public let roomAvatar: MediaURI?
  public let isDirect: Bool
  public let isEncrypted: Bool
  public let threadRoot: EventID?
  public let isEdited: Bool
  /// Since 1970; 0 where unknown.
  public let timestampMilliseconds: Int64
  /// Whether it calls for more notice than others: it names one, or holds a keyword.
  public let isHighlight: Bool
  /// The sound to play; nil for none.
  public let sound: ByteString?

  public var isNoisy: Bool { sound != nil }

  /// In English: who it is from and, where that says more, in which room.
  public var title: ByteString {
    isDirect ? senderName : ByteString(senderName.string + " in " + roomName.english.string)
  }

  /// In English.
  public var body: ByteString {
    switch subject {
    case .invitation:
      isDirect ? "would like to chat with you" : ByteString("invited you to " + roomName.english.string)
    case .reaction(let key, let message):
      ByteString("reacted with " + key.string + (message.map { " to: " + $0.english(by: "You") } ?? ""))
    case .item(let content): ByteString(english(content))
    }
  }

  private func english(_ content: TimelineItem.Content) -> String {
    switch content {
    case .message(let message): message.english(by: senderName.string)
    case .undecryptable: "sent an encrypted message"
    case .state(let change): change.english(sender: senderName.string) { $0 == sender ? senderName.string : $0.string }
    case .call: "is calling you"
    case .verification: "asks you to verify each other"
    case .custom(let event): event.text?.string ?? "sent something new"
    case .unparsable: "sent something unreadable"
    case .redacted, .gap: ""
    }
  }
}

extension MessageContent {
  fileprivate func english(by sender: String) -> String {
    let caption = caption?.string
    return switch kind {
    case .text, .notice, .unknown: body.string
    case .emote: "* " + sender + " " + body.string
    case .image: caption ?? "sent a picture"
    case .sticker: "sent a sticker"
    case .video: caption ?? "sent a video"
    case .audio: caption ?? "sent a sound"
    case .voice: "sent a voice message"
    case .file: caption ?? "sent the file " + body.string
    case .gallery: body.isEmpty ? "sent pictures" : body.string
    case .location: "sent a place"
    case .liveLocation: "shares where they are"
    case .poll: "asks: " + body.string
    }
  }
}
