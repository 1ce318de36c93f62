import Database
import JSON
import MatrixModel
import ServerCore

/// What lets strangers register where registration is by token: the configured tokens, which hold for ever, and those that
/// administrators make, with a number of uses and an end.
///
/// Spec: Client-Server API, "Token-authenticated registration".
package final class RegistrationTokens: Sendable {
  package struct RegistrationToken: Sendable, Equatable {
    package let token: ByteString
    /// nil for any number.
    package let usesAllowed: Int64?
    /// Registrations that have shown the token and are not finished.
    package let pending: Int64
    package let completed: Int64
    /// Milliseconds since 1970; nil never.
    package let expires: Int64?

    /// Whether one more registration may show it.
    func isValid(at now: Int64) -> Bool {
      (expires.map { now < $0 } ?? true) && (usesAllowed.map { pending + completed < $0 } ?? true)
    }
  }

  /// Tokens in the database.
  package static let countLimit: Int64 = 10_000
  /// Bytes of a token, given by the spec.
  package static let bytesLimit = 64

  private let configured: [String]
  private let database: Database
  private let clock: WallClock
  private let pending: @Sendable () -> [ByteString: Int64]

  /// - Parameter pending: how many unfinished registrations have shown each token.
  init(
    configured: [String], database: Database, clock: WallClock, pending: @escaping @Sendable () -> [ByteString: Int64]
  ) {
    self.configured = configured
    self.database = database
    self.clock = clock
    self.pending = pending
  }

  // MARK: For administrators

  /// By token.
  ///
  /// - Parameter isValid: only tokens that are valid now, or only those that are not; nil takes both.
  package func list(isValid: Bool? = nil) async throws -> [RegistrationToken] {
    let (pending, now) = (pending(), clock.now())
    let all = try await database.read { tx in
      try tx.all("SELECT token, uses_allowed, completed, expires FROM registration_token ORDER BY token") { row in
        Self.token(row, pending)
      }
    }
    return all.filter { isValid == nil || $0.isValid(at: now) == isValid }
  }

  /// Throws `M_NOT_FOUND`.
  package func token(_ token: ByteString) async throws -> RegistrationToken {
    guard let found = try await find(token) else { throw Self.unknown }
    return found
  }

  /// Makes a token. Throws `M_INVALID_PARAM` for one that exists, does not fit the grammar, or could never be used.
  ///
  /// - Parameter token: nil lets the server choose 16 characters.
  package func create(_ token: ByteString?, usesAllowed: Int64?, expires: Int64?) async throws -> RegistrationToken {
    let token = token ?? ByteString(RandomText.urlSafe(bytes: 12))
    guard Self.accepts(token) else {
      throw MatrixError.invalidParameter("A registration token has 1 to \(Self.bytesLimit) of A-Z a-z 0-9 . _ ~ -.")
    }
    try check(usesAllowed, expires)
    try await database.write { tx in
      let count = try tx.first("SELECT COUNT(*) FROM registration_token") { $0.integer(0) } ?? 0
      guard count < Self.countLimit else {
        throw MatrixError.invalidParameter("There are \(Self.countLimit) tokens already; delete some.")
      }
      let made = try tx.changes(
        """
        INSERT INTO registration_token(token, uses_allowed, expires) VALUES($1, $2, $3) ON CONFLICT(token) DO NOTHING
        """, token, usesAllowed, expires)
      guard made == 1 else { throw MatrixError.invalidParameter("There is such a token already.") }
    }
    return try await self.token(token)
  }

  /// Changes the limits of a token; the outer nil leaves one as it is. Throws `M_NOT_FOUND`, `M_INVALID_PARAM`.
  package func update(_ token: ByteString, usesAllowed: Int64??, expires: Int64??) async throws -> RegistrationToken {
    try check(usesAllowed ?? nil, expires ?? nil)
    try await database.write { tx in
      let changed = try tx.changes(
        """
        UPDATE registration_token SET uses_allowed = CASE WHEN $1 = 1 THEN $2 ELSE uses_allowed END,
          expires = CASE WHEN $3 = 1 THEN $4 ELSE expires END
        WHERE token = $5
        """, usesAllowed != nil, usesAllowed ?? nil, expires != nil, expires ?? nil, token)
      guard changed == 1 else { throw Self.unknown }
    }
    return try await self.token(token)
  }

  /// Throws `M_NOT_FOUND`.
  package func delete(_ token: ByteString) async throws {
    try await database.write { tx in
      guard try tx.changes("DELETE FROM registration_token WHERE token = $1", token) == 1 else { throw Self.unknown }
    }
  }

  // MARK: For registration

  /// Whether one more registration may show the token now.
  package func isValid(_ token: ByteString) async throws -> Bool {
    if isConfigured(token) { return true }
    return try await find(token)?.isValid(at: clock.now()) ?? false
  }

  /// Counts a finished registration. Throws `M_FORBIDDEN` where others were faster, or the token has ended meanwhile.
  func complete(_ tx: WriteTransaction, _ token: ByteString) throws {
    guard !isConfigured(token) else { return }
    let counted = try tx.changes(
      """
      UPDATE registration_token SET completed = completed + 1
      WHERE token = $1 AND (uses_allowed IS NULL OR completed < uses_allowed)
      """, token)
    guard counted == 1 else { throw MatrixError.forbidden("The registration token has been used up.") }
  }

  private func find(_ token: ByteString) async throws -> RegistrationToken? {
    guard Self.accepts(token) else { return nil }
    let pending = pending()
    return try await database.read { tx in
      try tx.first(
        "SELECT token, uses_allowed, completed, expires FROM registration_token WHERE token = $1", token
      ) { row in Self.token(row, pending) }
    }
  }

  private func isConfigured(_ token: ByteString) -> Bool {
    // Every candidate is compared to its end, so that the time says nothing about which was nearly right.
    configured.reduce(false) { found, candidate in
      let (a, b) = (Array(candidate.utf8), Array(token.utf8))
      let difference = zip(a, b).reduce(UInt8(a.count == b.count ? 0 : 1)) { $0 | ($1.0 ^ $1.1) }
      return found || (difference == 0 && !a.isEmpty)
    }
  }

  private func check(_ usesAllowed: Int64?, _ expires: Int64?) throws(MatrixError) {
    if let usesAllowed, usesAllowed < 0 { throw .invalidParameter("'uses_allowed' is not negative.") }
    if let expires, expires < clock.now() { throw .invalidParameter("'expiry_time' is not in the past.") }
  }

  /// Spec: Appendices, "Opaque Identifiers".
  private static func accepts(_ token: ByteString) -> Bool {
    (1...bytesLimit).contains(token.count)
      && token.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
          UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  private static func token(_ row: Row, _ pending: [ByteString: Int64]) -> RegistrationToken {
    let token = ByteString(row.text(0))
    return RegistrationToken(
      token: token, usesAllowed: row.optionalInteger(1), pending: pending[token] ?? 0, completed: row.integer(2),
      expires: row.optionalInteger(3))
  }

  private static let unknown = MatrixError.notFound("There is no such registration token.")
}
