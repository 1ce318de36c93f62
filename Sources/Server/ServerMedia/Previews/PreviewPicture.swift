import JSON

/// What of a picture's first bytes tells its type: only what is sure to be a picture is kept and shown.
package enum PreviewPicture {
  /// The media type; nil for bytes of another kind.
  package static func contentType(of bytes: [UInt8]) -> ByteString? {
    if bytes.starts(with: [0xFF, 0xD8, 0xFF]) { return "image/jpeg" }
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) { return "image/png" }
    if bytes.starts(with: Array("GIF87a".utf8)) || bytes.starts(with: Array("GIF89a".utf8)) { return "image/gif" }
    if bytes.starts(with: Array("RIFF".utf8)), bytes.dropFirst(8).starts(with: Array("WEBP".utf8)) { return "image/webp" }
    return nil
  }
}
