import MatrixModel

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

  package init() {}
}

/// Where content lies, and how it comes in.
package struct MediaStore: Sendable {
  let serverName: ServerName
  /// The path of the folder; made if it is not there.
  let folder: String
  let uploadBytesLimit: Int64
  /// nil if there are no thumbnails.
  let thumbnailProgram: String?

  package init(serverName: ServerName, folder: String, uploadBytesLimit: Int64, thumbnailProgram: String?) {
    self.serverName = serverName
    self.folder = folder
    self.uploadBytesLimit = uploadBytesLimit
    self.thumbnailProgram = thumbnailProgram
  }
}
