import Database
import JSON
import MatrixModel

// Taking content in. Spec: Client-Server API, "Content repository".
extension MediaRepository {
  /// Takes content piece by piece.
  ///
  /// - Parameter pieces: the next piece, nil at the end. Asked for only when the piece before is on disk.
  /// Throws `M_TOO_LARGE`, `M_FORBIDDEN` beyond the user's quota, `M_UNKNOWN` (408) for an upload that drips, and what
  /// `pieces` throws; then nothing is kept.
  package func upload(
    _ upload: MediaUpload, by user: UserID, _ pieces: () async throws -> [UInt8]?
  ) async throws -> MediaURI {
    let mediaID = Self.randomMediaID()
    let file = try await receive(upload, by: user, pieces)
    try await store(file, MediaRow(mediaID: mediaID, upload: upload, owner: user.string)) { [self] tx in
      try checkRoom(tx, for: file.bytesCount, by: user)
    }
    return MediaURI(server: serverName, mediaID: mediaID)
  }

  /// Takes the content of an ID that was created before, instead of parts that have come. Throws as `upload` and `PendingUploads.upload` do.
  package func upload(
    _ upload: MediaUpload, to server: ByteString, _ mediaID: ByteString, by user: UserID,
    _ pieces: () async throws -> [UInt8]?
  ) async throws {
    guard server == serverName.text else {
      throw MatrixError.notFound("This media ID is not one of this server.")
    }
    try await pending.upload(to: mediaID, by: user) { arrival in
      try await startOver(arrival, of: mediaID)
      let file = try await receive(upload, by: user, pieces)
      try await store(file, MediaRow(mediaID: mediaID, upload: upload, owner: user.string)) { [self] tx in
        try pending.complete(tx, mediaID, by: user)
        try checkRoom(tx, for: file.bytesCount, by: user)
      }
    }
  }

  /// Keeps what the server itself has fetched: it is nobody's, and in nobody's quota.
  func keep(_ bytes: [UInt8], contentType: ByteString) async throws -> MediaURI {
    let upload = try MediaUpload(contentType: contentType, fileName: nil, announcedBytes: nil)
    let mediaID = Self.randomMediaID()
    let file = try await files.run { [folder] in
      let file = try IncomingFile(in: folder)
      try file.write(bytes)
      return file
    }
    try await store(file, MediaRow(mediaID: mediaID, upload: upload, owner: "")) { _ in }
    return MediaURI(server: serverName, mediaID: mediaID)
  }

  private func receive(
    _ upload: MediaUpload, by user: UserID, _ pieces: () async throws -> [UInt8]?
  ) async throws -> IncomingFile {
    // Little content is held against the quota only when it is stored.
    var left = Int64.max
    if upload.announcedBytes ?? .max > IncomingFile.heldBytesLimit {
      left = try await database.read { [self] tx in try self.left(tx, for: user) }
    }
    func check(_ bytes: Int64) throws {
      guard bytes <= uploadBytesLimit else {
        throw MatrixError.tooLarge("At most \(uploadBytesLimit) bytes can be uploaded at once.")
      }
      guard bytes <= left else { throw MediaQuota.reached }
    }
    try check(upload.announcedBytes ?? 0)
    let deadline = UploadDeadline(started: clock.now())
    let file = try IncomingFile(in: folder)
    while let piece = try await pieces() {
      let bytes = file.bytesCount + Int64(piece.count)
      try check(bytes)
      try deadline.check(now: clock.now(), bytes: bytes)
      if !file.hold(piece) { try await files.run { try file.write(piece) } }
    }
    return file
  }

  struct MediaRow: Sendable {
    let mediaID: ByteString
    let upload: MediaUpload
    let owner: String
  }

  /// Keeps the content and writes its row, with what `alongside` writes; no row without the content.
  func store(
    _ file: IncomingFile, _ row: MediaRow, _ alongside: @escaping @Sendable (WriteTransaction) throws -> Void
  ) async throws {
    let (now, isOpen) = (clock.now(), isOpen)
    // The writer may refer to its closure a moment longer than this call takes, and the file must be gone with the call.
    let (hash, bytes) = (file.hash(), file.bytesCount)
    try await store.keep(file, as: hash) { tx in
      try alongside(tx)
      // What was withdrawn once is not brought back by uploading it again.
      let quarantinedBy = try tx.first(
        "SELECT quarantined_by FROM media WHERE hash = $1 AND quarantined_by IS NOT NULL LIMIT 1", hash
      ) { $0.text(0) }
      try tx.execute(
        """
        INSERT INTO media(media_id, hash, bytes, content_type, file_name, user_id, created, open, quarantined_by)
        VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9)
        """, row.mediaID, hash, bytes, row.upload.contentType, row.upload.fileName, row.owner, now, isOpen,
        quarantinedBy)
      try MediaUsage.add(tx, items: 1, bytes: bytes, of: row.owner)
    }
  }
}
