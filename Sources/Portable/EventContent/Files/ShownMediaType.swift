public import JSON

/// The types under which a decrypted file may be handed to something that shows it. A sender says the type, and HTML or SVG as a document would run
/// scripts with the page's origin.
public enum ShownMediaType {
  public static let other: ByteString = "application/octet-stream"

  private static let allowed: [ByteString] = [
    "image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/apng", "image/bmp",
    "video/mp4", "video/webm", "video/ogg", "video/quicktime",
    "audio/mp4", "audio/webm", "audio/aac", "audio/mpeg", "audio/ogg", "audio/wave", "audio/wav", "audio/x-wav",
    "audio/x-pn-wav",
    "audio/flac", "audio/x-flac"
  ]

  /// The type that the sender says, without parameters, if it may be shown; else `other`.
  public static func of(_ claimed: ByteString?) -> ByteString {
    guard let claimed, claimed.count <= 100 else { return other }
    let letters = claimed.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
    let type = ByteString(decoding: letters.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
    return allowed.contains(type) ? type : other
  }
}
