import Database
import EventLoop
import Glibc
import MatrixModel
import ServerCore
import Synchronization

/// Content as files of this machine, named by their hash: `media/ab/abcdef…`. Written whole and synced before the row that names it;
/// removed with the last row.
struct FolderStore: ContentStore {
  let folder: MediaFolder
  let files: BlockingPool
  let database: Database
  let clock: WallClock
  /// By hash: nobody removes a file that somebody is about to name.
  private let hashLocks = KeyedLock()
  /// The first byte of the hashes that are looked through next for files that no row names.
  private let nextSwept = NextByte()

  private final class NextByte: Sendable {
    let value = Atomic<UInt8>(.random(in: 0...255))
  }

  init(_ folder: MediaFolder, files: BlockingPool, database: Database, clock: WallClock) {
    (self.folder, self.files, self.database, self.clock) = (folder, files, database, clock)
  }

  func keep(
    _ file: IncomingFile, as hash: String, naming name: @escaping @Sendable (WriteTransaction) throws -> Void
  ) async throws {
    try await hashLocks.withLock(hash) {
      do {
        try await files.run { try file.keep(as: hash) }
        try await database.write(name)
      } catch {
        try? await removeUnlocked(hash)
        throw error
      }
    }
  }

  func unname(_ hash: String, _ tx: WriteTransaction) throws {}

  func removeIfUnused(_ hash: String) async throws {
    try await hashLocks.withLock(hash) { try await removeUnlocked(hash) }
  }

  private func removeUnlocked(_ hash: String) async throws {
    // Also for a client that is gone, whose task is cancelled: nobody would find the file again.
    try await Task { [database, files, folder] in
      let isUsed = try await database.read { tx in try Self.isUsed(hash, tx) }
      if !isUsed { try await files.run { folder.remove(hash) } }
    }.value
  }

  func content(_ hash: String, bytes: Int64) -> StoredContent {
    StoredContent(path: folder.path(of: hash), remote: nil)
  }

  func path(of hash: String, bytes: Int64) async throws -> String { folder.path(of: hash) }

  func thumbnail(of hash: String, _ variant: ThumbnailVariant) async throws -> StoredThumbnail? {
    try await files.run { [folder] in
      ThumbnailKind.allCases.lazy.map { StoredThumbnail(path: folder.thumbnailPath(of: hash, variant, $0), kind: $0) }
        .first { access($0.path, R_OK) == 0 }
    }
  }

  func keep(
    _ thumbnail: Thumbnailer.Thumbnail, of hash: String, _ variant: ThumbnailVariant
  ) async throws -> StoredThumbnail {
    let path = folder.thumbnailPath(of: hash, variant, thumbnail.kind)
    try await hashLocks.withLock(hash) {
      try await files.run { [folder] in
        guard access(folder.path(of: hash), R_OK) == 0 else { throw MatrixError.notFound("There is no such content.") }
        let file = try IncomingFile(in: folder)
        try file.write(thumbnail.bytes)
        try file.keep(at: path)
      }
    }
    return StoredThumbnail(path: path, kind: thumbnail.kind)
  }

  func shutdown() async {}

  // MARK: For sweeps

  /// The next part of all hashes, by their first byte.
  func nextSweptByte() -> UInt8 { nextSwept.value.wrappingAdd(1, ordering: .relaxed).oldValue }

  /// Runs `body` while nobody names or removes the content.
  func withLock(_ hash: String, _ body: () async throws -> Void) async throws {
    try await hashLocks.withLock(hash, body)
  }
}
