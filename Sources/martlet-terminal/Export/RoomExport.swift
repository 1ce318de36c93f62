import Glibc
import JSON
import MatrixClient
import MatrixModel
import Transcripts

/// Writes a room to files. First the history, oldest first, goes to a file of JSON lines, with the room's files beside it; what later
/// events say of earlier ones (edits, reactions, replies) is noted in memory. A page is then written from that file in one go.
struct RoomExport {
  struct Result: Sendable {
    var events = 0
    var files = 0
    var missingFiles = 0
  }

  let client: MatrixClient
  let room: Room
  let plan: ExportPlan
  let takesMedia: Bool

  private static let pageEvents = 500

  init(client: MatrixClient, room: Room, plan: ExportPlan, takesMedia: Bool) {
    self.client = client
    self.room = room
    self.plan = plan
    self.takesMedia = takesMedia
  }

  /// Whatever ends it, there is either the whole export or nothing of it.
  func run() async throws -> Result {
    removeParts()
    do {
      let (result, relations) = try await fetch()
      if plan.format == .html { try render(relations) }
      try publish()
      return result
    } catch {
      removeParts()
      throw error
    }
  }

  // MARK: Fetching

  private func fetch() async throws -> (Result, ExportRelations) {
    let lines = try OutputFile(plan.eventsPart)
    var media = ExportMedia(folder: plan.mediaPart, client: client)
    var relations = ExportRelations()
    var result = Result()
    var from: ByteString?
    var start: Int64?
    let now = Clock.now()
    let bar = ProgressBar()
    while true {
      try Task.checkCancellation()
      let page = try await client.perform(
        .messages(in: room.id, direction: .forwards, from: from, limit: Self.pageEvents))
      for event in page.events {
        try Task.checkCancellation()
        let file = takesMedia ? try await media.fetch(of: event) : nil
        let line = ExportLine(event, file: file.map { plan.mediaName + "/" + $0 })
        relations.note(event, at: lines.length, count: line.bytes.count)
        try lines.append(line.bytes + [UInt8(ascii: "\n")])
        result.events += 1
        let time = event.originServerTimestamp ?? 0
        let first = start ?? time
        start = first
        bar.show(
          (Double(time) - Double(first)) / max(Double(now) - Double(first), 1), "\(result.events) events, \(media.count) files")
      }
      guard let next = page.nextBatch, next != from, !page.events.isEmpty else { break }
      from = next
    }
    try lines.finish()
    result.files = media.count
    result.missingFiles = media.missing
    return (result, relations)
  }

  // MARK: Writing

  private func render(_ relations: ExportRelations) throws {
    let lines = try LineFile(plan.eventsPart)
    let output = try OutputFile(plan.part)
    var transcript = HTMLTranscript(.english, relations)
    transcript.begin(
      title: room.name.english.string, topic: room.topic?.string,
      about: "\(room.id.string) · exported \(Clock.text(Clock.now())) UTC by Martlet; all times are UTC")
    while let bytes = lines.next() {
      try Task.checkCancellation()
      guard let json = try? JSON.parse(bytes), let event = Event(json) else { continue }
      let edit = relations.edit(of: event).flatMap { place in
        (try? JSON.parse(lines.bytes(at: place.offset, count: place.count))).flatMap { Event($0) }
      }
      transcript.add(event, edit: edit, file: try json["martlet.file"]?.string.map { try file(FileKind.name(of: $0)) })
      try output.append(transcript.take())
    }
    transcript.end()
    try output.append(transcript.take())
    try output.finish()
  }

  private func file(_ name: String) throws(TerminalError) -> HTMLTranscript.File {
    let path = plan.mediaPart + "/" + name
    let picture = HTMLMedia.pictureType(path)
    // Nothing but a picture is ever shown by the browser itself: the rest is to be saved.
    let address =
      HTMLMedia.isEmbedded(path)
      ? try HTMLMedia.dataURI(path, type: picture ?? "application/octet-stream")
      : PercentEncoding.encode(ByteString(plan.mediaName)) + "/" + PercentEncoding.encode(ByteString(name))
    return HTMLTranscript.File(address: address, isPicture: picture != nil)
  }

  private func publish() throws {
    if plan.format == .html {
      // The page holds these itself.
      for name in ExportFolder.names(in: plan.mediaPart) where HTMLMedia.isEmbedded(plan.mediaPart + "/" + name) {
        unlink(plan.mediaPart + "/" + name)
      }
      unlink(plan.eventsPart)
    }
    if plan.overwrites { ExportFolder.remove(plan.mediaPath) }
    rmdir(plan.mediaPart)
    if access(plan.mediaPart, F_OK) == 0, rename(plan.mediaPart, plan.mediaPath) != 0 {
      throw TerminalError.failed("\(plan.mediaPath) cannot be made: \(String(cString: strerror(errno)))")
    }
    guard rename(plan.format == .html ? plan.part : plan.eventsPart, plan.path) == 0 else {
      throw TerminalError.failed("\(plan.path) cannot be made: \(String(cString: strerror(errno)))")
    }
  }

  /// Also what a process left that was killed.
  private func removeParts() {
    unlink(plan.part)
    unlink(plan.eventsPart)
    ExportFolder.remove(plan.mediaPart)
  }
}
