import Database
import EventLoop
import JSON
import MatrixModel
import ObjectStore
import ServerCore

/// The content repository: uploads and downloads of this server's users, and thumbnails of images.
///
/// A row for each upload names content by its SHA-256; `ContentStore` has the bytes, once for all rows that name them.
/// Spec: Client-Server API, "Content repository".
package final class MediaRepository: Sendable {
  /// Content as it can be served.
  package struct Item: Sendable {
    package let content: StoredContent
    package let contentType: ByteString
    package let fileName: ByteString?
    /// SHA-256 in hexadecimal, with the variant of a thumbnail: what the content is, for caches.
    package let hash: String
    /// 0 for a thumbnail.
    let bytes: Int64
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
  /// Unfinished uploads lie in it, and what `store` has on this disk.
  let folder: MediaFolder
  let files: BlockingPool
  let store: any ContentStore
  let quota: MediaQuota
  /// Whether new content may be downloaded without a token.
  let isOpen: Bool
  /// By media ID: parts of an upload are written, and asked for, one at a time.
  let partLocks = KeyedLock()
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
    if let bucket = configuration.bucket {
      self.store = BucketStore(
        Bucket(bucket), cacheBytes: configuration.cacheBytesLimit, folder, files: files, database: database, clock: clock)
    } else {
      self.store = FolderStore(folder, files: files, database: database, clock: clock)
    }
    thumbnailer = try store.thumbnailProgram.map { try Thumbnailer(program: $0) }
  }

  /// Lets files and thumbnails in work finish.
  package func shutdown() async {
    await store.shutdown()
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
    return try await database.read { [store] tx in
      let item = try tx.first(
        "SELECT hash, content_type, file_name, open, bytes FROM media WHERE media_id = $1 AND quarantined_by IS NULL", mediaID
      ) { row -> Item? in
        guard isToken || row.bool(3) else { return nil }
        let (hash, bytes) = (row.text(0), row.integer(4))
        return Item(
          content: store.content(hash, bytes: bytes), contentType: ByteString(row.text(1)),
          fileName: row.optionalText(2).map { ByteString($0) }, hash: hash, bytes: bytes)
      }
      if let item { return item.map { .item($0) } ?? .nothing }
      // This needs no token: the standard's answer reveals nothing beyond the ID, which the caller knows.
      return try PendingUploads.isPending(tx, mediaID, now) ? .pending : .nothing
    }
  }

  // MARK: Thumbnails

  /// The largest image that stands for its thumbnails on a server that makes none, in bytes.
  private static let wholePictureBytes: Int64 = 1 << 20
  /// What it may be: kinds that all browsers show.
  private static let shownKinds: [ByteString] = ["image/png", "image/jpeg", "image/gif", "image/webp"]

  /// An image reduced to at least what is asked for, or the image itself where it is not larger. Without the program that makes thumbnails the image
  /// itself, if it is small.
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
    if let known = try await store.thumbnail(of: original.hash, variant) { return item(known, name) }
    guard let thumbnailer else {
      // Clients show initials in its place.
      guard original.bytes <= Self.wholePictureBytes, Self.shownKinds.contains(original.contentType) else {
        throw MatrixError.unknown(status: 400, "This server has no program that makes thumbnails.")
      }
      return original
    }
    let path = try await store.path(of: original.hash, bytes: original.bytes)
    guard let made = try await thumbnailer.thumbnail(of: path, variant, for: owner) else {
      unneeded.insert(name)
      return original
    }
    return item(try await store.keep(made, of: original.hash, variant), name)
  }

  private func item(_ thumbnail: StoredThumbnail, _ name: String) -> Item {
    Item(
      content: StoredContent(path: thumbnail.path, remote: nil), contentType: thumbnail.kind.contentType, fileName: nil,
      hash: name, bytes: 0)
  }

  /// Returns the header of an image on this server; nil if the file is not an image.
  func header(of item: Item, for owner: String) async throws -> ImageHeader? {
    guard let thumbnailer else { return nil }
    do {
      return try await thumbnailer.probe(try await store.path(of: item.hash, bytes: item.bytes), for: owner)
    } catch is MatrixError {
      return nil
    }
  }

  /// The bucket where content lies; nil if it lies in the data folder.
  package var bucket: Bucket? { (store as? BucketStore)?.bucket }

  /// Removes some of the bytes that no row names; the next call goes on with others.
  package func sweepContent() async throws { try await store.sweep() }

  /// 24 letters and digits: nobody guesses one.
  static func randomMediaID() -> ByteString {
    ByteString(
      RandomText.name(length: 24, of: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"))
  }
}
