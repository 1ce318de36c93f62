import EventLoop
import Glibc
import JSON
import Synchronization
import Telemetry

/// Makes the composed files of recordings with FFmpeg, one at a time, in turn of the projects that wait.
final class Composer: Sendable {
  /// Why there is no composed file; the streams' own files are there all the same.
  struct Failure: Error {
    let reason: ByteString

    static let missing = Failure(reason: "There is no composed file: FFmpeg is not installed (Debian's package ffmpeg).")
    static let quota = Failure(reason: "There is no composed file: the quota of recordings is used up.")
    static let failed = Failure(reason: "There is no composed file: FFmpeg could not make it.")
    static let ended = Failure(reason: "")
  }

  private struct Job {
    let recording: RecordingID
    var percent: Int
  }

  /// Beyond it no recording is waited for: ten minutes, and four times as long as the recording.
  private static let shortestLimitSeconds: Int64 = 600
  /// Of the processor, for the picture of one file: at its priority a probe may wait long for its turn, and who waits is not unreadable.
  private static let probeLimitSeconds: Int64 = 10

  private static let log = Log("calls")

  private let pool: BlockingPool
  private let turns = Mutex(Turns<ProjectID, CheckedContinuation<Void, Never>>())
  private let current = Mutex<Job?>(nil)
  private let isOver = Atomic<Bool>(false)
  private let hasTold = Atomic<Bool>(false)

  init() throws(EventLoopError) { pool = try BlockingPool(threads: 1, name: "composer") }

  /// How much is made of a recording whose turn it is; nil for another.
  func percent(of recording: RecordingID) -> Int? {
    current.withLock { $0?.recording == recording ? $0?.percent : nil }
  }

  /// Waits for its turn, and returns the manifest with the composed file in it. Throws `Failure`.
  func compose(
    _ manifest: RecordingManifest, _ options: RecordingOptions, in folder: RecordingFolder, _ usage: RecordingUsage.Share
  ) async throws(Failure) -> RecordingManifest {
    guard let program = ChildProgram.find("ffmpeg") else { throw .missing }
    await withCheckedContinuation { turn in
      if turns.withLock({ $0.begin(turn, of: usage.project) }) { turn.resume() }
    }
    defer { turns.withLock { $0.end() }?.resume() }
    do {
      return try await pool.run { [self] in try make(manifest, options, folder, usage, program) }
    } catch {
      throw error as? Failure ?? (isOver.load(ordering: .relaxed) ? .ended : .failed)
    }
  }

  /// Kills what is being made; it is begun anew at the next start.
  func shutdown() async {
    isOver.store(true, ordering: .relaxed)
    await pool.shutdown()
  }

  private func make(
    _ manifest: RecordingManifest, _ options: RecordingOptions, _ folder: RecordingFolder, _ usage: RecordingUsage.Share,
    _ program: String
  ) throws -> RecordingManifest {
    if let lack = ChildProgram.lack, !hasTold.exchange(true, ordering: .relaxed) {
      Self.log.warning("FFmpeg is not confined: this system cannot keep it from all", ["lacking": .text(lack)])
    }
    current.withLock { $0 = Job(recording: folder.id, percent: 0) }
    defer { current.withLock { $0 = nil } }
    if let made = try make(Composition(manifest, options), of: manifest, folder, usage, program) { return made }
    // One participant's picture that cannot be read must not cost the others theirs.
    var readable = manifest
    readable.files = try manifest.files.prefix(Composition.filesLimit).compactMap { try self.readable($0, folder, program) }
    guard !readable.files.isEmpty, readable != manifest,
      let made = try make(Composition(readable, options), of: manifest, folder, usage, program)
    else { throw isOver.load(ordering: .relaxed) ? Failure.ended : .failed }
    return made
  }

