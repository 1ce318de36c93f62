import JSON
import MediaRouter
import Recording

/// How a session is recorded: one recording at a time, and everyone in the session knows.
///
/// To clients a recording is an archive, as in OpenTok: their messages and refusals say so.
extension SessionLogic {
  /// The recording that goes on; nil if the session is not recorded.
  package var recordingID: RecordingID? { recording?.id }

  /// Begins with what is published. Throws `not_found` where nobody is there, `invalid` where it cannot be or is already.
  package mutating func startRecording(
    _ recordingID: RecordingID, _ options: RecordingOptions, _ layout: RecordingLayout = RecordingLayout(), now: CallTime
  ) throws(CallRefusal) {
    guard isRouted else { throw .invalid("Media of this session goes between its peers.") }
    guard recording == nil else { throw Self.isRecorded }
    guard !connections.isEmpty else { throw CallRefusal(.notFound, "Nobody is in the session.") }
    recording = SessionRecording(
      id: recordingID, options: options, deadline: now.monotonic + CallLimits.recordingMilliseconds)
    add(.recording(.begin(recordingID, of: id.project ?? .rooms)))
    if layout != RecordingLayout() { change(.layout(layout)) }
    for stream in streams.values { record(stream) }
    sayToAll(
      Self.message("recording_started") { writer in
        writer.member("archive", recordingID)
        writer.member("name", options.name)
      })
    settle()
  }

  static let isRecorded = CallRefusal(.invalid, "The session is being recorded already.")

  /// False where this recording has ended already.
  @discardableResult
  package mutating func stopRecording(_ recordingID: RecordingID) -> Bool {
    guard recording?.id == recordingID else { return false }
    endRecording()
    settle()
    return true
  }

  /// - Parameter reason: where nobody asked for it.
  mutating func endRecording(_ reason: ByteString = "") {
    guard let ended = recording else { return }
    recording = nil
    for recorder in ended.recorders.values { tell(.unsubscribe(recorder.subscription), on: recorder.worker) }
    add(.recording(.finish(ended.id, reason: reason)))
    sayToAll(Self.message("recording_stopped") { $0.member("archive", ended.id) })
  }

  /// The answer to a moderator's request.
  package mutating func answer(_ request: RecordingRequest, _ result: Result<RecordingID, CallRefusal>) {
    guard let id = request.connection, let number = request.number, has(id) else { return }
    switch result {
    case .success(let recordingID): done(number, id) { $0.member("archive", recordingID) }
    case .failure(let refusal): refuse(number, id, refusal)
    }
    settle()
  }

  // MARK: Streams

  private mutating func record(_ stream: CallStream) {
    for track in stream.tracks { record(track, of: stream.id) }
  }

  /// Where the session is recorded, and this stream with it.
  mutating func record(_ track: CallStream.Track, of name: StreamID) {
    guard let recording, let stream = streams[name], recording.recorders[track.id] == nil, let worker = track.workers.first,
      StreamRecorder.records(track.codec)
    else { return }
    let kinds = recording.kinds(of: name)
    guard track.codec.isVideo ? kinds.video : kinds.audio else { return }
    let subscription = SubscriptionID(nextNumber())
    self.recording?.recorders[track.id] = SessionRecording.Recorder(subscription: subscription, worker: worker)
    noteClasses(of: stream)
    let described = RecordedStream(
      id: name, connection: stream.connection, connectionData: connections[stream.connection]?.token.data ?? "",
      name: stream.description.name, videoType: stream.description.videoType)
    // The recorder knows the name before the first packet.
    add(.recording(.add(recording.id, described, subscription, track.codec)))
    tell(.tap(subscription, of: track.id), on: worker)
  }

  /// A track is gone; its subscription went with it.
  mutating func endRecording(of track: TrackID) {
    guard let recorder = recording?.recorders.removeValue(forKey: track) else { return }
    add(.recording(.remove(recorder.subscription)))
  }

  /// A stream's media is gone.
  mutating func endRecording(of name: StreamID) {
    guard let recording, let stream = streams[name] else { return }
    let ended = stream.tracks.compactMap { self.recording?.recorders.removeValue(forKey: $0.id) }
    if !ended.isEmpty { add(.recording(.endStream(recording.id, name))) }
  }

  // MARK: The composed picture

  /// From now on it is laid out so. Throws `not_found` for another recording, `limit`.
  package mutating func setLayout(_ layout: RecordingLayout, of recordingID: RecordingID) throws(CallRefusal) {
    guard recording?.id == recordingID else { throw CallRefusal(.notFound, "The archive has ended.") }
    try checkChanges(1)
    change(.layout(layout))
  }

  /// Throws `limit` where a recording does not take so many more changes.
  func checkChanges(_ count: Int) throws(CallRefusal) {
    guard let recording, recording.changes + count > CallLimits.changesOfRecording else { return }
    throw CallRefusal(.limit, "A recording has at most \(CallLimits.changesOfRecording) changes of its picture.")
  }

  /// The recorder knows them where it has the stream. Those of a stream that comes after too many changes are left out.
  mutating func noteClasses(of stream: CallStream) {
    guard let recording, recording.changes < CallLimits.changesOfRecording,
      recording.classes[stream.id] ?? [] != stream.layoutClasses
    else { return }
    self.recording?.classes[stream.id] = stream.layoutClasses
    change(.classes(stream.id, stream.layoutClasses))
  }

  private mutating func change(_ change: RecordingChange) {
    guard let recordingID else { return }
    recording?.changes += 1
    add(.recording(.change(recordingID, change)))
  }

  // MARK: Manual mode

  /// Records a stream too, or other kinds of it. Throws `not_found`; `invalid` for a recording of all streams.
  package mutating func addStream(
    _ name: StreamID, to recordingID: RecordingID, audio: Bool, video: Bool
  ) throws(CallRefusal) {
    let stream = try manualStream(name, recordingID)
    removeTracks(of: stream)
    recording?.chosen[name] = SessionRecording.Kinds(audio: audio, video: video)
    record(stream)
  }

  /// Throws `not_found`, `invalid`.
  package mutating func removeStream(_ name: StreamID, from recordingID: RecordingID) throws(CallRefusal) {
    let stream = try manualStream(name, recordingID)
    recording?.chosen[name] = nil
    removeTracks(of: stream)
    add(.recording(.endStream(recordingID, name)))
  }

  private func manualStream(_ name: StreamID, _ recordingID: RecordingID) throws(CallRefusal) -> CallStream {
    guard recording?.id == recordingID else { throw CallRefusal(.notFound, "This archive is not being recorded.") }
    guard let stream = streams[name] else { throw .noStream }
    guard recording?.options.isManual == true else { throw .invalid("This archive has all streams.") }
    return stream
  }

  private mutating func removeTracks(of stream: CallStream) {
    for track in stream.tracks {
      guard let recorder = recording?.recorders[track.id] else { continue }
      tell(.unsubscribe(recorder.subscription), on: recorder.worker)
      endRecording(of: track.id)
    }
  }
}
