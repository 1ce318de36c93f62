/// A file that a person picked, pasted or dropped. The bytes stay with the host; the last reference lets go of them.
public final class PickedFile {
  /// The host's number for the file.
  public let handle: Int32
  public let name: String
  /// As the browser knows it, for example `image/png`; empty when it does not.
  public let mediaType: String
  public let byteCount: Int64
  /// Pixels of a decodable image, else 0.
  public let width: Int
  public let height: Int
  private let onRelease: (Int32) -> Void

  public init(
    handle: Int32, name: String, mediaType: String, byteCount: Int64, width: Int, height: Int,
    onRelease: @escaping (Int32) -> Void
  ) {
    self.handle = handle
    self.name = name
    self.mediaType = mediaType
    self.byteCount = byteCount
    self.width = width
    self.height = height
    self.onRelease = onRelease
  }

  deinit { onRelease(handle) }

  public var isImage: Bool { width > 0 && height > 0 }
}
