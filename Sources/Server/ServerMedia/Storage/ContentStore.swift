import Database

/// Where the bytes of content lie for good, by their SHA-256 in hexadecimal: a folder of this machine, or a bucket with a folder as its cache.
///
/// Rows name content, several of them perhaps the same. A store makes sure that no name is without its bytes; bytes without a name go.
protocol ContentStore: Sendable {
  /// Keeps a whole file and runs `name`, which writes the row that names it: no row without the bytes. Bytes without a row go at once or
  /// with a sweep. `name` may run more than once, each time in a transaction of its own.
  func keep(
    _ file: IncomingFile, as hash: String, naming name: @escaping @Sendable (WriteTransaction) throws -> Void
  ) async throws

  /// Part of the write that has taken a name from content.
  func unname(_ hash: String, _ tx: WriteTransaction) throws

  /// After that write: lets go of content that no row names any more, at once or with a sweep.
  func removeIfUnused(_ hash: String) async throws

  /// Content to be served. Asks neither the disk nor the bucket.
  func content(_ hash: String, bytes: Int64) -> StoredContent

  /// The path of a file of this machine that has the whole content.
  func path(of hash: String, bytes: Int64) async throws -> String

  /// nil if it was not made yet.
  func thumbnail(of hash: String, _ variant: ThumbnailVariant) async throws -> StoredThumbnail?

  /// Throws `M_NOT_FOUND` for content that was deleted meanwhile: its thumbnails must not outlive it.
  func keep(
    _ thumbnail: Thumbnailer.Thumbnail, of hash: String, _ variant: ThumbnailVariant
  ) async throws -> StoredThumbnail

  /// Removes some of what no row names. Called once an hour.
  func sweep() async throws

  func shutdown() async
}

/// Content as it can be served: from this disk or, if `remote` is there, from the bucket.
package struct StoredContent: Sendable {
  /// Where it lies on this disk, or would lie.
  package let path: String
  /// nil if content that is not on this disk is gone.
  package let remote: RemoteContent?
}

/// A thumbnail on this disk.
struct StoredThumbnail: Sendable {
  let path: String
  let kind: ThumbnailKind
}

extension ContentStore {
  /// Whether a row names the content.
  static func isUsed(_ hash: String, _ tx: ReadTransaction) throws -> Bool {
    try tx.first("SELECT 1 FROM media WHERE hash = $1 LIMIT 1", hash) { _ in true } ?? false
  }
}
