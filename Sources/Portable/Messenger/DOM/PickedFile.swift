/// A file that a person picked, pasted or dropped. The bytes stay with the host; the last reference lets go of them.
public final class PickedFile {
  /// The host's number for the file.
  public let handle: Int32
  public let name: String
  /// As the browser knows it, for example `image/png`; empty when it does not.
  public let mediaType: String
  public let byteCount: Int64
  /// Pixels of an image or video that the browser can decode, else 0.
  public let width: Int
  public let height: Int
  /// Of a video or sound, as far as the browser knows; else 0.
  public let durationMilliseconds: Int64
  /// A picture of a video.
  public var poster: PickedFile?
  private let onRelease: (Int32) -> Void

  public init(
    handle: Int32, name: String, mediaType: String, byteCount: Int64, width: Int, height: Int,
    durationMilliseconds: Int64 = 0, onRelease: @escaping (Int32) -> Void
  ) {
    self.handle = handle
    self.name = name
    self.mediaType = mediaType
    self.byteCount = byteCount
    self.width = width
    self.height = height
    self.durationMilliseconds = durationMilliseconds
    self.onRelease = onRelease
  }

  deinit { onRelease(handle) }

  /// One that can be shown.
  public var isImage: Bool { width > 0 && height > 0 && mediaType.utf8.starts(with: "image/".utf8) }
}
