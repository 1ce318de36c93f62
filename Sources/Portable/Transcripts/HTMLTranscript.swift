import ClientCore
import JSON
import MatrixModel

/// A room as a page, written event by event from the oldest on. Nothing in it runs, and it loads nothing from elsewhere.
package struct HTMLTranscript {
  /// The file of an event, for a page that has it.
  package struct File {
    /// A `data:` URI, or a path beside the page.
    let address: String
    /// By its bytes: anything else is only offered to be saved.
    let isPicture: Bool

    package init(address: String, isPicture: Bool) {
      self.address = address
      self.isPicture = isPicture
    }
  }

  private let words: TranscriptWords
  private let relations: ExportRelations
  private var output: [UInt8] = []
  /// As the members were called when they wrote.
  private var names: [UserID: String] = [:]
  /// Of messages that a reply quotes: whose and what, escaped.
  private var quotes: [EventID: (name: String, text: String)] = [:]
  private var day = ""
  private var lastSender: UserID?
  private var lastTime: Int64 = 0

  /// Messages of one sender within this time stand under one name.
  private static var groupMilliseconds: Int64 { 5 * 60_000 }

  package init(_ words: TranscriptWords, _ relations: ExportRelations) {
    self.words = words
    self.relations = relations
  }

  /// What was written since the last call, as UTF-8.
  package mutating func take() -> [UInt8] {
    defer { output = [] }
    return output
  }

  /// - Parameter about: which room this is and when it was written.
  package mutating func begin(title: String, topic: String?, about: String) {
    let name = HTMLText.escaped(HarmlessText.line(title))
    let language = HTMLText.escaped(words.language) + (words.isRightToLeft ? "\" dir=\"rtl" : "")
    let topic = topic.map { "<p>" + HTMLText.escaped($0) + "</p>" } ?? ""
    append(
      """
      <!DOCTYPE html>
      <html lang="\(language)">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="\(HTMLStyle.policy)">
      <meta name="referrer" content="no-referrer">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(name)</title>
      <style>\(HTMLStyle.sheet)</style>
      </head>
      <body>
      <header><h1>\(name)</h1>\(topic)
      <p class="about">\(HTMLText.escaped(about))</p></header>
      <main>

      """)
  }

  package mutating func end() { append("</main>\n</body>\n</html>\n") }

  /// - Parameters:
  ///   - edit: the newest one of the event's sender.
  ///   - file: of the event, if the page has it.
  package mutating func add(_ event: Event, edit: Event?, file: File? = nil) {
    guard let id = event.eventID, let sender = event.sender, let item = event.item else { return noteName(event) }
    let time = event.originServerTimestamp ?? 0
    beginDay(words.day(time))
    if case .state(let change) = item.content {
      noteName(event)
      let change = words.state(change, name(of: sender)) { name(of: $0) }
      append(
        "<p class=\"state\" id=\"" + anchor(id) + "\">" + HTMLText.escaped(change) + " <time>"
          + HTMLText.escaped(words.clock(time)) + "</time></p>\n")
      lastSender = nil
      return
    }
    let (content, isEdited) = Self.edited(item.content, edit?.edit?.content ?? event.bundledEdit)
    beginMessage(id, sender, time)
    if let target = item.replyTo { addReply(to: target) }
    addBody(content, isEdited: isEdited, event, sender, file)
    addReactions(to: id)
    append("</article>\n")
    if relations.isAnswered(id) {
      quotes[id] = (HTMLText.escaped(name(of: sender)), HTMLText.excerpt(quoted(content)))
    }
  }

  /// Only messages are edited.
  private static func edited(
    _ content: TimelineItem.Content, _ edit: MessageContent?
  ) -> (content: TimelineItem.Content, isEdited: Bool) {
    guard let edit, case .message = content else { return (content, false) }
    return (.message(edit), true)
  }

  private mutating func append(_ text: String) { output += Array(text.utf8) }

  // MARK: Around a message

  private mutating func noteName(_ event: Event) {
    guard event.type == .member, let user = event.stateKey.flatMap({ UserID($0) }),
      event.content["membership"]?.isString("join") == true
    else { return }
    names[user] = event.content["displayname"]?.string.flatMap { $0.utf8.isEmpty ? nil : HarmlessText.line($0) }
  }

  private func name(of user: UserID) -> String { names[user] ?? words.name(user) ?? user.string }

  private func anchor(_ id: EventID) -> String { HTMLText.escaped(PercentEncoding.encode(id.text)) }

  private mutating func beginDay(_ label: String) {
    guard ByteString(label) != ByteString(day) else { return }
    day = label
    lastSender = nil
    append("<h2>" + HTMLText.escaped(label) + "</h2>\n")
  }

  private mutating func beginMessage(_ id: EventID, _ sender: UserID, _ milliseconds: Int64) {
    let continues = sender == lastSender && (0..<Self.groupMilliseconds).contains(milliseconds &- lastTime)
    lastSender = sender
    lastTime = milliseconds
    append("<article id=\"" + anchor(id) + (continues ? "\">" : "\" class=\"first\">"))
    guard !continues else { return }
    let hue = sender.text.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) % 360 }
    append(
      "<h3 title=\"" + HTMLText.escaped(sender.string) + "\" style=\"--hue:\(hue)\"><bdi>"
        + HTMLText.escaped(name(of: sender)) + "</bdi> <time>" + HTMLText.escaped(words.clock(milliseconds))
        + "</time></h3>")
  }

  private mutating func addReply(to target: EventID) {
    guard let quote = quotes[target] else {
      return append("<blockquote>" + HTMLText.escaped(words.replyMissing) + "</blockquote>")
    }
    append("<blockquote><a href=\"#" + anchor(target) + "\">" + quote.name + "</a> " + quote.text + "</blockquote>")
  }

  private mutating func addReactions(to id: EventID) {
    let reactions = relations.reactions(to: id)
    guard !reactions.isEmpty else { return }
    append("<p class=\"reactions\">")
    for reaction in reactions {
      append("<span>" + HTMLText.excerpt(reaction.key.string, limit: 20) + " \(reaction.count)</span>")
    }
    append("</p>")
  }

  private func quoted(_ content: TimelineItem.Content) -> String {
    guard case .message(let message) = content else { return words.deleted(nil) }
    return message.attachment?.fileName.string ?? words.message(message)
  }

  // MARK: What it says

  private mutating func addBody(
    _ content: TimelineItem.Content, isEdited: Bool, _ event: Event, _ sender: UserID, _ file: File?
  ) {
    switch content {
    case .message(let message):
      if let attachment = message.attachment { addFile(attachment, event, file) }
      if message.attachment == nil || message.caption != nil { addText(message, isEdited: isEdited, sender) }
    case .redacted:
      let remover = UserID(event.unsigned?["redacted_because"]?["sender"])
      addGone(words.deleted(remover.flatMap { $0 == sender ? nil : name(of: $0) }))
    case .undecryptable: addGone(words.encrypted)
    case .call(let call): addGone(words.call(call))
    case .verification(let verification): addGone(words.verification(verification))
    case .custom(let event): addGone(event.type.string + (event.text.map { ": " + $0.string } ?? ""))
    case .unparsable(let type, _): addGone(type.string)
    case .state, .gap: break
    }
  }

  private mutating func addGone(_ text: String) { append("<p class=\"gone\">" + HTMLText.escaped(text) + "</p>") }

  private mutating func addText(_ message: MessageContent, isEdited: Bool, _ sender: UserID) {
    let emote = message.kind == .emote ? "* " + HTMLText.escaped(name(of: sender)) + " " : ""
    let text = message.attachment == nil ? words.message(message) : message.body.string
    let mark = isEdited ? " <small>(" + HTMLText.escaped(words.edited) + ")</small>" : ""
    append(
      (message.kind == .notice ? "<p dir=\"auto\" class=\"notice\">" : "<p dir=\"auto\">") + emote
        + HTMLText.escaped(text) + mark + "</p>")
  }

  private mutating func addFile(_ attachment: Attachment, _ event: Event, _ file: File?) {
    let plainName = HarmlessText.line(attachment.fileName.string)
    let name = HTMLText.escaped(plainName)
    let size = attachment.sizeBytes.map { " <small>" + HTMLText.escaped(words.byteCount($0)) + "</small>" } ?? ""
    guard let file else {
      let label = HTMLText.escaped(words.file(plainName))
      guard let address = event.eventID.flatMap(words.address) else {
        return append("<p class=\"gone\">" + label + size + "</p>")
      }
      return append(
        "<p class=\"file\"><a rel=\"noreferrer\" href=\"" + HTMLText.escaped(address) + "\">" + label + "</a>" + size + "</p>")
    }
    let address = HTMLText.escaped(file.address)
    append(
      file.isPicture
        ? "<p class=\"file\"><img alt=\"" + name + "\" loading=\"lazy\" src=\"" + address + "\"></p>"
        : "<p class=\"file\"><a download=\"" + name + "\" href=\"" + address + "\">" + name + "</a>" + size + "</p>")
  }
}
