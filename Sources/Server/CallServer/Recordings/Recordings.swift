import Database
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
  let rows: CallRecordings
  let usage: RecordingUsage
  let thread: RecordingThread
  let composer: Composer
  let summaries: AsyncStream<RecordingSummary>
  private let input: AsyncStream<RecordingSummary>.Continuation
  private let database: Database
  private let directory: String
  private let pool: BlockingPool

  /// Makes the folder. Throws `RecordingFileError`, `EventLoopError`.
  init(
    _ homeserver: Homeserver, quotaBytes: Int64?, projects: CallProjects,
    refresh: @escaping @Sendable ([SubscriptionID]) -> Void
  ) throws {
    database = homeserver.database
    rows = CallRecordings(database: database)
    usage = RecordingUsage(quotaBytes: quotaBytes) { projects.count }
    directory = homeserver.configuration.dataDirectory
    composer = try Composer()
    pool = try BlockingPool(threads: 1, name: "recordings")
    (summaries, input) = AsyncStream.makeStream(of: RecordingSummary.self)
    thread = try RecordingThread(in: directory, usage, onFinish: { [input] in input.yield($0) }, refresh: refresh)
  }

  func folder(_ id: RecordingID) -> RecordingFolder { RecordingFolder(id, in: directory) }

  /// Brings what a killed server left to an end, then starts the thread. Throws `RecordingFileError` and the database's errors.
  func start() async throws {
    for recording in try await rows.unfinished() {
      let folder = folder(recording.id)
      if try await isElsewhere(folder) { continue }
      let manifest: RecordingManifest
      do {
        manifest = try await pool.run {
          let manifest = try folder.recover()
          if manifest.files.isEmpty, !folder.hasOthers { folder.remove() }
          return manifest
        }
      } catch {
        // A full disk, perhaps: what was recorded stays for the next start.
        let known: LogFields = ["recording": .text("\(recording.id)"), "error": .text("\(error)")]
        Log("calls").error("a recording was not brought to its end", known)
        continue
      }
      input.yield(
        RecordingSummary(
          recording: recording.id, project: recording.project, durationMilliseconds: manifest.durationMilliseconds,
          bytes: manifest.bytes,
          mainFile: ByteString(manifest.mainFile), filesCount: manifest.files.count,
          reason: recording.status == .started ? "The server was interrupted." : ""))
      usage.share(of: recording.project).add(manifest.bytes)
    }
    for (project, bytes) in try await rows.bytes() { usage.share(of: project).add(bytes) }
    guard thread.start() else { throw RecordingFileError("thread", code: EAGAIN) }
  }

  /// Whether another node has the files of a recording, and brings it to its end: they are on the disk of the node that had the session.
  private func isElsewhere(_ folder: RecordingFolder) async throws -> Bool {
    guard database.isNode else { return false }
    return try await pool.run { !folder.exists }
  }

  /// Returns when all files are whole and `summaries` has told of them.
  func shutdown() async {
    await thread.stop()
    input.finish()
  }

  /// After the last use.
  func close() async { await pool.shutdown() }

  /// With the composed file in it. Throws `Composer.Failure`.
  func compose(_ recording: StoredRecording) async throws(Composer.Failure) -> RecordingManifest {
    guard let manifest = await manifest(of: recording.id) else { throw .failed }
    return try await composer.compose(manifest, recording.options, in: folder(recording.id), usage.share(of: recording.project))
  }

  func manifest(of id: RecordingID) async -> RecordingManifest? {
    let folder = folder(id)
    return try? await pool.run { folder.manifest }
  }

  func open(_ name: String, of id: RecordingID) async -> OpenFile? {
    let path = folder(id).file(name)
    return try? await pool.run { OpenFile(path: path) }
  }

  /// The row first: files without one are nobody's.
  func delete(_ recording: StoredRecording) async throws {
    try await rows.delete(recording.id)
    await removeFiles(of: recording.id, recording.project, bytes: recording.bytes)
  }

  /// Removes rows of recordings that failed, a day after they ended: the application has had time to ask.
  /// Rows that have files stay.
  func removeFailed(now: Int64) async throws {
    for id in try await rows.failed(before: now - CallLimits.failedRecordingMilliseconds) {
      let folder = folder(id)
      if try await pool.run({ !folder.exists }) { try await rows.delete(id) }
    }
  }

  func removeFiles(of id: RecordingID, _ project: ProjectID, bytes: Int64) async {
    let folder = folder(id)
    try? await pool.run { folder.remove() }
    usage.share(of: project).give(back: bytes)
  }
}
