import MediaRouter

/// Records one stream, its sound and its picture, into files: packets, reports and time go in; what is to be written comes out.
///
/// A file says in its beginning what it holds. What is not said there (a picture that comes later, another codec) begins a new one.
package struct StreamRecorder {
  package enum Output: Sendable, Equatable {
    /// A new file, and its first bytes.
    case begin(StreamPart, header: [UInt8])
    /// Behind what is there.
    case write([UInt8])
    case patch(WebMWriter.Patch)
    /// The file is whole.
    case end(StreamPart)
    case wantKeyFrame(SubscriptionID)
  }

  /// Frames are held back so long, so that sound and picture come into their order.
  package static let delay = MediaTime.Interval.milliseconds(600)
  /// So long a file waits for the picture that its beginning has to tell of.
  package static let patience = MediaTime.Interval.seconds(3)
  /// Of frames that wait; the oldest go first.
  package static let heldBytesLimit = 32 << 20
  /// A file has a frame of a track each millisecond at most. Where more come, it runs ahead of their times so far and leaves out the rest.
  static let leadMillisecondsLimit: Int64 = 5_000

  private struct Track {
    let id: SubscriptionID
    var assembler: FrameAssembler
    var clock: TrackClock
    /// What a file that begins now says of it; nil for a picture that has not come.
    var format: WebMTrack?
    /// The file's picture cannot be seen before a key frame.
    var mustBegin = true
  }

  private struct Held {
    let ticks: Int64
    let isVideo: Bool
    let frame: MediaFrame
    /// By what is known when it is looked at.
    var time: Int64 = 0
  }

  private let began: MediaTime
  private var audio: Track?
  private var video: Track?
  private var publisherClock: Int64?
  private var held: [Held] = []
  private var heldBytes = 0
  private var file: (part: StreamPart, writer: WebMWriter, start: Int64)?
  private var lastNumber = 0
  private var outputs: [Output] = []

  /// - Parameter began: when the recording began.
  package init(began: MediaTime) { self.began = began }

  package mutating func takeOutputs() -> [Output] {
    defer { outputs = [] }
    return outputs
  }

  // MARK: Tracks

  package static func records(_ codec: Codec) -> Bool { codec != .av1 }

  package mutating func add(_ id: SubscriptionID, _ codec: Codec, now: MediaTime) {
    remove(isVideo: codec.isVideo, now: now)
    let track = Track(
      id: id, assembler: FrameAssembler(codec), clock: TrackClock(rate: codec.clockRate), format: codec == .opus ? .opus : nil)
    if codec.isVideo { video = track } else { audio = track }
  }

  package mutating func remove(_ id: SubscriptionID, now: MediaTime) {
    if audio?.id == id { remove(isVideo: false, now: now) }
    if video?.id == id { remove(isVideo: true, now: now) }
  }

  private mutating func remove(isVideo: Bool, now: MediaTime) {
    end(isVideo: isVideo, now: now)
    // While what it is is known.
    release(until: .max, now)
    if isVideo { video = nil } else { audio = nil }
  }

  private mutating func end(isVideo: Bool, now: MediaTime) {
    with(isVideo: isVideo) { track, frames in track.assembler.advance(to: now, isOver: true, into: &frames) }
  }

  // MARK: What comes

  package mutating func receive(_ packet: TappedBatch.Packet, _ media: [UInt8]) {
    let isVideo = packet.subscription == video?.id
    guard isVideo || packet.subscription == audio?.id else { return }
    with(isVideo: isVideo) { track, frames in track.assembler.receive(packet, media, into: &frames) }
  }

  package mutating func receive(_ report: TappedBatch.Report) {
    if report.subscription == video?.id { video?.clock.take(report, publisher: &publisherClock) }
    if report.subscription == audio?.id { audio?.clock.take(report, publisher: &publisherClock) }
  }

  /// Gives out what is due. To be called several times a second.
  package mutating func advance(to now: MediaTime) {
    for isVideo in [false, true] {
      with(isVideo: isVideo) { track, frames in track.assembler.advance(to: now, into: &frames) }
    }
    release(until: now.microseconds - Self.delay.microseconds, now)
  }

  /// Gives out all there is; nothing may come after it.
  package mutating func finish(now: MediaTime) {
    for isVideo in [false, true] { end(isVideo: isVideo, now: now) }
    for isVideo in [false, true] { remove(isVideo: isVideo, now: now) }
    endFile()
  }

  private mutating func with(isVideo: Bool, _ body: (inout Track, inout [MediaFrame]) -> Void) {
    guard var track = isVideo ? video : audio else { return }
    var frames: [MediaFrame] = []
    body(&track, &frames)
    if track.assembler.takeWantsKeyFrame() { outputs.append(.wantKeyFrame(track.id)) }
    for frame in frames {
      if let format = frame.track { track.format = format }
      held.append(Held(ticks: track.clock.ticks(of: frame.timestamp, arrival: frame.arrival), isVideo: isVideo, frame: frame))
      heldBytes += frame.bytes.count
    }
    if isVideo { video = track } else { audio = track }
  }

  // MARK: What goes into files

  private mutating func release(until time: Int64, _ now: MediaTime) {
    for i in held.indices { held[i].time = self.time(of: held[i]) }
    guard held.contains(where: { $0.time <= time }) || heldBytes > Self.heldBytesLimit else { return }
    // A stable order: of one track as they came.
    held = held.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
    var count = 0
    while count < held.count, held[count].time <= time || heldBytes > Self.heldBytesLimit {
      if file == nil, mustWait(held[count], now), time != .max, heldBytes <= Self.heldBytesLimit { break }
      heldBytes -= held[count].frame.bytes.count
      write(held[count])
      count += 1
    }
    held.removeFirst(count)
  }

  /// However far reports have moved the clock since: near its arrival.
  private func time(of item: Held) -> Int64 {
    let time = (item.isVideo ? video : audio)?.clock.time(of: item.ticks) ?? 0
    let arrival = item.frame.arrival.microseconds
    return min(max(time, arrival - TrackClock.differenceLimit), arrival + TrackClock.differenceLimit)
  }

  private func mustWait(_ first: Held, _ now: MediaTime) -> Bool {
    video != nil && video?.format == nil && now.microseconds - first.time < Self.patience.microseconds
  }

  private mutating func write(_ item: Held) {
    if !covers(item) { endFile() }
    if file == nil, !begin(with: item) { return }
    guard var current = file else { return }
    if item.isVideo, !item.frame.isKey, video?.mustBegin ?? false { return }
    if item.isVideo { video?.mustBegin = false }
    guard let track = current.writer.tracks.firstIndex(where: { $0.isVideo == item.isVideo }) else { return }
    let milliseconds = (item.time - current.start) / 1_000
    guard current.writer.lead(of: track, at: milliseconds) <= Self.leadMillisecondsLimit else { return }
    let bytes = current.writer.add(item.frame.bytes, track: track, milliseconds: milliseconds, isKey: item.frame.isKey)
    if item.isVideo { current.part.videoFrames += 1 } else { current.part.audioFrames += 1 }
    file = current
    if !bytes.isEmpty { outputs.append(.write(bytes)) }
  }

  /// Whether the file's beginning tells of what this frame is. Another size is no matter: it stands in the frames.
  private func covers(_ item: Held) -> Bool {
    guard let file else { return true }
    guard let there = file.writer.tracks.first(where: { $0.isVideo == item.isVideo }) else {
      return item.isVideo && !item.frame.isKey
    }
    guard let new = item.frame.track else { return true }
    return switch (there, new) {
    case (.vp8, .vp8), (.vp9, .vp9), (.h264, .h264): true
    default: false
    }
  }

  /// False for what no file can begin with.
  private mutating func begin(with item: Held) -> Bool {
    if item.isVideo, item.frame.track == nil { return false }
    var tracks: [WebMTrack] = []
    if let format = item.frame.track ?? video?.format { tracks.append(format) }
    if audio != nil || !item.isVideo { tracks.append(.opus) }
    lastNumber += 1
    let writer = WebMWriter(tracks)
    let part = StreamPart(
      number: lastNumber, startMilliseconds: max(0, (item.time - began.microseconds) / 1_000), tracks: tracks)
    file = (part, writer, item.time)
    if video?.mustBegin == false, !item.isVideo, let id = video?.id { outputs.append(.wantKeyFrame(id)) }
    video?.mustBegin = true
    outputs.append(.begin(part, header: writer.header))
    return true
  }

  private mutating func endFile() {
    guard var current = file else { return }
    let last = current.writer.flush()
    if !last.isEmpty { outputs.append(.write(last)) }
    let (end, patches) = current.writer.finished()
    outputs.append(.write(end))
    for patch in patches { outputs.append(.patch(patch)) }
    current.part.durationMilliseconds = current.writer.durationMilliseconds
    current.part.bytes = current.writer.bytes + Int64(end.count)
    outputs.append(.end(current.part))
    file = nil
  }
}
