import Database
import JSON
import MatrixModel
import ObjectStore

// Ours: content that comes in parts, and goes on where a connection was lost. Capability `martlet.resumable`.
extension MediaRepository {
  /// How much of an upload in parts there is.
  package struct Progress: Sendable {
    package let bytes: Int64
    /// Whether it is content that is served.
    package let isComplete: Bool
  }

  /// A part that does not begin where the last one ended.
  package struct WrongOffset: Error {
    /// Where the next one begins.
    package let bytes: Int64
  }

  /// Takes the next part of the content of an ID that was created before. What has come of it stays when the connection is lost; with
  /// the last byte it is what is served.
  ///
  /// - Parameters:
  ///   - range: what of the whole comes; empty at the end, where all of it has come already.
  ///   - upload: of the last part it is what counts.
  /// Throws `WrongOffset`, `Elsewhere` if another node has the parts before, and as `upload` and `PendingUploads.upload` do.
  package func upload(
    _ range: Range<Int64>, of totalBytes: Int64, _ upload: MediaUpload, to server: ByteString, _ mediaID: ByteString,
    by user: UserID, _ pieces: () async throws -> [UInt8]?
  ) async throws -> Progress {
    try checkServer(server)
    guard totalBytes <= uploadBytesLimit else {
      throw MatrixError.tooLarge("At most \(uploadBytesLimit) bytes can be uploaded at once.")
    }
    guard upload.announcedBytes ?? Int64(range.count) == range.count else { throw Self.badPart }
    try await pending.check(mediaID, by: user)
    try await pending.claim(mediaID)
    return try await pending.upload(to: mediaID, by: user, partOfBytes: totalBytes) { arrival in
      let left = try await database.read { [self] tx in try self.left(tx, for: user, besides: mediaID) }
      guard totalBytes <= left else { throw MediaQuota.reached }
      let file = try await partLocks.withLock(mediaID.string) {
        // Of an ID that was taken back or filled meanwhile no file comes to be, which nothing would count.
        try pending.check(arrival, isUnderWayTo: mediaID)
        return try await files.run { [folder] in try IncomingFile(partOf: mediaID.string, in: folder) }
      }
      guard file.bytesCount == range.lowerBound else { throw WrongOffset(bytes: file.bytesCount) }
      try await append(range.count, to: file, arrival, mediaID, pieces)
      guard file.bytesCount == totalBytes else { return Progress(bytes: file.bytesCount, isComplete: false) }
      try await partLocks.withLock(mediaID.string) {
        try pending.check(arrival, isUnderWayTo: mediaID)
        while try await files.run({ try file.hashPiece() }) {}
        do {
          try await store(file, MediaRow(mediaID: mediaID, upload: upload, owner: user.string)) { [self] tx in
            try pending.complete(tx, mediaID, by: user)
            try checkRoom(tx, for: totalBytes, by: user)
          }
        } catch let error as BucketError {
          // The client need not send all of it again.
          file.leaveParts()
          throw error
        }
      }
      return Progress(bytes: totalBytes, isComplete: true)
    }
  }

  private func append(
    _ limit: Int, to file: IncomingFile, _ arrival: PendingUploads.Arrival, _ mediaID: ByteString,
    _ pieces: () async throws -> [UInt8]?
  ) async throws {
    let deadline = UploadDeadline(started: clock.now())
    var count = 0
    while let piece = try await pieces() {
      count += piece.count
      guard count <= limit else { throw Self.badPart }
      try deadline.check(now: clock.now(), bytes: Int64(count))
      try await partLocks.withLock(mediaID.string) {
        try pending.check(arrival, isUnderWayTo: mediaID)
        try await files.run { try file.write(piece) }
      }
    }
  }

  /// Where the next part begins. A part that is still coming is stopped: who asks has lost its connection.
  ///
  /// Throws as `PendingUploads.upload` does.
  package func progress(of server: ByteString, _ mediaID: ByteString, by user: UserID) async throws -> Progress {
    try checkServer(server)
    try await pending.owner(of: mediaID)
    return try await partLocks.withLock(mediaID.string) {
      let whole = try await database.read { tx in
        try tx.first("SELECT bytes FROM media WHERE media_id = $1 AND user_id = $2", mediaID, user) { $0.integer(0) }
      }
      if let whole { return Progress(bytes: whole, isComplete: true) }
      try await pending.check(mediaID, by: user)
      pending.stopPart(to: mediaID)
      return Progress(bytes: try await files.run { [folder] in folder.partialBytes(of: mediaID.string) }, isComplete: false)
    }
  }

  /// Takes an ID back, with what has come of its content. Throws as `PendingUploads.upload` does.
  package func giveUp(_ server: ByteString, _ mediaID: ByteString, by user: UserID) async throws {
    try checkServer(server)
    try await pending.owner(of: mediaID)
    try await partLocks.withLock(mediaID.string) {
      try await pending.check(mediaID, by: user)
      pending.stopPart(to: mediaID)
      try await pending.remove(mediaID)
      try await files.run { [folder] in folder.removePartial(of: mediaID.string) }
    }
  }

  /// Removes what has come here of uploads whose ID has expired.
  package func sweepParts() async throws {
    var mediaIDs = try await files.run { [folder] in folder.partials() }[...]
    while !mediaIDs.isEmpty {
      try Task.checkCancellation()
      let expired = try await pending.unknown(among: Array(mediaIDs.prefix(Self.sweptPartials)))
      mediaIDs = mediaIDs.dropFirst(Self.sweptPartials)
      try await files.run { [folder] in for mediaID in expired { folder.removePartial(of: mediaID) } }
    }
  }

  /// Files looked up in one transaction.
  private static let sweptPartials = 500

  /// Bytes that may still come beside all that the user has here, and what has come, and is announced, of their uploads in parts.
  /// O(IDs that wait for content), each with a look at its file. Throws `M_FORBIDDEN` where nothing may.
  ///
  /// - Parameter mediaID: an upload that is not counted.
  func left(_ tx: ReadTransaction, for user: UserID, besides mediaID: ByteString? = nil) throws -> Int64 {
    let left = try quota.left(after: MediaUsage.of(user, tx))
    guard left < .max else { return left }
    let held = try pending.others(tx, of: user, than: mediaID).reduce(0) { sum, other in
      sum + (other.arrivingBytes ?? folder.partialBytes(of: other.mediaID.string))
    }
    return max(0, left - held)
  }

  /// Whether so much may be added. Throws `M_FORBIDDEN`.
  func checkRoom(_ tx: ReadTransaction, for bytes: Int64, by user: UserID) throws {
    guard try bytes <= left(tx, for: user) else { throw MediaQuota.reached }
  }

  /// Throws away what has come of the parts of an upload that now comes as a whole.
  func startOver(_ arrival: PendingUploads.Arrival, of mediaID: ByteString) async throws {
    try await partLocks.withLock(mediaID.string) {
      try pending.check(arrival, isUnderWayTo: mediaID)
      try await files.run { [folder] in folder.removePartial(of: mediaID.string) }
    }
  }

  private func checkServer(_ server: ByteString) throws(MatrixError) {
    guard server == serverName.text else { throw .notFound("This media ID is not one of this server.") }
  }

  private static let badPart = MatrixError.invalidParameter("'Content-Range' does not say what the body has.")
}
