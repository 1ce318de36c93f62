import JSON
import MediaRouter
import Recording

/// One recording on its thread: a recorder for each stream, and their files.
struct RecordingWriter: ~Copyable {
  private final class Stream {
    let description: RecordedStream
    var recorder: StreamRecorder
    var file: RecordingFile?

    init(_ description: RecordedStream, began: MediaTime) {
      self.description = description
      recorder = StreamRecorder(began: began)
    }
  }

  let folder: RecordingFolder
  private let began: MediaTime
  private let usage: RecordingUsage.Share
  private let filesLimit: Int
  private var streams: [StreamID: Stream] = [:]
  private var manifest = RecordingManifest()
  /// The manifest on the disk does not have the last changes.
  private var hasChanged = false
  /// Counted in `usage`.
  private var bytes: Int64 = 0
  /// Why nothing more is written; empty while it is.
  private(set) var reason: ByteString = ""
  private(set) var wantedKeyFrames: [SubscriptionID] = []
  /// There would be more files than a recording has: it shall end.
  private(set) var isFull = false

  /// Makes the folder's manifest.
  init(
    _ folder: RecordingFolder, _ usage: RecordingUsage.Share, began: MediaTime, filesLimit: Int = CallLimits.filesOfRecording
  ) throws(RecordingFileError) {
    self.folder = folder
    self.usage = usage
    self.began = began
    self.filesLimit = filesLimit
    try folder.make()
    try folder.write(manifest)
  }

  /// It cannot go on, for this reason.
  var isBroken: Bool { !reason.isEmpty }

  mutating func takeWantedKeyFrames() -> [SubscriptionID] {
    defer { wantedKeyFrames = [] }
    return wantedKeyFrames
  }

  // MARK: What happens

  mutating func add(_ stream: RecordedStream, _ id: SubscriptionID, _ codec: Codec, now: MediaTime) {
    let known = streams[stream.id] ?? Stream(stream, began: began)
    streams[stream.id] = known
    known.recorder.add(id, codec, now: now)
    perform(known)
  }

  mutating func remove(_ id: SubscriptionID, of stream: StreamID, now: MediaTime) {
    guard let stream = streams[stream] else { return }
    stream.recorder.remove(id, now: now)
    perform(stream)
  }

  mutating func note(_ change: RecordingChange, now: MediaTime) {
    let milliseconds = max(0, now.microseconds - began.microseconds) / 1_000
    manifest.changes.append(RecordingManifest.Change(milliseconds: milliseconds, what: change))
    hasChanged = true
  }

  mutating func receive(_ packet: TappedBatch.Packet, _ media: [UInt8], of stream: StreamID) {
    streams[stream]?.recorder.receive(packet, media)
  }

  mutating func receive(_ report: TappedBatch.Report, of stream: StreamID) {
    streams[stream]?.recorder.receive(report)
  }

  mutating func advance(to now: MediaTime) {
    for stream in streams.values {
      stream.recorder.advance(to: now)
      perform(stream)
    }
    guard hasChanged, !isBroken else { return }
    hasChanged = false
    do throws(RecordingFileError) { try folder.write(manifest) } catch { fail("\(error)") }
  }

  /// Its files are numbered on if it comes again.
  mutating func end(_ stream: StreamID, now: MediaTime) {
    guard let stream = streams[stream] else { return }
    stream.recorder.finish(now: now)
    perform(stream)
  }

  mutating func finish(now: MediaTime) -> RecordingSummary {
    for stream in Array(streams.keys) { end(stream, now: now) }
    streams = [:]
    do throws(RecordingFileError) {
      // What could not be written is missing in the files, as after a crash.
      if isBroken { manifest = try folder.recover() } else { try folder.write(manifest) }
    } catch {
      fail("\(error)")
    }
    usage.add(manifest.bytes - bytes)
    // Nobody asks for a folder without files.
    if manifest.files.isEmpty { folder.remove() }
    return RecordingSummary(
      recording: folder.id, project: usage.project, durationMilliseconds: manifest.durationMilliseconds, bytes: manifest.bytes,
      mainFile: ByteString(manifest.mainFile), filesCount: manifest.files.count, reason: reason)
  }

  // MARK: Files

  private mutating func fail(_ reason: String) { if !isBroken { self.reason = ByteString(reason) } }

  private mutating func perform(_ stream: Stream) {
    for output in stream.recorder.takeOutputs() where !isBroken {
      do throws(RecordingFileError) { try perform(output, stream) } catch { fail("\(error)") }
    }
    if isBroken { stream.file = nil }
  }

  private mutating func perform(_ output: StreamRecorder.Output, _ stream: Stream) throws(RecordingFileError) {
    switch output {
    case .begin(let part, let header):
      guard manifest.files.count < filesLimit else {
        isFull = true
        return
      }
      let name = Self.name(stream.description, part)
      stream.file = try RecordingFile(creating: folder.file(name))
      try write(header, stream)
      manifest.files.append(RecordingManifest.File(name, of: RecordingManifest.Stream(stream.description), part))
      try folder.write(manifest)
    case .write(let bytes): try write(bytes, stream)
    case .patch(let patch): try stream.file?.write(patch.bytes, at: patch.offset)
    case .end(let part):
      let name = Self.name(stream.description, part)
      guard let index = manifest.files.firstIndex(where: { $0.name == name }) else { return }
      manifest.files[index].durationMilliseconds = part.durationMilliseconds
      manifest.files[index].bytes = part.bytes
      stream.file = nil
      try folder.write(manifest)
    case .wantKeyFrame(let id): wantedKeyFrames.append(id)
    }
  }

  /// `STREAM-1.webm`.
  private static func name(_ stream: RecordedStream, _ part: StreamPart) -> String {
    "\(stream.id)-\(part.number).\(part.tracks.allSatisfy(\.isWebM) ? "webm" : "mkv")"
  }

  private mutating func write(_ content: [UInt8], _ stream: Stream) throws(RecordingFileError) {
    guard stream.file != nil else { return }
    guard usage.take(content.count) else { return fail("The quota of recordings is used up.") }
    bytes += Int64(content.count)
    try stream.file?.append(content)
  }
}

extension RecordingManifest.Stream {
  init(_ stream: RecordedStream) {
    self.init(
      id: stream.id.text, connection: stream.connection.text, connectionData: stream.connectionData, name: stream.name,
      videoType: ByteString(stream.videoType.rawValue))
  }
}
