import Database
import EventLoop
import Glibc
import JSON
import MatrixModel
import Telemetry

/// The content repository: uploads and downloads of this server's users, and thumbnails of images.
///
/// Content is a file in `<data directory>/media`, named by its SHA-256, written whole and synced before the row that names it.
/// Spec: Client-Server API, "Content repository".
package final class MediaRepository: Sendable {
  /// Content as it can be served.
  package struct Item: Sendable {
    package let path: String
    package let contentType: ByteString
    package let fileName: ByteString?
    /// SHA-256 in hexadecimal: what the content is, for caches.
    package let hash: String
  }

  /// Bytes of a file name kept; a longer one is refused.
  package static let fileNameBytesLimit = 255
  /// Bytes of a content type kept; a longer one is refused.
  static let contentTypeBytesLimit = 255

  package let uploadBytesLimit: Int64
  private let serverName: ServerName
  private let database: Database
  private let clock: WallClock
  private let folder: MediaFolder
  private let files: BlockingPool
  private let thumbnailer: Thumbnailer?

  init(_ configuration: HomeserverConfiguration, database: Database) throws {
    uploadBytesLimit = configuration.uploadBytesLimit
    serverName = configuration.serverName
    clock = configuration.clock
    self.database = database
    folder = try MediaFolder(configuration.dataDirectory + "/media")
    files = try BlockingPool(threads: 2, queueLimit: 4_096, name: "media")
    thumbnailer = try configuration.thumbnailProgram.map { try Thumbnailer(program: $0) }
  }

  /// Lets files and thumbnails in work finish.
  func shutdown() async {
    await files.shutdown()
    await thumbnailer?.shutdown()
  }

  // MARK: Uploading

  /// Takes content piece by piece.
  ///
  /// - Parameter pieces: the next piece, nil at the end. Asked for only when the piece before is on disk.
  /// Throws `M_TOO_LARGE`, `M_INVALID_PARAM`, and what `pieces` throws; then nothing is kept.
  package func upload(
    by user: UserID, contentType: ByteString, fileName: ByteString?, announcedBytes: Int64?,
    _ pieces: () async throws -> [UInt8]?
  ) async throws -> MediaURI {
    guard contentType.count <= Self.contentTypeBytesLimit, contentType.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
      throw MatrixError.invalidParameter("The content type is longer than a content type can be.")
    }
    if let fileName, fileName.count > Self.fileNameBytesLimit {
      throw MatrixError.invalidParameter("A file name has at most \(Self.fileNameBytesLimit) bytes.")
    }
    if let announcedBytes, announcedBytes > uploadBytesLimit { throw tooLarge }
    let file = try await files.run { [folder] in try IncomingFile(in: folder) }
    while let piece = try await pieces() {
      guard file.bytesCount + Int64(piece.count) <= uploadBytesLimit else { throw tooLarge }
      try await files.run { try file.write(piece) }
    }
    let hash = try await files.run { try file.keep() }
    let mediaID = Self.randomMediaID()
    let (now, bytesCount) = (clock.now(), file.bytesCount)
    try await database.write { transaction in
      _ = try transaction.execute(
        """
        INSERT INTO media(media_id, hash, bytes, content_type, file_name, user_id, created)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """, mediaID, hash, bytesCount, contentType, fileName, user, now)
    }
    return MediaURI(server: serverName, mediaID: mediaID)
  }

  private var tooLarge: MatrixError { .tooLarge("At most \(uploadBytesLimit) bytes can be uploaded.") }

  // MARK: Downloading

  /// Throws `M_NOT_FOUND`, also for content of other servers, which this one does not fetch.
  package func item(_ server: ByteString, _ mediaID: ByteString) async throws -> Item {
    guard server == serverName.text else {
      throw MatrixError.notFound("This server does not fetch content of other servers.")
    }
    let item = try await database.read { [folder] transaction in
      try transaction.first("SELECT hash, content_type, file_name FROM media WHERE media_id = $1", mediaID) { row in
        let hash = row.text(0)
        return Item(
          path: folder.path(of: hash), contentType: ByteString(row.text(1)),
          fileName: row.optionalText(2).map { ByteString($0) }, hash: hash)
      }
    }
    guard let item else { throw MatrixError.notFound("There is no such content.") }
    return item
  }

  /// An image reduced to at least `size`, or the image itself where it is not larger.
  ///
  /// Throws `M_NOT_FOUND`, `M_UNKNOWN` (400) for what is no image, `M_TOO_LARGE` for an image beyond the limits.
  package func thumbnail(_ server: ByteString, _ mediaID: ByteString, _ request: ThumbnailRequest) async throws -> Item {
    let original = try await item(server, mediaID)
    guard let size = request.standardSize else { return original }
    for kind in ThumbnailKind.allCases {
      let path = folder.thumbnailPath(of: original.hash, size, kind)
      if access(path, R_OK) == 0 { return thumbnailItem(of: original, at: path, size, kind) }
    }
    guard let thumbnailer else {
      throw MatrixError.unknown(status: 400, "This server has no program that makes thumbnails.")
    }
    guard let made = try await thumbnailer.thumbnail(of: original.path, size) else { return original }
    let path = folder.thumbnailPath(of: original.hash, size, made.kind)
    try await files.run { [folder] in
      let file = try IncomingFile(in: folder)
      try file.write(made.bytes)
      try file.keep(at: path)
    }
    return thumbnailItem(of: original, at: path, size, made.kind)
  }

  private func thumbnailItem(of original: Item, at path: String, _ size: ThumbnailSize, _ kind: ThumbnailKind) -> Item {
    Item(path: path, contentType: kind.contentType, fileName: nil, hash: "\(original.hash)-\(size)")
  }

  /// 24 letters and digits: nobody guesses one.
  private static func randomMediaID() -> ByteString {
    let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
    var generator = SystemRandomNumberGenerator()
    return ByteString(decoding: (0..<24).map { _ in letters[Int.random(in: 0..<letters.count, using: &generator)] })
  }
}
