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
    var kind = Kind(name)
    if kind == .audio, content["org.matrix.msc3245.voice"] != nil { kind = .voice }
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
    case .audio, .voice: "m.audio"
    case .file: "m.file"
    case .location: "m.location"
    case .gallery: "dm.filament.gallery"
    }
  }

  var hasFile: Bool {
    switch self {
    case .image, .video, .audio, .voice, .file, .sticker: true
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
}

extension JSON {
  /// A number from 0 to 2^53 − 1: a size, a length.
  var natural: Int64? { integer.flatMap { $0 >= 0 && $0 <= Int64(JSON.integerMagnitudeLimit) ? $0 : nil } }
}
