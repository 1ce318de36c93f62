public import ClientCore
public import JSON

/// Makes small pictures of files that are sent. Decoding pictures and videos is for the platform's libraries; `Blurhash.encode` does the rest.
public protocol ThumbnailMaker: Sendable {
  /// What is known of the file, and a small picture of it; nil where it has none.
  func thumbnail(of media: OutgoingMedia) async -> Thumbnail?
}

/// A small picture of a file.
public struct Thumbnail: Sendable {
  /// Names the blob; size and measures as well.
  public var picture: Attachment?
  /// See `Blurhash`.
  public var blurHash: ByteString?
  /// Measures of the file itself, in pixels.
  public var width: Int64?
  public var height: Int64?

  public init(picture: Attachment? = nil, blurHash: ByteString? = nil, width: Int64? = nil, height: Int64? = nil) {
    self.picture = picture
    self.blurHash = blurHash
    self.width = width
    self.height = height
  }
}

/// Files go out without thumbnails.
public struct NoThumbnails: ThumbnailMaker {
  public init() {}
  public func thumbnail(of media: OutgoingMedia) async -> Thumbnail? { nil }
}

extension OutgoingMedia {
  /// With what the maker finds out, where it is not known yet.
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
