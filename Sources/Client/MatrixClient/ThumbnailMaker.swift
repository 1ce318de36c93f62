public import ClientCore
public import JSON

/// Makes thumbnails of files that are sent. It needs the platform's libraries to decode pictures and videos. `Blurhash.encode` makes the blurhash.
public protocol ThumbnailMaker: Sendable {
  /// Returns the thumbnail and the measures of the file; nil if it can have no thumbnail.
  func thumbnail(of media: OutgoingMedia) async -> Thumbnail?
}

/// A thumbnail of a file.
public struct Thumbnail: Sendable {
  /// The blob of the thumbnail, with its size and measures.
  public var picture: Attachment?
  /// The blurhash of the file, see `Blurhash`.
  public var blurHash: ByteString?
  /// The measures of the file itself, in pixels.
  public var width: Int64?
  public var height: Int64?

  public init(picture: Attachment? = nil, blurHash: ByteString? = nil, width: Int64? = nil, height: Int64? = nil) {
    self.picture = picture
    self.blurHash = blurHash
    self.width = width
    self.height = height
  }
}

/// Makes no thumbnails: files are sent without them.
public struct NoThumbnails: ThumbnailMaker {
  public init() {}
  public func thumbnail(of media: OutgoingMedia) async -> Thumbnail? { nil }
}

extension OutgoingMedia {
  /// Returns the file with the thumbnail and measures from the maker, unless it already has them.
  public func withThumbnail(by maker: some ThumbnailMaker) async -> OutgoingMedia {
    guard let made = await maker.thumbnail(of: self) else { return self }
    var media = self
    media.thumbnail = thumbnail ?? made.picture
    media.file.blurHash = file.blurHash ?? made.blurHash
    media.file.width = file.width ?? made.width
    media.file.height = file.height ?? made.height
    return media
  }
}
