/// What a screen reader says of a message: one sentence.
enum SpokenRow {
  /// Bytes of a message's text that are spoken.
  static let textLimit = 300

  /// Who, when, what, and what became of it.
  static func sentence(_ message: MessageRow, clock: String, _ phrases: Phrases) -> String {
    var spoken = message.sender.name
    if !message.sender.role.utf8.isEmpty { spoken += ", " + message.sender.role }
    spoken += ", " + clock
    switch message.sendState {
    case .sending: spoken += ", " + phrases.sending
    case .queued: spoken += ", " + phrases.queued
    case .failed: spoken += ", " + phrases.failed
    case .sent: break
    }
    if message.isEdited { spoken += ", " + phrases.edited }
    switch message.receipt {
    case .hidden: break
    case .sent: spoken += ", " + phrases.sent
    case .delivered: spoken += ", " + phrases.delivered
    case .read: spoken += ", " + phrases.read
    }
    let around = message.surroundings
    if let header = around?.header, !header.utf8.isEmpty { spoken += ", " + header }
    if let reply = around?.reply { spoken += ", " + phrases.replyTo(reply.sender?.name ?? "") }
    let text = text(message, phrases)
    if !text.utf8.isEmpty { spoken += ": " + text }
    guard let around else { return spoken }
    if let warning = around.warning { spoken += ", " + warning.text }
    for reaction in around.reactions.prefix(5) { spoken += ", " + phrases.reaction(reaction.key, reaction.count, "") }
    if let thread = around.thread { spoken += ", " + phrases.replies(thread.replyCount) }
    return spoken
  }

  /// The words of a message.
  static func text(_ message: MessageRow, _ phrases: Phrases) -> String {
    switch message.body {
    case .text(let text), .emote(let text), .notice(let text): return clipped(text)
    case .redacted: return phrases.redacted
    case .undecryptable(let why): return why.utf8.isEmpty ? phrases.undecryptable : why
    case .unsupported(let text): return text.utf8.isEmpty ? phrases.unsupported : clipped(text)
    case .parts(let parts, _):
      var spoken = ""
      for part in parts {
        guard spoken.utf8.count < textLimit else { break }
        if !spoken.utf8.isEmpty { spoken += ", " }
        spoken += self.text(part, phrases)
      }
      return spoken
    }
  }

  private static func text(_ part: ContentPart, _ phrases: Phrases) -> String {
    switch part {
    case .text(let text): clipped(text)
    case .rich(let text): clipped(text.plain(limit: textLimit))
    case .image(let image), .sticker(let image): image.name
    case .video(let video): video.poster.name
    case .gallery(let gallery):
      gallery.items.first.map { gallery.items.count == 1 ? $0.picture.name : $0.picture.name + " +\(gallery.items.count - 1)" }
        ?? ""
    case .file(let file): file.name
    case .audio(let audio): audio.name + " " + ClockText.minutes(audio.durationMilliseconds)
    case .location(let location): phrases.location + " " + location.name
    case .poll(let poll): phrases.poll(poll.question)
    case .preview(let preview): preview.title
    case .contact(let contact): contact.name
    case .custom(let content): content.spoken
    }
  }

  /// The beginning of a text, cut between two letters.
  static func clipped(_ text: String) -> String {
    guard text.utf8.count > textLimit else { return text }
    var bytes = Array(Array(text.utf8)[..<textLimit])
    while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
    if let last = bytes.last, last >= 0xC0 { bytes.removeLast() }
    return String(decoding: bytes, as: UTF8.self) + "…"
  }
}
