import EventLoop
import Glibc
import HTTPServer
import Homeserver
import JSON
import MatrixModel
import MediaRouter
import Telemetry

/// The recordings of a server: their rows, their files, the thread that writes them.
final class Recordings: Sendable {
  let rows: CallArchives
  let usage: ArchiveUsage
  let recorder: ArchiveRecorder
  let composer: Composer
  let summaries: AsyncStream<ArchiveSummary>
  private let input: AsyncStream<ArchiveSummary>.Continuation
  private let directory: String
  private let pool: BlockingPool

  /// Makes the folder. Throws `ArchiveFileError`, `EventLoopError`.
  init(
    _ homeserver: Homeserver, quotaBytes: Int64?, projects: CallProjects,
    refresh: @escaping @Sendable ([SubscriptionID]) -> Void
  ) throws {
    rows = CallArchives(database: homeserver.database)
    usage = ArchiveUsage(quotaBytes: quotaBytes) { projects.count }
    directory = homeserver.configuration.dataDirectory
    composer = try Composer()
    pool = try BlockingPool(threads: 1, name: "archives")
    (summaries, input) = AsyncStream.makeStream(of: ArchiveSummary.self)
    recorder = try ArchiveRecorder(in: directory, usage, onFinish: { [input] in input.yield($0) }, refresh: refresh)
  }

  func folder(_ id: ArchiveID) -> ArchiveFolder { ArchiveFolder(id, in: directory) }

  /// Brings what a killed server left to an end, then starts the thread. Throws `ArchiveFileError` and the database's errors.
  func start() async throws {
    for archive in try await rows.unfinished() {
      let folder = folder(archive.id)
      let manifest: ArchiveManifest
      do {
        manifest = try await pool.run {
          let manifest = try folder.recover()
          if manifest.files.isEmpty, !folder.hasOthers { folder.remove() }
          return manifest
        }
      } catch {
        // A full disk, perhaps: what was recorded stays for the next start.
        let known: LogFields = ["archive": .text("\(archive.id)"), "error": .text("\(error)")]
        Log("calls").error("a recording was not brought to its end", known)
        continue
      }
      input.yield(
        ArchiveSummary(
          archive: archive.id, project: archive.project, durationMilliseconds: manifest.durationMilliseconds,
          bytes: manifest.bytes,
          mainFile: ByteString(manifest.mainFile), filesCount: manifest.files.count,
          reason: archive.status == .started ? "The server was interrupted." : ""))
      usage.share(of: archive.project).add(manifest.bytes)
    }
    for (project, bytes) in try await rows.bytes() { usage.share(of: project).add(bytes) }
    guard recorder.start() else { throw ArchiveFileError("thread", code: EAGAIN) }
  }

  /// Returns when all files are whole and `summaries` has told of them.
  func shutdown() async {
    await recorder.stop()
    input.finish()
  }

  /// After the last use.
  func close() async { await pool.shutdown() }

  /// With the composed file in it. Throws `Composer.Failure`.
  func compose(_ archive: Archive) async throws(Composer.Failure) -> ArchiveManifest {
    guard let manifest = await manifest(of: archive.id) else { throw .failed }
    return try await composer.compose(manifest, archive.options, in: folder(archive.id), usage.share(of: archive.project))
  }

  func manifest(of id: ArchiveID) async -> ArchiveManifest? {
    let folder = folder(id)
    return try? await pool.run { folder.manifest }
  }

  func open(_ name: String, of id: ArchiveID) async -> OpenFile? {
    let path = folder(id).file(name)
    return try? await pool.run { OpenFile(path: path) }
  }

  /// The row first: files without one are nobody's.
  func delete(_ archive: Archive) async throws {
    try await rows.delete(archive.id)
    await removeFiles(of: archive.id, archive.project, bytes: archive.bytes)
  }

  /// Rows of those that recorded nothing, once whoever asks has had a day to learn that.
  /// What has files all the same stays with its row.
  func removeFailed(now: Int64) async throws {
    for id in try await rows.failed(before: now - CallLimits.failedArchiveMilliseconds) {
      let folder = folder(id)
      if try await pool.run({ !folder.exists }) { try await rows.delete(id) }
    }
  }

  func removeFiles(of id: ArchiveID, _ project: ProjectID, bytes: Int64) async {
    let folder = folder(id)
    try? await pool.run { folder.remove() }
    usage.share(of: project).give(back: bytes)
  }
}
