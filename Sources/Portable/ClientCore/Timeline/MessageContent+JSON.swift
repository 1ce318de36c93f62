import JSON
import MatrixModel

extension MessageContent {
  /// nil where `body` or, in messages, `msgtype` is missing.
  init?(_ content: JSON, type: EventType) {
    guard let body = content["body"]?.text else { return nil }
    guard type != .sticker else {
      self.init(kind: .sticker, body: body, attachment: Attachment(content, body: body))
      return
    }
    guard let name = content["msgtype"]?.text else { return nil }
    let kind = Kind(name)
    self.init(kind: kind, body: body, attachment: kind.hasFile ? Attachment(content, body: body) : nil)
  }

  /// Lines that begin with `>` in front of a reply, as clients wrote them before version 1.13 of the spec.
  mutating func removeReplyFallback() {
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

  /// Content of an `m.room.message`. Spec: "m.room.message msgtypes".
  func write(to writer: inout JSONWriter, replyTo: EventID?) {
    writer.object { writer in
      writer.key("msgtype")
      writer.write(ByteString(kind.name))
      writer.member("body", body)
      if let attachment { attachment.writeMembers(to: &writer, kind) }
      guard let replyTo else { return }
      writer.key("m.relates_to")
      writer.object { writer in
        writer.key("m.in_reply_to")
        writer.object { $0.member("event_id", replyTo) }
      }
    }
  }
}

extension MessageContent.Kind {
  init(_ name: ByteString) {
    for kind in [Self.text, .emote, .notice, .image, .video, .audio, .file, .location]
    where ByteString(kind.name) == name {
      self = kind
      return
    }
    self = .unknown
  }

  var name: String {
    switch self {
    case .text, .unknown, .sticker: "m.text"
    case .emote: "m.emote"
    case .notice: "m.notice"
    case .image: "m.image"
    case .video: "m.video"
    case .audio: "m.audio"
    case .file: "m.file"
    case .location: "m.location"
    }
  }

  var hasFile: Bool {
    switch self {
    case .image, .video, .audio, .file, .sticker: true
    default: false
    }
  }
}

extension Attachment {
  init(_ content: JSON, body: ByteString) {
    let info = content["info"]
    self.init(
      fileName: content["filename"]?.text ?? body, mimeType: info?["mimetype"]?.text, sizeBytes: info?["size"]?.natural,
      width: info?["w"]?.natural, height: info?["h"]?.natural)
    source = MediaURI(content["url"])
    durationMilliseconds = info?["duration"]?.natural
    thumbnail = MediaURI(info?["thumbnail_url"])
    thumbnailWidth = info?["thumbnail_info"]?["w"]?.natural
    thumbnailHeight = info?["thumbnail_info"]?["h"]?.natural
  }

  func writeMembers(to writer: inout JSONWriter, _ kind: MessageContent.Kind) {
    writer.member("filename", fileName)
    if let source { writer.member("url", source) }
    writer.key("info")
    writer.object { writer in
      if let mimeType { writer.member("mimetype", mimeType) }
      if let sizeBytes { writer.member("size", sizeBytes) }
      if kind == .image || kind == .video {
        if let width { writer.member("w", width) }
        if let height { writer.member("h", height) }
      }
      if let durationMilliseconds { writer.member("duration", durationMilliseconds) }
    }
  }
}

extension JSON {
  /// A number from 0 to 2^53 − 1: a size, a length.
  var natural: Int64? { integer.flatMap { $0 >= 0 && $0 <= Int64(JSON.integerMagnitudeLimit) ? $0 : nil } }
}
