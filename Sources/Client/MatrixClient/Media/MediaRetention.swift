/// The limits of a media cache: sizes and age.
public struct MediaRetention: Sendable, Hashable {
  /// The limit of all files together, including downloads under way. The cache removes the least recently used file first.
  public var diskBytes: Int64
  /// The limit of one file. The download of a larger file is cancelled.
  public var fileBytes: Int64
  /// The limit of the files in memory. A file with more than an eighth of it is not kept in memory.
  public var memoryBytes: Int
  /// The time after the last use of a file until it is removed.
  public var ageMilliseconds: Int64

  public init(
    diskBytes: Int64 = 256 << 20, fileBytes: Int64 = 64 << 20, memoryBytes: Int = 16 << 20,
    ageMilliseconds: Int64 = 60 * 86_400_000
  ) {
    self.diskBytes = max(0, diskBytes)
    self.fileBytes = max(0, min(fileBytes, diskBytes))
    self.memoryBytes = max(0, memoryBytes)
    self.ageMilliseconds = max(0, ageMilliseconds)
  }
}

/// The size of a thumbnail.
public struct ThumbnailSize: Sendable, Hashable {
  /// The smallest width and height, in pixels.
  public var width: Int
  public var height: Int
  /// Whether the thumbnail is cropped to exactly that aspect ratio.
  public var crops: Bool

  public init(width: Int, height: Int, crops: Bool = false) {
    self.width = width
    self.height = height
    self.crops = crops
  }
}
