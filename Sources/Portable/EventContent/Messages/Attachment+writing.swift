import JSON
import MatrixModel

extension Attachment {
  /// `url` or `file`, `info` and what voice messages have besides. A file without a source becomes one of `files`, its thumbnail before it.
  package func writeMembers(
    to writer: inout JSONWriter, _ kind: MessageContent.Kind, thumbnail: Attachment?, _ files: inout [UnsentFile]
  ) {
    let thumbnailURI = thumbnail?.uri(&files)
    if let encrypted {
      writer.key("file")
      encrypted.write(to: &writer)
    } else if let uri = uri(&files) {
      writer.member("url", uri)
    }
    writer.key("info")
    writer.object { writer in
      writeInformation(to: &writer, withMeasures: kind == .image || kind == .video || kind == .sticker)
      if let durationMilliseconds { writer.member("duration", durationMilliseconds) }
      if let blurHash { writer.member("xyz.amorgan.blurhash", blurHash) }
      if let uri = thumbnailURI ?? self.thumbnail?.text {
        writer.member("thumbnail_url", uri)
      } else if let encryptedThumbnail {
        writer.key("thumbnail_file")
        encryptedThumbnail.write(to: &writer)
      }
      if let thumbnail {
        writer.key("thumbnail_info")
        writer.object { thumbnail.writeInformation(to: &$0, withMeasures: true) }
      } else if thumbnailWidth != nil || thumbnailHeight != nil {
        writer.key("thumbnail_info")
        writer.object { writer in
          if let thumbnailWidth { writer.member("w", thumbnailWidth) }
          if let thumbnailHeight { writer.member("h", thumbnailHeight) }
        }
      }
    }
    if kind == .voice { writeVoice(to: &writer) }
  }

  private func writeInformation(to writer: inout JSONWriter, withMeasures: Bool) {
    if let mimeType { writer.member("mimetype", mimeType) }
    if let sizeBytes { writer.member("size", sizeBytes) }
    guard withMeasures else { return }
    if let width { writer.member("w", width) }
    if let height { writer.member("h", height) }
  }

  /// MSC3245, MSC3246, by the names that clients in use know.
  private func writeVoice(to writer: inout JSONWriter) {
    writer.key("org.matrix.msc3245.voice")
    writer.object { _ in }
    writer.key("org.matrix.msc1767.audio")
    writer.object { writer in
      writer.member("duration", durationMilliseconds ?? 0)
      guard !waveform.isEmpty else { return }
      writer.key("waveform")
      writer.array { writer in
        for value in waveform.prefix(ContentLimits.waveformSamples) { writer.write(Int(min(value, 1024))) }
      }
    }
  }

  private func uri(_ files: inout [UnsentFile]) -> ByteString? {
    if let source { return source.text }
    guard let blob else { return nil }
    files.append(UnsentFile(blob: blob, mimeType: mimeType, fileName: fileName, sizeBytes: sizeBytes))
    return UnsentFile.placeholder(files.count - 1)
  }
}

/// A file that a content names and the server does not have yet.
package struct UnsentFile: Sendable {
  package let blob: BlobHandle
  package let mimeType: ByteString?
  package let fileName: ByteString
  package let sizeBytes: Int64?

  /// The URL of the file with that number in the content until it is uploaded.
  package static func placeholder(_ number: Int) -> ByteString { ByteString("upload:\(number)") }
}
