import JSON
import MatrixClient
import MatrixModel

/// A room as a page, written event by event from the oldest on. Nothing in it runs, and it loads nothing from elsewhere.
struct HTMLTranscript {
  private let output: OutputFile
  private let relations: ExportRelations
  private let mediaFolder: String
  private let mediaName: String
  /// As the members were called when they wrote.
  private var names: [UserID: String] = [:]
  /// Of messages that a reply quotes: whose and what, escaped.
  private var quotes: [EventID: (name: String, text: String)] = [:]
  private var day = ""
  private var lastSender: UserID?
  private var lastTime: Int64 = 0

  /// Messages of one sender within this time stand under one name.
  static let groupMilliseconds: Int64 = 5 * 60_000

  init(_ output: OutputFile, _ relations: ExportRelations, mediaFolder: String, mediaName: String) {
    self.output = output
    self.relations = relations
    self.mediaFolder = mediaFolder
    self.mediaName = mediaName
  }

  func begin(title: String, topic: String?, id: RoomID, at time: Int64) throws(TerminalError) {
    let name = HTMLText.escaped(HarmlessText.line(title))
    try output.append(
      """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="\(HTMLStyle.policy)">
      <meta name="referrer" content="no-referrer">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(name)</title>
      <style>\(HTMLStyle.sheet)</style>
      </head>
      <body>
      <header><h1>\(name)</h1>\(topic.map { "<p>\(HTMLText.escaped($0))</p>" } ?? "")
      <p class="about">\(HTMLText.escaped(id.string)) · exported \(Clock.text(time)) UTC by Martlet; all times are UTC</p></header>
      <main>

      """)
  }

  func end() throws(TerminalError) { try output.append("</main>\n</body>\n</html>\n") }

  /// - Parameters:
  ///   - edit: the newest one of the event's sender.
  ///   - file: path of the event's file beside the page.
  mutating func add(_ event: Event, edit: Event?, file: String?) throws(TerminalError) {
    guard let id = event.eventID, let sender = event.sender, let entry = TranscriptEntry(event) else {
      noteName(event)
      return
    }
    let time = Clock.text(entry.timestampMilliseconds)
    try beginDay(String(time.prefix(10)))
    if case .state(let change) = entry.content {
      noteName(event)
      let words = change.english(sender: name(of: sender)) { name(of: $0) }
      try output.append(
        "<p class=\"state\" id=\"\(anchor(id))\">\(HTMLText.escaped(words)) <time>\(time.suffix(5))</time></p>\n")
      lastSender = nil
      return
    }
    try beginMessage(id, sender, entry.timestampMilliseconds, time)
    try addReply(entry)
    var body = entry
    if let edit = edit?.edit?.content { body.edit(edit) }
    try addBody(body, event, file)
    try addReactions(to: id)
    try output.append("</article>\n")
    if relations.isAnswered(id) { quotes[id] = (HTMLText.escaped(name(of: sender)), HTMLText.excerpt(Self.quoted(body))) }
  }

  // MARK: Around a message

  private mutating func noteName(_ event: Event) {
    guard event.type == .member, let user = event.stateKey.flatMap({ UserID($0) }),
      event.content["membership"]?.isString("join") == true
    else { return }
    names[user] = event.content["displayname"]?.string.flatMap { $0.isEmpty ? nil : HarmlessText.line($0) }
  }

  private func name(of user: UserID) -> String { names[user] ?? user.string }

  private func anchor(_ id: EventID) -> String { HTMLText.escaped(PercentEncoding.encode(id.text)) }

  private mutating func beginDay(_ date: String) throws(TerminalError) {
    guard date != day else { return }
    day = date
    lastSender = nil
    try output.append("<h2>\(HTMLText.escaped(date))</h2>\n")
  }

