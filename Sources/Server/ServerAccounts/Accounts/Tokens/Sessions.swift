import Database
import MatrixModel
import ServerCore
import Synchronization

/// Finds the session of an access token, nearly always in memory.
package final class Sessions: NoteFollower {
  private struct Cache {
    var sessions: [AccessTokenHash: Session] = [:]
    /// Counts revocations. A session that was read from the database before a revocation is not cached after it.
    var revocations = 0
  }

  /// Sessions kept in memory; about 200 bytes each.
  private static let cacheLimit = 100_000
  /// How old what the database knows of a device's last request may become.
  private static let lastSeenMilliseconds: Int64 = 5 * 60_000

  private let cache = Mutex(Cache())
  private let observers: [any AccountObserver]
  let database: Database
  let clock: WallClock
  /// Milliseconds until the tokens of clients that can refresh them expire; nil never.
  private let lifetimeMilliseconds: Int64?

  package init(database: Database, observers: [any AccountObserver] = [], clock: WallClock, lifetimeMilliseconds: Int64? = nil)
  {
    self.database = database
    self.observers = observers
    self.clock = clock
    self.lifetimeMilliseconds = lifetimeMilliseconds
    database.follow(.sessions, by: self)
  }

  /// The session where it is in memory: no wait.
  package func cached(_ token: AccessTokenHash) -> Session? {
    cache.withLock { $0.sessions[token] }
  }

  /// The session from the database; nil where nobody has the token.
  package func load(_ token: AccessTokenHash) async throws -> Session? {
    let revocations = cache.withLock { $0.revocations }
    let found = try await database.read { tx in
      try tx.first(
        """
        SELECT t.user_id, t.device_id, d.last_seen, t.expires,
          a.is_guest, a.is_admin, a.is_locked, a.is_suspended, a.valid_until, a.is_shadow_banned,
          p.next
        FROM access_token t JOIN device d ON d.user_id = t.user_id AND d.device_id = t.device_id
        JOIN account a ON a.user_id = t.user_id LEFT JOIN refresh_token p ON p.next = t.refresh WHERE t.hash = $1
        """, token.bytes
      ) { row in
        let session = Session(
          userID: row.identifier(0), deviceID: row.identifier(1), token: token, lastSeen: row.integer(2),
          standing: AccountStanding(row, from: 4), expires: row.optionalInteger(3))
        return (session: session, unusedRefresh: row.optionalBlob(10))
      }
    }
    guard let session = found?.session else { return nil }
    if let refresh = found?.unusedRefresh, try await !noteFirstUse(token, of: session.userID, refresh: refresh) {
      return nil
    }
    return cache.withLock { cache in
      // Two requests may load at once; the first stays, so that there is one `lastSeen`.
      if let known = cache.sessions[token] { return known }
      if cache.revocations == revocations {
        if cache.sessions.count >= Self.cacheLimit { cache.sessions.removeAll(keepingCapacity: true) }
        cache.sessions[token] = session
      }
      return session
    }
  }

  /// The session as it is now: a request that waited long may have been logged out or locked meanwhile. nil where it ended.
  package func current(_ session: Session) async throws -> Session? {
    // Of an application service: its token is in no table and does not end while the server runs.
    if session.appService != nil { return session }
    if let cached = cached(session.token) { return cached }
    return try await load(session.token)
  }

  /// Writes down, at most every five minutes, when and from where a device was seen.
  package func saw(_ session: Session, from address: @autoclosure () -> String) async throws {
    let now = clock.now()
    let before = session.lastSeen.load(ordering: .relaxed)
    guard now - before >= Self.lastSeenMilliseconds,
      session.lastSeen.compareExchange(expected: before, desired: now, ordering: .relaxed).exchanged
    else { return }
    let address = address()
    try await database.write { tx in
      try tx.execute(
        "UPDATE device SET last_seen = $1, last_seen_address = $2 WHERE user_id = $3 AND device_id = $4",
        now, address, session.userID, session.deviceID)
    }
  }

  /// Whether the device has a token.
  package func isLoggedIn(_ userID: UserID, on deviceID: DeviceID) async throws -> Bool {
    try await database.read { tx in
      try tx.first("SELECT 1 FROM access_token WHERE user_id = $1 AND device_id = $2", userID, deviceID) { _ in true } ?? false
    }
  }

  // MARK: Inside a transaction

  /// Makes the device's only token; those it had before are worth nothing once this commits.
  ///
  /// - Parameter isRefreshable: whether the client can refresh it: only then it expires, and where a lifetime is configured.
  func issue(_ tx: WriteTransaction, _ userID: UserID, _ deviceID: DeviceID, isRefreshable: Bool) throws -> Login {
    try revoke(tx, userID) { $0 == deviceID }
    return try insert(tx, userID, deviceID, isRefreshable: isRefreshable)
  }

  func insert(_ tx: WriteTransaction, _ userID: UserID, _ deviceID: DeviceID, isRefreshable: Bool) throws -> Login {
    let now = clock.now()
    let lifetime = isRefreshable ? lifetimeMilliseconds : nil
    let login = Login(
      deviceID: deviceID, accessToken: .random(), refreshToken: lifetime.map { _ in .random(prefix: "mlr_") },
      expiresInMilliseconds: lifetime)
    let refresh = login.refreshToken?.hash.bytes
    try tx.execute(
      "INSERT INTO access_token(hash, user_id, device_id, created, expires, refresh) VALUES($1, $2, $3, $4, $5, $6)",
      login.accessToken.hash.bytes, userID, deviceID, now, lifetime.map { now + $0 }, refresh)
    if let refresh {
      try tx.execute(
        "INSERT INTO refresh_token(hash, user_id, device_id, created) VALUES($1, $2, $3, $4)", refresh, userID,
        deviceID, now)
    }
    return login
  }

  /// Has the cache forget a user's sessions with the commit: what the account is or may has changed.
  func forget(_ userID: UserID, _ tx: WriteTransaction) {
    tx.note(.sessions(userID, devices: []))
  }

  /// Takes the tokens of those devices of a user for which `isRevoked` says so; the cache forgets them with the commit.
  func revoke(_ tx: WriteTransaction, _ userID: UserID, where isRevoked: (DeviceID) -> Bool) throws {
    let devices = try tx.all("SELECT device_id FROM access_token WHERE user_id = $1", userID) { row in
      row.identifier(0, as: DeviceID.self)
    }
    let revoked = Set(devices.filter(isRevoked))
    guard !revoked.isEmpty else { return }
    for device in revoked {
      try tx.execute("DELETE FROM access_token WHERE user_id = $1 AND device_id = $2", userID, device)
      try tx.execute("DELETE FROM refresh_token WHERE user_id = $1 AND device_id = $2", userID, device)
    }
    tx.note(.sessions(userID, devices: Array(revoked)))
  }

  // MARK: With the commit

  package func apply(_ note: Note, _ rows: CommittedRows) {
    guard case .sessions(let user, let devices) = note else { return }
    cache.withLock { cache in
      cache.revocations += 1
      cache.sessions = cache.sessions.filter { _, session in
        session.userID != user || !(devices.isEmpty || devices.contains(session.deviceID))
      }
    }
    for observer in observers { observer.sessionsChanged(of: user) }
  }

  package func reload(_ rows: CommittedRows) {
    cache.withLock { cache in
      cache.revocations += 1
      cache.sessions.removeAll()
    }
  }
}
