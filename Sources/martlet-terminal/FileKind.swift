import MatrixClient

/// What a file is by the end of its name.
struct FileKind: Sendable {
  let mimeType: String
  let message: MessageContent.Kind

  private static let known: [String: String] = [
    "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
    "mp4": "video/mp4", "webm": "video/webm", "mov": "video/quicktime",
    "mp3": "audio/mpeg", "ogg": "audio/ogg", "opus": "audio/ogg", "wav": "audio/wav", "flac": "audio/flac", "m4a": "audio/mp4",
    "txt": "text/plain", "md": "text/markdown", "csv": "text/csv", "pdf": "application/pdf", "json": "application/json",
    "zip": "application/zip", "gz": "application/gzip", "tar": "application/x-tar"
  ]

  init(path: String) {
    mimeType = Self.known[Self.ending(of: path)] ?? "application/octet-stream"
    message =
      mimeType.hasPrefix("image/")
      ? .image : mimeType.hasPrefix("video/") ? .video : mimeType.hasPrefix("audio/") ? .audio : .file
  }

  /// Whether nothing happens but that it is shown or unpacked when someone opens it.
  static func isHarmless(_ name: String) -> Bool { known[ending(of: name)] != nil }

  /// The last part of a path.
  static func name(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

  /// Behind the last dot, in small letters; empty without one.
  private static func ending(of path: String) -> String {
    let name = name(of: path)
    guard let dot = name.lastIndex(of: ".") else { return "" }
    return name[name.index(after: dot)...].lowercased()
  }
}
