import Glibc
import JSON
import MatrixClient
import MatrixModel
import Shell

/// Puts a message into the outbox and stays with it until the server has it.
enum Sending {
  static func send(_ message: OutgoingMessage, to room: RoomID, by client: MatrixClient, _ bar: ProgressBar) async throws
    -> EventID
  {
    var changes = await client.changes().makeAsyncIterator()
    try await client.perform(.timeline(.openRoom(room)))
    while await client.state(of: room)?.timeline.loadState != .loaded {
      guard await changes.next() != nil else { throw ClientError.cancelled }
    }
    let before = Set(await client.state(of: room)?.timeline.items.map { $0.id } ?? [])
    try await client.perform(.sending(.send(room, message)))
    let own = await client.userID
    let new = await client.state(of: room)?.timeline.items.filter { !before.contains($0.id) && $0.sender == own } ?? []
    guard let id = (new.last { $0.isEcho } ?? new.last)?.id else { throw ClientError.badAnswer }
    defer { bar.clear() }
    while true {
      let item = await client.state(of: room)?.timeline.items.last { $0.id == id }
      if let event = try await delivered(item, in: room, by: client, bar) { return event }
      guard await changes.next() != nil else { throw ClientError.cancelled }
    }
  }

  /// nil while it is on its way. What does not get there is taken back.
  private static func delivered(
    _ item: TimelineItem?, in room: RoomID, by client: MatrixClient, _ bar: ProgressBar
  ) async throws -> EventID? {
    guard let item else { throw ClientError.cancelled }
    switch item.delivery {
    case .received, .sent:
      if let event = item.eventID { return event }
    case .failed(let error):
      try await client.perform(.sending(.cancel(room, .item(item.id))))
      throw error
    case .uploading(let sent, let total):
      bar.show(Double(sent) / Double(max(total, 1)), "\(Bytes.text(sent)) of \(Bytes.text(total))")
    case .queued, .held, .sending: break
    }
    switch await client.connectionState {
    case .reconnecting, .offline:
      try await client.perform(.sending(.cancel(room, .item(item.id))))
      throw ClientError.network
    case .idle: throw ClientError.notSignedIn
    case .connecting, .firstSync, .running: return nil
    }
  }
}

extension TimelineItem {
  fileprivate var isEcho: Bool {
    if case .received = delivery { return false }
    return true
  }
}

enum Bytes {
  /// `1.5 MiB`
  static func text(_ bytes: Int64) -> String {
    Table.bytes((try? JSON.object { $0.member("b", bytes) })?["b"])
  }
}

extension OutgoingMessage {
  /// An event has at most 65,536 bytes, with all that stands around the text.
  static let textBytesLimit = 60_000

  /// What `send` was given: a text, standard input, a file.
  static func read(_ call: TerminalCall) throws -> OutgoingMessage {
    let arguments = call.arguments
    let written = arguments.operands.count > 1 ? arguments.operands[1] : nil
    let style: Style = arguments.has("--notice") ? .notice : arguments.has("--emote") ? .emote : .text
    guard !(arguments.has("--notice") && arguments.has("--emote")) else {
      throw TerminalError.usage("--notice and --emote do not go together")
    }
    var replyTo: EventID?
    if let event = arguments.text("--reply-to") {
      replyTo = EventID(event)
      if replyTo == nil { throw TerminalError.usage("--reply-to takes an event ID ($…); martlet read --json shows them") }
    }
    if let path = arguments.text("--file") {
      guard written == nil, style == .text, replyTo == nil, !arguments.has("--plain") else {
        throw TerminalError.usage("--file goes without a text, --notice, --emote, --plain and --reply-to")
      }
      return try file(call.surroundings.path(path))
    }
    let text = try input(call) ?? written ?? ""
    guard text.utf8.count <= textBytesLimit else { throw tooLong }
    guard text.contains(where: { !$0.isWhitespace }) else { throw TerminalError.usage("there is no text to send") }
    let message = OutgoingMessage.message(try formatted(text, isPlain: arguments.has("--plain")), style: style)
    return replyTo.map { message.replying(to: .event($0)) } ?? message
  }

  /// Markdown, beside which the HTML that it means goes along.
  static func formatted(_ text: String, isPlain: Bool) throws(TerminalError) -> FormattedText {
    if isPlain { return FormattedText(ByteString(text)) }
    let formatted = FormattedText.markdown(ByteString(text))
    guard formatted.body.count + (formatted.html?.count ?? 0) <= textBytesLimit else {
      throw .failed(
        "with its format the text is longer than \(textBytesLimit) bytes; send it with --plain or as a file: --file PATH")
    }
    return formatted
  }

  private static var tooLong: TerminalError {
    .failed("the text is longer than \(textBytesLimit) bytes; send it as a file: --file PATH")
  }

  /// The text from standard input; nil if the command line has it, or a file.
  static func input(_ call: TerminalCall) throws -> String? {
    let text = call.arguments.operands.count > 1 ? call.arguments.operands[1] : nil
    guard text == nil || text == "-", !call.arguments.has("--file") else { return nil }
    let bytes = try call.surroundings.input(limit: textBytesLimit)
    guard bytes.count <= textBytesLimit else { throw tooLong }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw TerminalError.failed("that is no text (no UTF-8); send it as a file: --file PATH")
    }
    return text
  }

  private static func file(_ path: String) throws -> OutgoingMessage {
    var status = stat()
    guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
      throw TerminalError.failed("\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw TerminalError.failed("\(path) is no file") }
    let kind = FileKind(path: path)
    let attachment = Attachment(
      fileName: ByteString(FileKind.name(of: path)), blob: BlobHandle(ByteString(path)), mimeType: ByteString(kind.mimeType),
      sizeBytes: Int64(status.st_size))
    return .attachment(kind: kind.message, attachment)
  }
}