  private mutating func beginMessage(
    _ id: EventID, _ sender: UserID, _ milliseconds: Int64, _ time: String
  ) throws(TerminalError) {
    let continues = sender == lastSender && (0..<Self.groupMilliseconds).contains(milliseconds &- lastTime)
    lastSender = sender
    lastTime = milliseconds
    try output.append("<article id=\"\(anchor(id))\"\(continues ? "" : " class=\"first\"")>")
    guard !continues else { return }
    let hue = sender.text.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) % 360 }
    try output.append(
      "<h3 title=\"\(HTMLText.escaped(sender.string))\" style=\"--hue:\(hue)\">\(HTMLText.escaped(name(of: sender))) "
        + "<time>\(time.suffix(5))</time></h3>")
  }

  private func addReply(_ entry: TranscriptEntry) throws(TerminalError) {
    guard let target = entry.replyTo else { return }
    guard let quote = quotes[target] else { return try output.append("<blockquote>a message that is not here</blockquote>") }
    try output.append("<blockquote><a href=\"#\(anchor(target))\">\(quote.name)</a> \(quote.text)</blockquote>")
  }

  private func addReactions(to id: EventID) throws(TerminalError) {
    let reactions = relations.reactions(to: id)
    guard !reactions.isEmpty else { return }
    let marks = reactions.map { "<span>\(HTMLText.excerpt($0.key.string, limit: 20)) \($0.count)</span>" }
    try output.append("<p class=\"reactions\">\(marks.joined())</p>")
  }

  private static func quoted(_ entry: TranscriptEntry) -> String {
    switch entry.content {
    case .message(let message): message.attachment?.fileName.string ?? message.words
    default: "message removed"
    }
  }

  // MARK: What it says

  private func addBody(_ entry: TranscriptEntry, _ event: Event, _ file: String?) throws(TerminalError) {
    switch entry.content {
    case .message(let message):
      if let attachment = message.attachment { try addFile(attachment, file) }
      if message.attachment == nil || message.caption != nil {
        let emote = message.kind == .emote ? "* \(HTMLText.escaped(name(of: entry.sender))) " : ""
        let text = message.attachment == nil ? message.words : message.body.string
        let edited = entry.isEdited ? " <small>(edited)</small>" : ""
        try output.append(
          "<p\(message.kind == .notice ? " class=\"notice\"" : "")>\(emote)\(HTMLText.escaped(text))\(edited)</p>"
        )
      }
    case .redacted:
      let by = UserID(event.unsigned?["redacted_because"]?["sender"]).flatMap {
        $0 == entry.sender ? nil : " by " + name(of: $0)
      }
      try output.append("<p class=\"gone\">message removed\(HTMLText.escaped(by ?? ""))</p>")
    case .undecryptable: try output.append("<p class=\"gone\">encrypted; no key to read it</p>")
    case .call(let call): try output.append("<p class=\"gone\">\(call.english)</p>")
    case .custom(let event):
      try output.append("<p class=\"gone\">\(HTMLText.escaped(event.type.string + (event.text.map { ": \($0)" } ?? "")))</p>")
    case .unparsable(let type, _): try output.append("<p class=\"gone\">\(HTMLText.escaped(type.string))</p>")
    case .state, .gap: break
    }
  }

  private func addFile(_ attachment: Attachment, _ file: String?) throws(TerminalError) {
    let name = HTMLText.escaped(HarmlessText.line(attachment.fileName.string))
    let size = attachment.sizeBytes.map { " <small>\(Bytes.text($0))</small>" } ?? ""
    guard let file = file.map({ FileKind.name(of: $0) }) else {
      return try output.append("<p class=\"gone\">file: \(name)\(size)</p>")
    }
    let path = mediaFolder + "/" + file
    let picture = HTMLMedia.pictureType(path)
    try output.append(
      picture == nil
        ? "<p class=\"file\"><a download=\"\(name)\" href=\"" : "<p class=\"file\"><img alt=\"\(name)\" loading=\"lazy\" src=\""
    )
    if HTMLMedia.isEmbedded(path) {
      // Nothing but a picture is ever shown by the browser itself: the rest is to be saved.
      try HTMLMedia.writeDataURI(path, type: picture ?? "application/octet-stream", to: output)
    } else {
      try output.append(
        HTMLText.escaped(PercentEncoding.encode(ByteString(mediaName)) + "/" + PercentEncoding.encode(ByteString(file))))
    }
    try output.append(picture == nil ? "\">\(name)</a>\(size)</p>" : "\"></p>")
  }
}
