import JSON
import MatrixModel

/// What a client says of the content that it uploads.
package struct MediaUpload: Sendable {
  /// Bytes of a file name kept; a longer one is refused.
  package static let fileNameBytesLimit = 255
  /// Bytes of a content type kept; a longer one is refused.
  static let contentTypeBytesLimit = 255

  let contentType: ByteString
  let fileName: ByteString?
  let announcedBytes: Int64?

  /// - Parameter announcedBytes: the length of the content where the client said it before it began.
  /// Throws `M_INVALID_PARAM` for a type or name that no header could carry.
  package init(contentType: ByteString, fileName: ByteString?, announcedBytes: Int64?) throws(MatrixError) {
    guard contentType.count <= Self.contentTypeBytesLimit, contentType.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
      throw .invalidParameter(
        "A content type has at most \(Self.contentTypeBytesLimit) bytes, all of them printable ASCII.")
    }
    if let fileName, fileName.count > Self.fileNameBytesLimit {
      throw .invalidParameter("A file name has at most \(Self.fileNameBytesLimit) bytes.")
    }
    self.contentType = contentType
    self.fileName = fileName
    self.announcedBytes = announcedBytes
  }
}

/// How long an upload may take: longer for more bytes, so that a slow line is served and one that drips is not.
struct UploadDeadline {
  /// Milliseconds that every upload has.
  static let baseMilliseconds: Int64 = 60_000
  /// Bytes a second that an upload reaches on average after that.
  static let bytesPerSecond: Int64 = 4 << 10
  /// Milliseconds at most, whatever came.
  static let limitMilliseconds: Int64 = 6 * 60 * 60_000

  let started: Int64

  /// Throws `M_UNKNOWN` (408).
  func check(now: Int64, bytes: Int64) throws(MatrixError) {
    let allowed = min(Self.limitMilliseconds, Self.baseMilliseconds + bytes / Self.bytesPerSecond * 1_000)
    guard now - started <= allowed else {
      throw .unknown(status: 408, "The upload was too slow; try again on a better connection.")
    }
  }
}
