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

  /// Files of entries that are stored, the first first, as many at a time as a room may have. No order is kept among them: what has all its
  /// files waits for its turn.
  mutating func startUploads(in room: RoomID) {
    guard rooms[room]?.membership == .join else { return }
    let isEncrypted = rooms[room]?.isEncrypted ?? false
    if isEncrypted { for entry in outbox.entries(in: room) where entry.isWaiting { forgetClearFiles(of: entry) } }
    var free = Limits.uploadsInRoom - outbox.uploads(in: room)
    for waiting in outbox.entries where waiting.roomID == room && waiting.takesUploads && free > 0 {
      guard knowsFileLimit() else { return }
      // It may have failed since, with what it speaks of.
      guard var entry = outbox[waiting.id], entry.takesUploads else { continue }
      // A file would be there for the server to read, though the message is never sent.
      if isRefused(entry.payload, in: room) {
        fail(entry.id, .encryptedRoom)
        continue
      }
      guard knowsEncryption(of: room) else { return }
      if let error = tooLarge(entry.payload.files) {
        fail(entry.id, error)
        continue
      }
      let before = free
      for i in entry.payload.files.indices where free > 0 {
        let file = entry.payload.files[i]
        guard file.uri == nil, file.request == nil else { continue }
        entry.payload.files[i].keys = nil
        entry.payload.files[i].isEncrypting = isEncrypted
        entry.payload.files[i].request =
          isEncrypted
          ? uploadEncrypted(file.blob, for: .upload(entry.id))
          : upload(file.blob, mimeType: file.mimeType, fileName: file.fileName, for: .upload(entry.id))
        free -= 1
      }
      if free == before { continue }
      entry.phase = .uploading
      entry.heldUntil = nil
      outbox[entry.id] = entry
      outbox.unencryptedRooms.remove(room)
      showProgress(of: entry)
    }
  }

  mutating func endUploads(of id: OutboxEntry.ID) {
    guard let entry = outbox[id], entry.uploads > 0 else { return }
    for file in entry.payload.files { if let request = file.request { cancelRequest(request) } }
    outbox[id]?.payload.forgetUploads()
  }

  mutating func uploadMoved(_ id: RequestID, sentBytes: Int64, totalBytes: Int64) {
    guard case .upload(let entryID)? = pending.requests[id]?.purpose, var entry = outbox[entryID],
      let file = entry.payload.files.firstIndex(where: { $0.request == id })
    else { return }
    let size = entry.payload.files[file].sizeBytes ?? max(0, totalBytes)
    entry.payload.files[file].sizeBytes = size
    entry.payload.files[file].sentBytes = max(0, min(sentBytes, size))
    outbox[entryID] = entry
    showProgress(of: entry)
  }

  mutating func fileEncrypted(_ id: RequestID, _ keys: FileKeys) {
    guard let request = pending.requests[id], request.encryptsBlob, case .upload(let entry) = request.purpose,
      let file = outbox[entry]?.payload.files.firstIndex(where: { $0.request == id })
    else { return }
    outbox[entry]?.payload.files[file].keys = keys
  }

  mutating func uploadAnswered(_ answer: Answer, _ id: OutboxEntry.ID) {
    // The one whose request is over.
    guard var entry = outbox[id],
      let file = entry.payload.files.firstIndex(where: { $0.request.map { pending.requests[$0] == nil } ?? false })
    else { return }
    entry.payload.files[file].request = nil
    guard case .success(let json) = answer else {
      outbox[id] = entry
      return uploadFailed(entry, answer)
    }
    guard let source = MediaURI(json["content_uri"]) else { return fail(id, .badAnswer) }
    // A host that has not said how it encrypted it.
    if entry.payload.files[file].isEncrypting, entry.payload.files[file].keys == nil { return fail(id, .encryptedRoom) }
    entry.payload.files[file].uri = source
    entry.backoff.reset()
    outbox[id] = entry
    // The end of the last file is seen, too.
    showProgress(of: entry)
    if entry.uploads == 0 { outbox[id]?.phase = entry.hasAllFiles ? .storing : .queued }
    // Written before it is sent: after a restart the file is not sent a second time.
    store([id], in: entry.roomID)
    pump(entry.roomID)
    // The next file has to wait.
    if let entry = outbox[id], case .queued = entry.phase { showProgress(of: entry) }
  }

  private mutating func uploadFailed(_ entry: OutboxEntry, _ answer: Answer) {
    if case .refused(let error, _) = answer, error.status == 413 || error.code == .tooLarge {
      // The limit may have changed since it was asked for.
      outbox.fileLimitState = .unknown
      return fail(entry.id, outbox.fileLimit.map { .tooLarge(limitBytes: $0) } ?? answer.error ?? .badAnswer)
    }
    sendAnswered(answer, entry.id)
  }

  /// nil where all files that are still to be uploaded are small enough, as far as is known.
  func tooLarge(_ files: [OutboxFile]) -> ClientError? {
    guard let limit = outbox.fileLimit, files.contains(where: { $0.uri == nil && ($0.sizeBytes ?? 0) > limit }) else {
      return nil
    }
    return .tooLarge(limitBytes: limit)
  }
}
