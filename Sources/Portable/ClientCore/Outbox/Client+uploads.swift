import JSON
import MatrixModel

extension Client {
  /// Asks the server once how large files may be. Spec: `GET /_matrix/client/v1/media/config`.
  mutating func knowsFileLimit() -> Bool {
    if outbox.fileLimitState == .unknown {
      outbox.fileLimitState = .asked
      request(.getConfigAuthed, Endpoint.getConfigAuthed.path(), for: .mediaLimit)
    }
    return outbox.fileLimitState == .known
  }

  /// A server that does not say is asked by the upload itself.
  mutating func mediaLimitAnswered(_ answer: Answer) {
    if case .success(let json) = answer { outbox.fileLimit = json["m.upload.size"]?.natural }
    outbox.fileLimitState = .known
    pumpOutbox()
  }

  mutating func uploadMoved(_ id: RequestID, sentBytes: Int64, totalBytes: Int64) {
    guard case .upload(let entryID)? = pending.requests[id]?.purpose, var entry = outbox[entryID], let file = entry.nextFile
    else {
      return
    }
    if entry.payload.files[file].sizeBytes == nil { entry.payload.files[file].sizeBytes = max(0, totalBytes) }
    entry.sentBytes = min(entry.uploadedBytes &+ max(0, sentBytes), entry.totalBytes)
    outbox[entryID] = entry
    showProgress(of: entry)
  }

  mutating func uploadAnswered(_ answer: Answer, _ id: OutboxEntry.ID) {
    guard var entry = outbox[id], let file = entry.nextFile else { return }
    guard case .success(let json) = answer else { return uploadFailed(entry, answer) }
    guard let source = MediaURI(json["content_uri"]) else { return fail(id, .badAnswer) }
    entry.payload.files[file].uri = source
    entry.backoff.reset()
    entry.sentBytes = entry.uploadedBytes
    outbox[id] = entry
    // The end of the last file is seen, too.
    showProgress(of: entry)
    outbox[id]?.phase = .storing
    // Written first: after a restart the file is not sent a second time.
    store([id], in: entry.roomID)
  }

  private mutating func uploadFailed(_ entry: OutboxEntry, _ answer: Answer) {
    if case .refused(let error, _) = answer, error.status == 413 || error.code == .tooLarge {
      // The limit may have changed since it was asked for.
      outbox.fileLimitState = .unknown
      return fail(entry.id, outbox.fileLimit.map { .tooLarge(limitBytes: $0) } ?? answer.error ?? .badAnswer)
    }
    sendAnswered(answer, entry.id)
  }

  /// nil where all files are small enough, as far as is known.
  func tooLarge(_ files: [OutboxFile]) -> ClientError? {
    guard let limit = outbox.fileLimit, files.contains(where: { ($0.sizeBytes ?? 0) > limit }) else { return nil }
    return .tooLarge(limitBytes: limit)
  }
}
