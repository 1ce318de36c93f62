import JSON
import MatrixModel

extension MessageContent {
  /// What an edit of this message says with another text: of a file the caption.
  package func content(with text: FormattedText, own: UserID) -> [UInt8] {
    var writer = JSONWriter()
    var files: [UnsentFile] = []
    writer.object { writer in
      if let attachment, kind != .sticker {
        OutgoingMedia(kind, attachment, caption: text).writeMembers(to: &writer, typeKey: "msgtype", &files)
      } else {
        writer.member("msgtype", kind.name)
        text.writeMembers(to: &writer)
      }
      text.mentions.writeMember(to: &writer, without: own)
    }
    return writer.bytes
  }
}
