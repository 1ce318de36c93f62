import JSON
import MatrixModel
import ServerAccounts
import Telemetry

/// How recordings begin and end.
extension CallServer {
  private static let log = Log("calls")

  /// What recordings take up.
  package nonisolated var recordedBytes: Int64 { recordings.usage.bytes }
  /// Batches of media that the recording thread was too slow for.
  package nonisolated var recordedLosses: Int { recordings.thread.dropped.load(ordering: .relaxed) }

  /// Records a session from now on: the row first, then everybody in the session is told.
  ///
  /// Throws `CallRefusal`: `not_found` where nobody is in it, `invalid` where it cannot be recorded or is already, `limit` where there is no room; and
  /// the database's errors.
  func startRecording(
    of session: CallSessions.Session, _ options: RecordingOptions, _ layout: RecordingLayout = RecordingLayout()
  ) async throws -> StoredRecording {
    guard session.isRouted else { throw CallRefusal.invalid("Media of this session goes between its peers.") }
    if let roomID = session.roomID { throw try await recordingRefusal(in: roomID) }
    guard live[session.id]?.state.recordingID == nil else { throw SessionLogic.isRecorded }
    guard !recordings.usage.share(of: session.project).isFull else {
      throw CallRefusal(.limit, "The quota of recordings is used up.")
    }
    var random = SystemRandomNumberGenerator()
    let recording = StoredRecording(
      id: RecordingID(trusted: CallName.random(using: &random)), project: session.project, session: session.id,
      options: options,
      created: clock.now())
    try await recordings.rows.insert(recording)
    do {
      try act(in: session.id) { (state, now) throws(CallRefusal) in
        try state.startRecording(recording.id, options, layout, now: now)
      }
    } catch {
      try await recordings.rows.delete(recording.id)
      throw error
    }
    tell(of: recording)
    return recording
  }

  /// Nobody could get the files of a room's call. In an encrypted room they would be noise.
  private func recordingRefusal(in roomID: RoomID) async throws -> CallRefusal {
    guard try await rooms.isEncrypted(roomID) else { return .invalid("Calls in rooms are not recorded.") }
    return .invalid("This call is end-to-end encrypted: the server can neither see nor hear it, and cannot record it.")
  }

  private func tell(of recording: StoredRecording) {
    guard callbacks.wants(recording.project) else { return }
    callbacks.post(json(recording, nil, isEvent: true), for: recording.project)
  }

  /// Ends a recording. Its row says `stopped` until its files are whole.
  ///
  /// Throws `CallRefusal` `invalid` for one that has ended; the database's errors.
  func stopRecording(_ recording: StoredRecording) async throws -> StoredRecording {
    guard run(recording.session, { state, _ in state.stopRecording(recording.id) }) == true else {
      throw CallRefusal.invalid("The archive has ended.")
    }
    var stopped = recording
    stopped.status = .stopped
    stopped.durationMilliseconds = max(0, clock.now() - recording.created)
    // What is known of its files may stand there already.
    try await recordings.rows.stop(recording.id, durationMilliseconds: stopped.durationMilliseconds)
    tell(of: stopped)
    return stopped
  }

  /// What a session asks for: a moderator of it, or the session itself.
  func take(_ request: RecordingRequest, in id: SessionID) {
    guard let session = live[id]?.session else { return }
    Task {
      let result: Result<RecordingID, CallRefusal>
      do { result = .success(try await carryOut(request, session)) } catch {
        result = .failure(error as? CallRefusal ?? CallRefusal(.limit, "The recording could not be kept."))
        // What anybody may ask for and is refused concerns no operator.
        if !(error is CallRefusal) {
          Self.log.warning("a recording did not begin or end", ["session": .text(id.string), "error": .text("\(error)")])
        }
      }
      run(id) { state, _ in state.answer(request, result) }
    }
  }

  private func carryOut(_ request: RecordingRequest, _ session: CallSessions.Session) async throws -> RecordingID {
    if request.starts {
      var options = RecordingOptions()
      options.isComposed = false
      return try await startRecording(of: session, options).id
    }
    guard let id = live[session.id]?.state.recordingID, let recording = try await recordings.rows.recording(id) else {
      throw CallRefusal.invalid("The session is not recorded.")
    }
    return try await stopRecording(recording).id
  }

  // MARK: Afterwards

  /// The files of a recording are whole.
  func finish(_ summary: RecordingSummary) async {
    // The disk or the quota may have ended it, and not the session.
    if let id = live.first(where: { $0.value.state.recordingID == summary.recording })?.key {
      run(id) { state, _ in state.stopRecording(summary.recording) }
    }
    await keep(summary.recording) { recording in
      // Of one that is finished at a start, the reason may stand there already.
      if !summary.reason.isEmpty { recording.reason = summary.reason }
      if recording.reason.isEmpty, summary.filesCount == 0 { recording.reason = "Nothing was published." }
      recording.durationMilliseconds = summary.durationMilliseconds
      recording.bytes = summary.bytes
      recording.mainFile = summary.filesCount == 0 ? "" : summary.mainFile
      recording.status = summary.filesCount == 0 ? .failed : recording.options.isComposed ? .stopped : .available
    }
    guard let recording = try? await recordings.rows.recording(summary.recording) else {
      // Deleted meanwhile.
      return await recordings.removeFiles(of: summary.recording, summary.project, bytes: summary.bytes)
    }
    if recording.status == .stopped { compose(recording) }
  }

  /// Makes one file of the streams' files, in its turn; without it the recording is available too.
  private func compose(_ recording: StoredRecording) {
    let task = Task {
      let result: Result<RecordingManifest, Composer.Failure>
      do throws(Composer.Failure) { result = .success(try await recordings.compose(recording)) } catch {
        result = .failure(error)
      }
      // A server that stops begins anew when it comes back.
      if case .failure(let failure) = result, failure.reason.isEmpty { return }
      await keep(recording.id) { recording in
        recording.status = .available
        switch result {
        case .success(let manifest): (recording.bytes, recording.mainFile) = (manifest.bytes, ByteString(manifest.mainFile))
        case .failure(let failure):
          recording.reason = ByteString(
            [recording.reason, failure.reason].filter { !$0.isEmpty }.map(\.string).joined(separator: " "))
        }
      }
      compositions[recording.id] = nil
    }
    compositions[recording.id] = task
  }

  /// Changes a recording's row, where it is still there.
  private func keep(_ id: RecordingID, _ change: (inout StoredRecording) -> Void) async {
    do {
      guard var recording = try await recordings.rows.recording(id) else { return }
      change(&recording)
      try await recordings.rows.update(recording)
      tell(of: recording)
    } catch {
      Self.log.error("what became of a recording was not kept", ["recording": .text(id.string), "error": .text("\(error)")])
    }
  }

  /// What a project recorded goes with its key.
  func deleteRecordings(of project: ProjectID) async {
    do {
      for recording in try await recordings.rows.all(of: project) { try await recordings.delete(recording) }
    } catch {
      Self.log.error("recordings were not deleted", ["project": .text(project.string), "error": .text("\(error)")])
    }
  }
}
