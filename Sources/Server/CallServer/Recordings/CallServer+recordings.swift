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
  package nonisolated var recordedLosses: Int { recordings.recorder.dropped.load(ordering: .relaxed) }

  /// Records a session from now on: the row first, then everybody in the session is told.
  ///
  /// Throws `CallRefusal`: `not_found` where nobody is in it, `invalid` where it cannot be recorded or is already, `limit` where there is no room; and
  /// the database's errors.
  func startArchive(
    of session: CallSessions.Session, _ options: ArchiveOptions, _ layout: ArchiveLayout = ArchiveLayout()
  ) async throws -> Archive {
    guard session.isRouted else { throw CallRefusal.invalid("Media of this session goes between its peers.") }
    guard session.roomID == nil else { throw CallRefusal.invalid("Calls in rooms are not recorded.") }
    guard live[session.id]?.state.archive == nil else { throw SessionState.isRecorded }
    guard !recordings.usage.share(of: session.project).isFull else {
      throw CallRefusal(.limit, "The quota of recordings is used up.")
    }
    var random = SystemRandomNumberGenerator()
    let archive = Archive(
      id: ArchiveID(trusted: CallName.random(using: &random)), project: session.project, session: session.id, options: options,
      created: clock.now())
    try await recordings.rows.insert(archive)
    do {
      try act(in: session.id) { (state, now) throws(CallRefusal) in
        try state.startRecording(archive.id, options, layout, now: now)
      }
    } catch {
      try await recordings.rows.delete(archive.id)
      throw error
    }
    tell(of: archive)
    return archive
  }

  private func tell(of archive: Archive) {
    guard callbacks.wants(archive.project) else { return }
    callbacks.post(json(archive, nil, isEvent: true), for: archive.project)
  }

  /// Ends a recording. Its row says `stopped` until its files are whole.
  ///
  /// Throws `CallRefusal` `invalid` for one that has ended; the database's errors.
  func stopArchive(_ archive: Archive) async throws -> Archive {
    guard run(archive.session, { state, _ in state.stopRecording(archive.id) }) == true else {
      throw CallRefusal.invalid("The archive has ended.")
    }
    var stopped = archive
    stopped.status = .stopped
    stopped.durationMilliseconds = max(0, clock.now() - archive.created)
    // What is known of its files may stand there already.
    try await recordings.rows.stop(archive.id, durationMilliseconds: stopped.durationMilliseconds)
    tell(of: stopped)
    return stopped
  }

  /// What a session asks for: a moderator of it, or the session itself.
  func take(_ request: ArchiveRequest, in id: SessionID) {
    guard let session = live[id]?.session else { return }
    Task {
      let result: Result<ArchiveID, CallRefusal>
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

  private func carryOut(_ request: ArchiveRequest, _ session: CallSessions.Session) async throws -> ArchiveID {
    if request.starts {
      var options = ArchiveOptions()
      options.isComposed = false
      return try await startArchive(of: session, options).id
    }
    guard let id = live[session.id]?.state.archive, let archive = try await recordings.rows.archive(id) else {
      throw CallRefusal.invalid("The session is not recorded.")
    }
    return try await stopArchive(archive).id
  }

  // MARK: Afterwards

  /// The files of a recording are whole.
  func finish(_ summary: ArchiveSummary) async {
    // The disk or the quota may have ended it, and not the session.
    if let id = live.first(where: { $0.value.state.archive == summary.archive })?.key {
      run(id) { state, _ in state.stopRecording(summary.archive) }
    }
    await keep(summary.archive) { archive in
      // Of one that is finished at a start, the reason may stand there already.
      if !summary.reason.isEmpty { archive.reason = summary.reason }
      if archive.reason.isEmpty, summary.filesCount == 0 { archive.reason = "Nothing was published." }
      archive.durationMilliseconds = summary.durationMilliseconds
      archive.bytes = summary.bytes
      archive.mainFile = summary.filesCount == 0 ? "" : summary.mainFile
      archive.status = summary.filesCount == 0 ? .failed : archive.options.isComposed ? .stopped : .available
    }
    guard let archive = try? await recordings.rows.archive(summary.archive) else {
      // Deleted meanwhile.
      return await recordings.removeFiles(of: summary.archive, summary.project, bytes: summary.bytes)
    }
    if archive.status == .stopped { compose(archive) }
  }

  /// Makes one file of the streams' files, in its turn; without it the archive is available too.
  private func compose(_ archive: Archive) {
    let task = Task {
      let result: Result<ArchiveManifest, Composer.Failure>
      do throws(Composer.Failure) { result = .success(try await recordings.compose(archive)) } catch {
        result = .failure(error)
      }
      // A server that stops begins anew when it comes back.
      if case .failure(let failure) = result, failure.reason.isEmpty { return }
      await keep(archive.id) { archive in
        archive.status = .available
        switch result {
        case .success(let manifest): (archive.bytes, archive.mainFile) = (manifest.bytes, ByteString(manifest.mainFile))
        case .failure(let failure):
          archive.reason = ByteString(
            [archive.reason, failure.reason].filter { !$0.isEmpty }.map(\.string).joined(separator: " "))
        }
      }
      compositions[archive.id] = nil
    }
    compositions[archive.id] = task
  }

  /// Changes a recording's row, where it is still there.
  private func keep(_ id: ArchiveID, _ change: (inout Archive) -> Void) async {
    do {
      guard var archive = try await recordings.rows.archive(id) else { return }
      change(&archive)
      try await recordings.rows.update(archive)
      tell(of: archive)
    } catch {
      Self.log.error("what became of a recording was not kept", ["archive": .text(id.string), "error": .text("\(error)")])
    }
  }

  /// What a project recorded goes with its key.
  func deleteArchives(of project: ProjectID) async {
    do {
      for archive in try await recordings.rows.all(of: project) { try await recordings.delete(archive) }
    } catch {
      Self.log.error("recordings were not deleted", ["project": .text(project.string), "error": .text("\(error)")])
    }
  }
}
