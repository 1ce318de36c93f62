/// How much of the content repository stays on this machine, and for how long.
public struct MediaRetention: Sendable, Hashable {
  /// Of all files together, those that are just coming in included. The one that was used longest ago goes first.
  public var diskBytes: Int64
  /// A file with more is not kept, and its download ends.
  public var fileBytes: Int64
  /// Of what stays in memory. A file with more than an eighth of it does not.
  public var memoryBytes: Int
  /// Since a file was last used.
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

/// A smaller picture of a file.
public struct ThumbnailSize: Sendable, Hashable {
  /// Pixels that it has at least.
  public var width: Int
  public var height: Int
  /// Whether it is cut to exactly that shape.
  public var crops: Bool

  public init(width: Int, height: Int, crops: Bool = false) {
    self.width = width
    self.height = height
    self.crops = crops
  }
}
