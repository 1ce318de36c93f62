import MatrixModel
import ObjectStore

/// What an operator decides about media beside the size of one upload.
package struct MediaConfiguration: Sendable {
  /// Bytes of all content of one user; 0 for no limit.
  package var userQuotaBytes: Int64 = 10 << 30
  /// Whether what is uploaded from now on can be downloaded without an access token. Content keeps what was set when it came:
  /// switching this off is the "freeze" of the specification.
  package var allowsUnauthenticatedDownloads = false
  /// Whether pages that messages name are fetched to show what they are about.
  package var previewsPages = true
  /// URLs of which no preview is made: `*` stands for any bytes, matched against the whole URL.
  package var deniedPreviewURLs: [String] = []

  /// Where content lies for good; nil for the folder.
  package var bucket: BucketConfiguration?
  /// Bytes of the content that this machine keeps of the bucket.
  package var cacheBytesLimit: Int64 = 1 << 30

  package init() {}
}

/// Where content lies on this machine, and how it comes in.
package struct MediaStore: Sendable {
  let serverName: ServerName
  /// The path of the folder; made if it is not there.
  let folder: String
  let uploadBytesLimit: Int64
  /// nil if there are no thumbnails.
  let thumbnailProgram: String?

  /// - Parameter dataDirectory: content lies in its folder `media`, or in the bucket with `media-cache` as cache.
  package init(
    serverName: ServerName, dataDirectory: String, hasBucket: Bool, uploadBytesLimit: Int64, thumbnailProgram: String?
  ) {
    self.serverName = serverName
    folder = dataDirectory + (hasBucket ? "/media-cache" : "/media")
    self.uploadBytesLimit = uploadBytesLimit
    self.thumbnailProgram = thumbnailProgram
  }
}
