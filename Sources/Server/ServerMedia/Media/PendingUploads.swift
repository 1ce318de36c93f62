import Database
import EventLoop
import JSON
import MatrixModel
import ServerCore
import Synchronization

/// Media IDs given out before their content comes, and the downloads that wait for it.
///
/// Spec: Client-Server API, "Content repository", `POST /_matrix/media/v1/create`.
package final class PendingUploads: NoteFollower {
  /// Milliseconds until an unused ID expires; the spec recommends them.
  package static let lifeMilliseconds: Int64 = 24 * 60 * 60_000
  /// IDs of one user that wait for their content.
  package static let userLimit: Int64 = 20
  /// Expired IDs that one request sweeps: more than come in by one.
  static let sweepLimit = 100
  /// Downloads that wait at once; one more is told at once that there is nothing yet.
  static let waitingLimit = 10_000

  private let database: Database
  private let serverName: ServerName
  private let clock: WallClock
  private let waiting = Mutex<[ByteString: [ParkedSync]]>([:])
  /// IDs whose content is coming just now: a second upload to one of them is refused.
  private let arriving = Mutex<[ByteString: Arrival]>([:])

  /// One upload that is under way.
  final class Arrival: Sendable {
    /// Bytes of the whole, where this is a part of it.
    let partOfBytes: Int64?

    init(partOfBytes: Int64?) { self.partOfBytes = partOfBytes }
  }

  init(database: Database, serverName: ServerName, clock: WallClock) {
    self.database = database
    self.serverName = serverName
    self.clock = clock
    database.follow(.media, by: self)
  }

  /// Gives out an ID. Throws `M_LIMIT_EXCEEDED` where the user has too many without content.
  package func create(by user: UserID) async throws -> (uri: MediaURI, expires: Int64) {
    let mediaID = MediaRepository.randomMediaID()
    let now = clock.now()
    let expires = now + Self.lifeMilliseconds
    try await database.write { tx in
      _ = try Self.sweep(tx, now)
      let oldest = try tx.first(
        "SELECT COUNT(*), MIN(expires) FROM media_pending WHERE user_id = $1 AND expires > $2", user, now
      ) { row in (count: row.integer(0), expires: row.integer(1)) }
      if let oldest, oldest.count >= Self.userLimit {
        throw MatrixError.limitExceeded(retryAfterMilliseconds: oldest.expires - now)
      }
      try tx.execute(
        "INSERT INTO media_pending(media_id, user_id, expires) VALUES($1, $2, $3)", mediaID, user, expires)
    }
    return (MediaURI(server: serverName, mediaID: mediaID), expires)
  }

  /// Forgets all IDs that have expired.
  package func sweep() async throws {
    let now = clock.now()
    while try await database.write({ tx in try Self.sweep(tx, now) }) == Self.sweepLimit {}
  }

  private static func sweep(_ tx: WriteTransaction, _ now: Int64) throws -> Int {
    try tx.changes(
      """
      DELETE FROM media_pending WHERE media_id IN
        (SELECT media_id FROM media_pending WHERE expires <= $1 ORDER BY expires LIMIT $2)
      """, now, Self.sweepLimit)
  }

  // MARK: Uploading

  /// Runs the upload to an ID, the only one at a time.
  ///
  /// Throws `M_NOT_FOUND` for an ID that was not given out or has expired, `M_FORBIDDEN` for that of another user,
  /// `M_CANNOT_OVERWRITE_MEDIA` where there is content or where it is coming.
  func upload<Value>(
    to mediaID: ByteString, by user: UserID, partOfBytes: Int64? = nil, _ body: (Arrival) async throws -> Value
  ) async throws -> Value {
    try await check(mediaID, by: user)
    let arrival = Arrival(partOfBytes: partOfBytes)
    let isFirst = arriving.withLock { arriving in
      guard arriving[mediaID] == nil else { return false }
      arriving[mediaID] = arrival
      return true
    }
    guard isFirst else { throw Self.overwriting }
    defer { arriving.withLock { if $0[mediaID] === arrival { $0[mediaID] = nil } } }
    return try await body(arrival)
  }

  /// Throws as `upload` does where the ID is not one that this user may fill.
  func check(_ mediaID: ByteString, by user: UserID) async throws {
    let now = clock.now()
    try await database.read { tx in try Self.check(tx, mediaID, user, now) }
  }

  /// Throws `M_CANNOT_OVERWRITE_MEDIA` for a part that came to its end by `stopPart`.
  func check(_ arrival: Arrival, isUnderWayTo mediaID: ByteString) throws(MatrixError) {
    guard arriving.withLock({ $0[mediaID] === arrival }) else { throw Self.overwriting }
  }

  /// Lets another part follow the one that is coming, of which nothing more is taken: its connection may be dead.
  func stopPart(to mediaID: ByteString) {
    arriving.withLock { if $0[mediaID]?.partOfBytes != nil { $0[mediaID] = nil } }
  }

  // MARK: Nodes

  /// Has the parts of an upload come to this node if they come to no other, or to one that is gone: then from the beginning. Throws `Elsewhere` if
  /// another node has them.
  func claim(_ mediaID: ByteString) async throws {
    guard let own = database.nodeName else { return }
    while true {
      let owner = try await owner(of: mediaID)
      if owner == own { return }
      let isClaimed = try await database.write { tx in
        try tx.changes(
          "UPDATE media_pending SET node = $1 WHERE media_id = $2 AND (node IS NULL OR node = $3)", own, mediaID, owner) == 1
          || tx.first("SELECT 1 FROM media_pending WHERE media_id = $1", mediaID) { _ in true } == nil
      }
      if isClaimed { return }
    }
  }

  /// The node that has parts of an upload, if it is this one or gone. Throws `Elsewhere` if another node has them.
  @discardableResult
  func owner(of mediaID: ByteString) async throws -> String? {
    guard let own = database.nodeName else { return nil }
    let owner = try await database.read { tx in
      try tx.first("SELECT node FROM media_pending WHERE media_id = $1", mediaID) { $0.optionalText(0) } ?? nil
    }
    guard let owner, owner != own, let run = try await database.run(ofNode: owner) else { return owner }
    throw Elsewhere(run: run, otherwise: Self.away)
  }

  private static let away: MatrixError = {
    var error = MatrixError(status: 503, .unknown, "The node that has the first parts does not answer; try again.")
    error.retryAfterMilliseconds = 1_000
    return error
  }()

  /// Takes the ID back.
  func remove(_ mediaID: ByteString) async throws {
    try await database.write { tx in try tx.execute("DELETE FROM media_pending WHERE media_id = $1", mediaID) }
  }

  /// The user's IDs beside one, each with the bytes of the whole where a part of it is coming just now.
  func others(
    _ tx: ReadTransaction, of user: UserID, than mediaID: ByteString?
  ) throws -> [(mediaID: ByteString, arrivingBytes: Int64?)] {
    let others = try tx.all("SELECT media_id FROM media_pending WHERE user_id = $1", user) { ByteString($0.text(0)) }
      .filter { $0 != mediaID }
    return arriving.withLock { arriving in others.map { ($0, arriving[$0]?.partOfBytes) } }
  }

  /// Those of the IDs that nobody was given, or that are filled or swept.
  func unknown(among mediaIDs: [String]) async throws -> [String] {
    try await database.read { tx in
      try mediaIDs.filter { mediaID in
        try tx.first("SELECT 1 FROM media_pending WHERE media_id = $1", mediaID) { _ in true } == nil
      }
    }
  }

  /// Takes the ID as used, in the transaction that stores the content. An upload that began in time may end later.
  func complete(_ tx: WriteTransaction, _ mediaID: ByteString, by user: UserID) throws {
    let found = try tx.changes("DELETE FROM media_pending WHERE media_id = $1 AND user_id = $2", mediaID, user)
    guard found == 1 else {
      // Another upload may have finished after this upload checked the ID.
      let owner = try tx.first("SELECT user_id FROM media WHERE media_id = $1", mediaID) { row in row.text(0) }
      throw owner == nil ? MatrixError.notFound("This media ID has expired; create another.") : Self.overwriting
    }
    tx.note(.media(mediaID))
  }

  private static func check(_ tx: ReadTransaction, _ mediaID: ByteString, _ user: UserID, _ now: Int64) throws {
    let pending = try tx.first("SELECT user_id, expires FROM media_pending WHERE media_id = $1", mediaID) { row in
      (owner: row.identifier(0, as: UserID.self), expires: row.integer(1))
    }
    if let pending, pending.expires > now {
      guard pending.owner == user else {
        throw MatrixError.forbidden("Only who created this media ID may upload to it.")
      }
      return
    }
    let owner = try tx.first("SELECT user_id FROM media WHERE media_id = $1", mediaID) { row in row.text(0) }
    guard owner == nil else { throw overwriting }
    throw MatrixError.notFound("There is no such media ID, or it has expired; create another.")
  }

  private static let overwriting = MatrixError(
    status: 409, .cannotOverwriteMedia, "This media ID has its content, or is getting it just now.")

  // MARK: Waiting

  static let notYetUploaded = MatrixError(status: 504, .notYetUploaded, "The content is not there yet; try again later.")

  /// Whether the content of an ID is still to come.
  static func isPending(_ tx: ReadTransaction, _ mediaID: ByteString, _ now: Int64) throws -> Bool {
    try tx.first("SELECT expires FROM media_pending WHERE media_id = $1", mediaID) { $0.integer(0) > now } ?? false
  }

  /// Suspends until the content may have come or `deadline` (monotonic nanoseconds) is there, unless `isThere` already.
  ///
  /// - Parameter isThere: asked once the arrival can no longer be missed.
  func wait(for mediaID: ByteString, until deadline: UInt64, _ isThere: () async throws -> Bool) async throws {
    let request = ParkedSync()
    let isTaken = waiting.withLock { waiting in
      guard waiting.count < Self.waitingLimit else { return false }
      waiting[mediaID, default: []].append(request)
      return true
    }
    guard isTaken else { throw Self.notYetUploaded }
    defer { forget(request, mediaID) }
    if try await isThere() { return }
    let timer = Notifier.loop?.schedule(atNanoseconds: deadline) { request.finish() }
    await withTaskCancellationHandler {
      await withUnsafeContinuation { request.park($0) }
    } onCancel: {
      request.finish()
    }
    timer?.cancel()
    try Task.checkCancellation()
  }

  private func forget(_ request: ParkedSync, _ mediaID: ByteString) {
    waiting.withLock { waiting in
      waiting[mediaID]?.removeAll { $0 === request }
      if waiting[mediaID]?.isEmpty == true { waiting[mediaID] = nil }
    }
  }

  package func wake(_ note: Note) {
    guard case .media(let mediaID) = note else { return }
    for request in waiting.withLock({ $0[mediaID] ?? [] }) { request.finish() }
  }
}
