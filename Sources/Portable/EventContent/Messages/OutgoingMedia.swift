import JSON
import MatrixModel

/// A file to be sent.
public struct OutgoingMedia: Sendable {
  /// Image, video, audio, voice or file.
  public var kind: MessageContent.Kind
  /// Names the blob; size, measures, length, waveform and `blurHash` go along as far as they are known.
  public var file: Attachment
  /// A small picture of it, uploaded first.
  public var thumbnail: Attachment?
  public var caption: FormattedText?

  public init(
    _ kind: MessageContent.Kind, _ file: Attachment, thumbnail: Attachment? = nil, caption: FormattedText? = nil
  ) {
    self.kind = kind
    self.file = file
    self.thumbnail = thumbnail
    self.caption = caption
  }
}

extension OutgoingMedia {
  /// Content of an `m.room.message` with a file, or an entry of a gallery. Spec: "m.room.message msgtypes", "Media captions".
  package func writeMembers(to writer: inout JSONWriter, typeKey: StaticString, _ files: inout [UnsentFile]) {
    writer.member(typeKey, kind.name)
    if let caption, !caption.body.isEmpty {
      caption.writeMembers(to: &writer)
    } else {
      writer.member("body", file.fileName)
    }
    writer.member("filename", file.fileName)
    file.writeMembers(to: &writer, kind, thumbnail: thumbnail, &files)
  }
}
