import JSON
import MatrixModel

/// Why an event has no content that can be shown.
public enum UnreadableReason: Error, Sendable {
  /// It lacks a type or a content.
  case noEvent
  /// A message without a type of its own (`msgtype`).
  case noMessageType
  /// No body, question or other text where there must be one.
  case noBody
  /// A poll without answers.
  case noAnswers
}

extension MessageContent {
  package init(_ content: JSON, type: EventType) throws(UnreadableReason) {
    switch type {
    case .sticker:
      guard var body = content.text("body") else { throw .noBody }
      let file = Attachment(content, body: &body)
      self.init(kind: .sticker, body: body, attachment: file)
    case .pollStart, .unstablePollStart: try self.init(poll: content)
    default: try self.init(message: content)
    }
    isSilent = content.isSentSilently
    origin = Origin(content["martlet.forwarded"])
  }

  private init(message content: JSON) throws(UnreadableReason) {
    guard let name = content.text("msgtype") else { throw .noMessageType }
    let kind = Kind(name, in: content)
    guard var body = content.text("body") ?? (kind.hasFile ? content.text("filename") : nil) else { throw .noBody }
    let file = kind.hasFile ? Attachment(content, body: &body) : nil
    self.init(
      kind: kind, body: body, formattedBody: MessageContent.html(content), mentions: Mentions(content["m.mentions"]),
      attachment: file)
    switch kind {
    case .location: details = MessageContent.details(location: content)
    case .gallery: details = MessageContent.details(gallery: content)
    case .text:
      guard let listed = content["martlet.no_preview"] else { break }
      var addresses: [ByteString] = []
      for element in listed.elements where addresses.count < ContentLimits.linksWithoutPreview {
        if let address = element.text, address.count <= ContentLimits.linkBytes { addresses.append(address) }
      }
      details = .text(unpreviewed: addresses)
    case .unknown where content.bytes.count <= ContentLimits.contentBytes:
      // A copy: what it is cut out of is as long as an answer.
      details = .unknown(type: name, content: Array(content.bytes))
    default: break
    }
  }

  static func html(_ content: JSON) -> ByteString? {
    guard content["format"]?.isString("org.matrix.custom.html") ?? false else { return nil }
    return content.text("formatted_body")
  }

  /// What stands in front of a reply, as clients wrote it before version 1.13 of the spec: lines that begin with `>`, and
  /// `<mx-reply>` in the HTML.
  package mutating func removeReplyFallback() {
    if let html = formattedBody { formattedBody = MessageContent.withoutReply(html) }
    guard body.hasPrefix("> ") else { return }
    let bytes = Array(body.utf8)
    var start = 0
    while start < bytes.count, bytes[start] == UInt8(ascii: ">") {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      start = min(end + 1, bytes.count)
    }
    while start < bytes.count, bytes[start] == UInt8(ascii: "\n") { start += 1 }
    if start < bytes.count { body = ByteString(decoding: bytes[start...]) }
  }

  private static func withoutReply(_ html: ByteString) -> ByteString {
    guard html.hasPrefix("<mx-reply>") else { return html }
    let bytes = Array(html.utf8)
    let end = Array("</mx-reply>".utf8)
    var start = 0
    while start + end.count <= bytes.count {
      if bytes[start] == end[0], bytes[start..<(start + end.count)].elementsEqual(end) {
        return ByteString(decoding: bytes[(start + end.count)...])
      }
      start += 1
    }
    return html
  }
}

extension MessageContent.Origin {
  /// nil if the content does not say it.
  package init?(_ json: JSON?) {
    guard let json, json.isObject, let sender = UserID(json["sender"]) else { return nil }
    self.init(sender: sender, name: ShownName.read(json["name"]))
  }

  /// As a member of a message's content.
  package func writeMember(to writer: inout JSONWriter) {
    writer.key("martlet.forwarded")
    writer.object { writer in
      writer.member("sender", sender.text)
      if let name { writer.member("name", name) }
    }
  }
}

extension Mentions {
  /// nil where the event does not speak of mentions.
  package init?(_ json: JSON?) {
    guard let json, json.isObject else { return nil }
    var users: [UserID] = []
    for user in json["user_ids"]?.elements ?? json.elements {
      guard users.count < ContentLimits.mentions else { break }
      if let user = UserID(user), !users.contains(user) { users.append(user) }
    }
    self.init(users: users, room: json.bool("room") ?? false)
  }
}

extension MessageContent.Kind {
  init(_ name: ByteString, in content: JSON) {
    self.init(name)
    if self == .audio, content["m.voice"] ?? content["org.matrix.msc3245.voice"] != nil { self = .voice }
  }

  init(_ name: ByteString) {
    for kind in [Self.text, .emote, .notice, .image, .video, .audio, .file, .location, .gallery]
    where ByteString(kind.name) == name {
      self = kind
      return
    }
    self = name == "m.gallery" ? .gallery : .unknown
  }

  package var name: String {
    switch self {
    case .text, .unknown, .sticker, .poll, .liveLocation: "m.text"
    case .emote: "m.emote"
    case .notice: "m.notice"
    case .image: "m.image"
    case .video: "m.video"
    case .audio, .voice: "m.audio"
    case .file: "m.file"
    case .location: "m.location"
    case .gallery: "dm.filament.gallery"
    }
  }

  package var hasFile: Bool {
    switch self {
    case .image, .video, .audio, .voice, .file, .sticker: true
    default: false
    }
  }
}

extension Attachment {
  /// Its name does not hide where it ends, and nor does a body that is but the name.
  package init(_ content: JSON, body: inout ByteString) {
    let info = content["info"]
    let name = content.text("filename") ?? body
    self.init(
      fileName: name.inOneLine, mimeType: info?.text("mimetype"), sizeBytes: info?["size"]?.natural,
      width: info?["w"]?.natural, height: info?["h"]?.natural)
    if name == body { body = fileName }
    encrypted = EncryptedFile(content["file"])
    // Where both are, the clear one is somebody else's.
    source = content["file"] == nil ? MediaURI(content["url"]) : nil
    durationMilliseconds = info?["duration"]?.natural
    encryptedThumbnail = EncryptedFile(info?["thumbnail_file"])
    thumbnail = info?["thumbnail_file"] == nil ? MediaURI(info?["thumbnail_url"]) : nil
    thumbnailWidth = info?["thumbnail_info"]?["w"]?.natural
    thumbnailHeight = info?["thumbnail_info"]?["h"]?.natural
    blurHash = (info?["blurhash"] ?? info?["xyz.amorgan.blurhash"])?.text.flatMap {
      $0.count <= ContentLimits.blurHashBytes ? $0 : nil
    }
    guard let audio = content["m.audio"] ?? content["org.matrix.msc1767.audio"] else { return }
    durationMilliseconds = durationMilliseconds ?? audio["duration"]?.natural
    guard let samples = audio["waveform"], samples.isArray else { return }
    for sample in samples.elements.prefix(ContentLimits.waveformSamples) {
      waveform.append(UInt16(max(0, min(1024, sample.integer ?? 0))))
    }
  }
}
