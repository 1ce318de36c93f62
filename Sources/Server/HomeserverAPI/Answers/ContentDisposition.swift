import JSON
import MatrixModel

/// RFC 6266, with the spec's list of types that may be shown in place.
enum ContentDisposition {
  private static let inlineTypes: Set<ByteString> = [
    "text/css", "text/plain", "text/csv", "application/json", "application/ld+json", "image/jpeg", "image/gif", "image/png",
    "image/apng", "image/webp", "image/avif", "video/mp4", "video/webm", "video/ogg", "video/quicktime", "audio/mp4",
    "audio/webm", "audio/aac", "audio/mpeg", "audio/ogg", "audio/wave", "audio/wav", "audio/x-wav", "audio/x-pn-wav",
    "audio/flac", "audio/x-flac"
  ]

  static func header(contentType: ByteString, fileName: ByteString?) -> String {
    let essence = contentType.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 != UInt8(ascii: " ") }
    let lowercase = essence.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    let disposition = inlineTypes.contains(ByteString(decoding: lowercase)) ? "inline" : "attachment"
    guard let fileName, !fileName.isEmpty else { return disposition }
    return disposition + "; filename*=utf-8''" + PercentEncoding.encode(fileName)
  }
}
