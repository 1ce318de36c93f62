import JSON
import MatrixModel
import ServerRooms

/// What one mail tells: who wrote what in which rooms, in names and lines that are fit to be shown.
struct UnreadMail: Sendable {
  struct Room: Sendable {
    let roomID: RoomID
    let title: String
    /// The newest, oldest of them first.
    var lines: [Line]
    /// Notifications in the room, those of `lines` included.
    let count: Int64
    let isInvitation: Bool
  }

  /// Who, and what they said or did.
  struct Line: Sendable, Equatable {
    let sender: String
    let preview: MessagePreview
  }

  /// Rooms that are shown with their messages; of more the number is told.
  static let roomsLimit = 20
  /// Messages that are shown of a room.
  static let linesLimit = 10

  let user: UserID
  /// At least one.
  var rooms: [Room]
  var otherRooms = 0
  /// Notifications in all rooms.
  var count: Int64
}

/// What is shown of an event.
enum MessagePreview: Sendable, Equatable {
  /// `Bob: hello`
  case said(String)
  /// `Bob sent a picture`
  case did(String)

  /// Characters (scalars) of a message.
  static let charactersLimit = 300

  init(_ event: StoredEvent) {
    self =
      switch event.type {
      case .message: Self.message(event)
      case .encrypted: .did("sent an encrypted message")
      case .member where event.content["membership"]?.isString("invite") ?? false: .did("sent an invitation")
      case .sticker: .did("sent a sticker")
      case "m.call.invite", "m.call.notify", "m.rtc.notification": .did("called")
      default: .did("did something new")
      }
  }

  private static func message(_ event: StoredEvent) -> MessagePreview {
    let text = OneLine.text(body(of: event), limit: charactersLimit)
    let kind = event.content["msgtype"]?.string ?? ""
    let things = [
      "m.image": "a picture", "m.file": "a file", "m.audio": "a sound", "m.video": "a video", "m.location": "a place"
    ]
    if let thing = things[kind] { return .did("sent \(thing)" + (text.isEmpty ? "" : ": \(text)")) }
    if text.isEmpty { return .did("sent a message") }
    return kind == "m.emote" ? .did(text) : .said(text)
  }

  /// The text without the words that a reply repeats. Spec: "Fallbacks for rich replies" of v1.12 and before.
  private static func body(of event: StoredEvent) -> String {
    let body = event.content["body"]?.string ?? ""
    guard event.content["m.relates_to"]?["m.in_reply_to"] != nil, body.hasPrefix("> ") else { return body }
    let lines = body.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.drop { $0.hasPrefix("> ") }.joined(separator: "\n")
  }
}

/// Text that others chose, as one line: it cannot pass for another line, end a header or turn the reading direction of what follows.
enum OneLine {
  static func text(_ text: String, limit: Int) -> String {
    var line = String.UnicodeScalarView()
    var isBlank = true
    for scalar in text.unicodeScalars {
      if isDirection(scalar) { continue }
      if isBreak(scalar) {
        isBlank = true
        continue
      }
      if line.count >= limit {
        line.append("…")
        break
      }
      if isBlank, !line.isEmpty { line.append(" ") }
      isBlank = false
      line.append(scalar)
    }
    return String(line)
  }

  private static func isBreak(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .spaceSeparator, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  /// Bidirectional formatting: Unicode Standard Annex #9, "Directional Formatting Characters".
  private static func isDirection(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: true
    default: false
    }
  }
}
