import Database
import EventLoop
import Glibc
import JSON
import MatrixModel
import ServerCore
import Synchronization

/// The content repository: uploads and downloads of this server's users, and thumbnails of images.
///
/// Content is a file in `<data directory>/media`, named by its SHA-256, written whole and synced before the row that names it.
/// Several rows may name one file; it goes with the last of them (`MediaModeration`).
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

  /// Who asks for content.
  package enum Reader: Sendable {
    case user(UserID)
    /// Somebody without a token, by an address: gets only what came before unauthenticated downloads were frozen.
    case anyone(address: String)

    /// Whose turn it is where many want thumbnails.
    var owner: String {
      switch self {
      case .user(let userID): userID.string
      case .anyone(let address): address
      }
    }
  }

  /// Milliseconds a download waits for content that is still to come, where the client does not say.
  package static let waitMilliseconds: Int64 = 20_000
  /// The same at most, whatever the client says.
  package static let waitMillisecondsLimit: Int64 = 60_000

  package let uploadBytesLimit: Int64
  package let pending: PendingUploads
  let serverName: ServerName
  let database: Database
  let clock: WallClock
  let folder: MediaFolder
  let files: BlockingPool
  let quota: MediaQuota
  /// Whether new content may be downloaded without a token.
  let isOpen: Bool
  /// By hash: nobody removes a file that somebody is about to name.
  let hashLocks = KeyedLock()
  /// By media ID: parts of an upload are written, and asked for, one at a time.
  let partLocks = KeyedLock()
  /// The first byte of the hashes that are looked through next for files that no row names.
  let nextSwept = Atomic<UInt8>(.random(in: 0...255))
  private let thumbnailer: Thumbnailer?
  private let thumbnailLocks = KeyedLock()
  private let unneeded = UnneededThumbnails()

  package init(_ store: MediaStore, _ configuration: MediaConfiguration, database: Database, clock: WallClock) throws {
    uploadBytesLimit = store.uploadBytesLimit
    serverName = store.serverName
    self.clock = clock
    quota = MediaQuota(bytes: configuration.userQuotaBytes)
    isOpen = configuration.allowsUnauthenticatedDownloads
    self.database = database
    pending = PendingUploads(database: database, serverName: store.serverName, clock: clock)
    folder = try MediaFolder(store.folder)
    files = try BlockingPool(threads: 2, queueLimit: 4_096, name: "media")
    thumbnailer = try store.thumbnailProgram.map { try Thumbnailer(program: $0) }
  }

  /// Lets files and thumbnails in work finish.
  package func shutdown() async {
    await files.shutdown()
    await thumbnailer?.shutdown()
  }

  // MARK: Downloading

  /// The content of a media ID.
  ///
  /// - Parameter wait: milliseconds to wait for content that is still to come.
  /// Throws `M_NOT_FOUND`, also for content of other servers, which this one does not fetch, and for content in quarantine;
  /// `M_NOT_YET_UPLOADED`.
  package func item(_ server: ByteString, _ mediaID: ByteString, for reader: Reader, wait: Int64 = 0) async throws -> Item {
    guard server == serverName.text else {
      throw MatrixError.notFound("This server does not fetch content of other servers.")
    }
    var found = try await lookUp(mediaID, for: reader)
    if case .pending = found {
      let now = EventLoop.nowNanoseconds
      let deadline = now + UInt64(min(max(0, wait), Self.waitMillisecondsLimit)) * 1_000_000
      while case .pending = found, EventLoop.nowNanoseconds < deadline {
        try await pending.wait(for: mediaID, until: deadline) {
          found = try await lookUp(mediaID, for: reader)
          if case .pending = found { return false }
          return true
        }
        found = try await lookUp(mediaID, for: reader)
      }
    }
    switch found {
    case .item(let item): return item
    case .pending: throw PendingUploads.notYetUploaded
    case .nothing: throw MatrixError.notFound("There is no such content.")
    }
  }

  private enum Found: Sendable {
    case item(Item)
    case pending
    case nothing
  }

  private func lookUp(_ mediaID: ByteString, for reader: Reader) async throws -> Found {
    let now = clock.now()
    let isToken: Bool
    if case .user = reader { isToken = true } else { isToken = false }
    return try await database.read { [folder] tx in
      let item = try tx.first(
        "SELECT hash, content_type, file_name, open FROM media WHERE media_id = $1 AND quarantined_by IS NULL", mediaID
      ) { row -> Item? in
        guard isToken || row.bool(3) else { return nil }
        let hash = row.text(0)
        return Item(
          path: folder.path(of: hash), contentType: ByteString(row.text(1)),
          fileName: row.optionalText(2).map { ByteString($0) }, hash: hash)
      }
      if let item { return item.map { .item($0) } ?? .nothing }
      // This needs no token: the standard's answer reveals nothing beyond the ID, which the caller knows.
      return try PendingUploads.isPending(tx, mediaID, now) ? .pending : .nothing
    }
  }

  // MARK: Thumbnails

  /// An image reduced to at least what is asked for, or the image itself where it is not larger.
  ///
  /// Throws what `item` throws, `M_UNKNOWN` (400) for what is no image, `M_TOO_LARGE` for an image beyond the limits.
  package func thumbnail(
    _ server: ByteString, _ mediaID: ByteString, _ request: ThumbnailRequest, for reader: Reader, wait: Int64 = 0
  ) async throws -> Item {
    let original = try await item(server, mediaID, for: reader, wait: wait)
    let variant = request.variant
    // Who asks for one that is being made waits for that one.
    return try await thumbnailLocks.withLock("\(original.hash)-\(variant)") {
      try await thumbnail(of: original, variant, for: reader.owner)
    }
  }

  private func thumbnail(of original: Item, _ variant: ThumbnailVariant, for owner: String) async throws -> Item {
    let name = "\(original.hash)-\(variant)"
    if unneeded.contains(name) { return original }
    let known = try await files.run { [folder] in
      ThumbnailKind.allCases.first { access(folder.thumbnailPath(of: original.hash, variant, $0), R_OK) == 0 }
    }
    if let known { return thumbnailItem(of: original, variant, known) }
    guard let thumbnailer else {
      throw MatrixError.unknown(status: 400, "This server has no program that makes thumbnails.")
    }
    guard let made = try await thumbnailer.thumbnail(of: original.path, variant, for: owner) else {
      unneeded.insert(name)
      return original
    }
    try await hashLocks.withLock(original.hash) {
      try await files.run { [folder] in
        // Content may have been deleted meanwhile; its thumbnails must not outlive it.
        guard access(original.path, R_OK) == 0 else { throw MatrixError.notFound("There is no such content.") }
        let file = try IncomingFile(in: folder)
        try file.write(made.bytes)
        try file.keep(at: folder.thumbnailPath(of: original.hash, variant, made.kind))
      }
    }
    return thumbnailItem(of: original, variant, made.kind)
  }

  private func thumbnailItem(of original: Item, _ variant: ThumbnailVariant, _ kind: ThumbnailKind) -> Item {
    Item(
      path: folder.thumbnailPath(of: original.hash, variant, kind), contentType: kind.contentType, fileName: nil,
      hash: "\(original.hash)-\(variant)")
  }

  /// Returns the header of an image on this server; nil if the file is not an image.
  func header(of item: Item, for owner: String) async throws -> ImageHeader? {
    do {
      return try await thumbnailer?.probe(item.path, for: owner)
    } catch is MatrixError {
      return nil
    }
  }

  // MARK: Files

  /// Removes a file that no row names any more.
  func removeIfUnused(_ hash: String) async throws {
    try await hashLocks.withLock(hash) { try await removeUnlocked(hash) }
  }

  /// As `removeIfUnused`, for who holds the lock of the hash.
  func removeUnlocked(_ hash: String) async throws {
    // Also for a client that is gone, whose task is cancelled: nobody would find the file again.
    try await Task { [database, files, folder] in
      let isUsed = try await database.read { tx in try Self.isUsed(hash, tx) }
      if !isUsed { try await files.run { folder.remove(hash) } }
    }.value
  }

  /// Whether a row names the content.
  static func isUsed(_ hash: String, _ tx: ReadTransaction) throws -> Bool {
    try tx.first("SELECT 1 FROM media WHERE hash = $1 LIMIT 1", hash) { _ in true } ?? false
  }

  /// 24 letters and digits: nobody guesses one.
  static func randomMediaID() -> ByteString {
    ByteString(
      RandomText.name(length: 24, of: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"))
  }
}