  /// Without the picture that FFmpeg can make nothing of; nil where nothing is left.
  private func readable(
    _ file: RecordingManifest.File, _ folder: RecordingFolder, _ program: String
  ) throws -> RecordingManifest.File? {
    guard file.video != nil else { return file }
    guard !isOver.load(ordering: .relaxed) else { throw Failure.ended }
    let child = ChildProgram(
      path: program, arguments: Composition.probe(file), folder: folder.path,
      timeLimitSeconds: Self.shortestLimitSeconds, processorLimitSeconds: Self.probeLimitSeconds)
    guard try child.run(isWanted: { !isOver.load(ordering: .relaxed) }, line: { _ in }) != .exit(0) else { return file }
    var rest = file
    rest.video = nil
    return rest.audio == nil ? nil : rest
  }

  /// nil where FFmpeg cannot make it.
  private func make(
    _ composition: Composition, of manifest: RecordingManifest, _ folder: RecordingFolder, _ usage: RecordingUsage.Share,
    _ program: String
  ) throws -> RecordingManifest? {
    let names = composition.spans.indices.map(Composition.nameFile)
    defer { for name in names + [Composition.graphName, Composition.unfinishedName] { unlink(folder.file(name)) } }
    for (span, name) in zip(composition.spans, names) { try put(span.name, into: folder.file(name)) }
    // It may make no file, but write this one.
    try put("", into: folder.file(Composition.unfinishedName))
    // Where there is no font, a picture without names is better than none.
    for hasNames in [true, false] {
      guard !isOver.load(ordering: .relaxed) else { throw Failure.ended }
      let rest = usage.rest
      if let rest, rest <= 0 { throw Failure.quota }
      try put(composition.graph(hasNames: hasNames), into: folder.file(Composition.graphName))
      let child = ChildProgram(
        path: program, arguments: composition.arguments(bytesLimit: rest), folder: folder.path,
        writable: [Composition.unfinishedName],
        timeLimitSeconds: max(Self.shortestLimitSeconds, composition.durationMilliseconds / 250))
      let end = try child.run(isWanted: { !isOver.load(ordering: .relaxed) }) { note($0, composition.durationMilliseconds) }
      // Neither names nor one file are why it takes too long.
      guard end != .killed else { throw isOver.load(ordering: .relaxed) ? Failure.ended : .failed }
      guard end == .exit(0) else { continue }
      return try keep(manifest, composition, folder, usage)
    }
    return nil
  }

  private func put(_ text: String, into path: String) throws(RecordingFileError) {
    unlink(path)
    var file = try RecordingFile(creating: path)
    try file.append(Array(text.utf8))
  }

  /// `out_time_us=…`, in microseconds of what is made.
  private func note(_ line: Substring, _ durationMilliseconds: Int64) {
    guard line.hasPrefix("out_time_us="), let made = Int64(line.dropFirst(12)), made > 0, durationMilliseconds > 0 else {
      return
    }
    current.withLock { $0?.percent = Int(min(99, made / 10 / durationMilliseconds)) }
  }

  private func keep(
    _ manifest: RecordingManifest, _ composition: Composition, _ folder: RecordingFolder, _ usage: RecordingUsage.Share
  ) throws -> RecordingManifest {
    let (made, name) = (folder.file(Composition.unfinishedName), folder.file(Composition.fileName))
    guard let bytes = RecordingFile(reading: made)?.bytes, bytes > 0 else { throw Failure.failed }
    guard rename(made, name) == 0 else { throw RecordingFileError(name) }
    var file = RecordingManifest.File(
      name: Composition.fileName,
      stream: RecordingManifest.Stream(id: "", connection: "", connectionData: "", name: "", videoType: ""),
      startMilliseconds: 0)
    (file.durationMilliseconds, file.bytes) = (composition.durationMilliseconds, bytes)
    if composition.hasAudio { file.audio = "aac" }
    if composition.hasVideo {
      (file.video, file.width, file.height) = ("h264", Int(composition.options.width), Int(composition.options.height))
    }
    var whole = manifest
    whole.composed = file
    try folder.write(whole)
    usage.add(bytes)
    return whole
  }
}
