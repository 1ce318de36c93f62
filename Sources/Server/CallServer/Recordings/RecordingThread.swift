import CLinux
import EventLoop
import Glibc
import JSON
import MediaRouter
import Recording
import Synchronization

/// The thread that writes recordings: what sessions tell and what the worker forwards waits for it in one queue, in order.
// @unchecked: `mailbox` guards what others touch; the rest belongs to the thread.
final class RecordingThread: @unchecked Sendable {
  private enum Message {
    case command(RecordingCommand)
    case media(TappedBatch)
  }

  private struct Mailbox {
    var messages: [Message] = []
    var mediaBytes = 0
    var end = ThreadEnd(hasBegun: false)
  }

  /// How often what is due is written.
  private static let intervalMilliseconds: Int32 = 200

  /// Batches that found the queue full.
  let dropped = Atomic<Int>(0)
  private let wake: Int32
  private let mailbox = Mutex(Mailbox())
  private let directory: String
  private let usage: RecordingUsage
  private let onFinish: @Sendable (RecordingSummary) -> Void
  private let refresh: @Sendable ([SubscriptionID]) -> Void

  // Of the thread.
  private var writers: [RecordingID: Box] = [:]
  private var streams: [SubscriptionID: (recording: RecordingID, stream: StreamID)] = [:]
  private var lastAdvance = MediaTime(microseconds: 0)

  private final class Box {
    var writer: RecordingWriter
    init(_ writer: consuming RecordingWriter) { self.writer = writer }
  }

  /// - Parameters:
  ///   - onFinish: called on the thread when the files of a recording are whole.
  ///   - refresh: which recorded tracks want a key frame.
  init(
    in directory: String, _ usage: RecordingUsage, onFinish: @escaping @Sendable (RecordingSummary) -> Void,
    refresh: @escaping @Sendable ([SubscriptionID]) -> Void
  ) throws(RecordingFileError) {
    try RecordingFolder.makeRoot(in: directory)
    self.directory = directory
    self.usage = usage
    self.onFinish = onFinish
    self.refresh = refresh
    wake = datagrams_mailbox()
    guard wake >= 0 else { throw RecordingFileError("eventfd") }
  }

  deinit { close(wake) }

  /// Starts the thread. Once. False where the system has none.
  func start() -> Bool {
    mailbox.withLock { $0.end.begin() }
    return spawnThread(name: "recording") { self.run() }
  }

  func submit(_ command: RecordingCommand) {
    mailbox.withLock { $0.messages.append(.command(command)) }
    ring()
  }

  /// From the worker's thread: never waits; what finds the queue full is left out and counted.
  func submit(_ batch: TappedBatch) {
    let isTaken = mailbox.withLock { mailbox in
      guard mailbox.mediaBytes + batch.cost <= CallLimits.recordedBytesWaiting else { return false }
      mailbox.mediaBytes += batch.cost
      mailbox.messages.append(.media(batch))
      return true
    }
    // While there are recordings the thread looks by itself.
    if !isTaken { dropped.wrappingAdd(1, ordering: .relaxed) }
  }

  /// Ends all recordings and returns when their files are whole.
  func stop() async {
    await withCheckedContinuation { done in
      if mailbox.withLock({ $0.end.wait(done) }) { ring() } else { done.resume() }
    }
  }

  private func ring() {
    var one: UInt64 = 1
    _ = write(wake, &one, 8)
  }

  // MARK: The thread

  private static var now: MediaTime {
    MediaTime(microseconds: Int64(clamping: EventLoop.nowNanoseconds / 1_000))
  }

  private func run() {
    var descriptor = pollfd(fd: wake, events: Int16(POLLIN), revents: 0)
    var mustEnd = false
    while !mustEnd {
      poll(&descriptor, 1, writers.isEmpty ? -1 : Self.intervalMilliseconds)
      var count: UInt64 = 0
      _ = read(wake, &count, 8)
      let messages = mailbox.withLock { mailbox in
        defer { (mailbox.messages, mailbox.mediaBytes) = ([], 0) }
        mustEnd = mailbox.end.isWanted
        return mailbox.messages
      }
      for message in messages {
        switch message {
        case .command(let command): handle(command)
        case .media(let batch): receive(batch)
        }
      }
      advance()
    }
    for recording in Array(writers.keys) { finish(recording) }
    for done in mailbox.withLock({ $0.end.finish() }) { done.resume() }
  }

  private func handle(_ command: RecordingCommand) {
    let now = Self.now
    switch command {
    case .begin(let recording, let project):
      do throws(RecordingFileError) {
        let folder = RecordingFolder(recording, in: directory)
        writers[recording] = Box(try RecordingWriter(folder, usage.share(of: project), began: now))
      } catch {
        onFinish(
          RecordingSummary(
            recording: recording, project: project, durationMilliseconds: 0, bytes: 0, mainFile: "", filesCount: 0,
            reason: ByteString("\(error)")))
      }
    case .add(let recording, let stream, let id, let codec):
      guard let box = writers[recording] else { return }
      streams[id] = (recording, stream.id)
      box.writer.add(stream, id, codec, now: now)
    case .remove(let id):
      guard let place = streams.removeValue(forKey: id) else { return }
      writers[place.recording]?.writer.remove(id, of: place.stream, now: now)
    case .change(let recording, let change): writers[recording]?.writer.note(change, now: now)
    case .endStream(let recording, let stream):
      streams = streams.filter { $0.value != (recording, stream) }
      writers[recording]?.writer.end(stream, now: now)
    case .finish(let recording, let reason): finish(recording, reason)
    }
  }

  private func finish(_ recording: RecordingID, _ reason: ByteString = "") {
    guard let box = writers.removeValue(forKey: recording) else { return }
    streams = streams.filter { $0.value.recording != recording }
    var summary = box.writer.finish(now: Self.now)
    if summary.reason.isEmpty { summary.reason = reason }
    onFinish(summary)
  }

  private func receive(_ batch: TappedBatch) {
    for packet in batch.packets {
      guard let place = streams[packet.subscription] else { continue }
      writers[place.recording]?.writer.receive(packet, Array(batch.bytes[packet.media]), of: place.stream)
    }
    for report in batch.reports {
      guard let place = streams[report.subscription] else { continue }
      writers[place.recording]?.writer.receive(report, of: place.stream)
    }
  }

  private func advance() {
    let now = Self.now
    guard now.microseconds - lastAdvance.microseconds >= Int64(Self.intervalMilliseconds) * 1_000 / 2 else { return }
    lastAdvance = now
    for (recording, box) in writers {
      box.writer.advance(to: now)
      let wanted = box.writer.takeWantedKeyFrames()
      if !wanted.isEmpty { refresh(wanted) }
      if box.writer.isBroken { finish(recording) } else if box.writer.isFull { finish(recording, "It has too many files.") }
    }
  }
}
