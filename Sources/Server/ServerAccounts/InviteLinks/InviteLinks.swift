import Database
import JSON
import MatrixModel
import ServerCore

/// Links that invite into a room or to a person: making, listing, revoking, and what a token is good for.
///
/// Tokens have 132 random bits and are stored as hashes. A revoked link is deleted. A token that is unknown, expired, used up,
/// revoked, or made by somebody who may not make links any more costs one look by key and is not valid: callers answer all of
/// these alike. Extension: capability `martlet.invite_links`.
package final class InviteLinks: Sendable {
  /// Users that one link may let in at most.
  package static let usesLimit: Int64 = 100_000
  /// Links of all users. Expired links are deleted after `keptMilliseconds`.
  package static let countLimit: Int64 = 100_000
  /// Links of one list.
  package static let listLimit = 1_000
  /// How long a link stays in lists after its end.
  static let keptMilliseconds: Int64 = 7 * 24 * 60 * 60 * 1_000
  /// Bytes of a token; a longer text is not looked up.
  static let tokenBytesLimit = 64

  package let rules: InviteLinkRules
  private let database: Database
  private let clock: WallClock
  private let pending: @Sendable () -> [ByteString: Int64]

  /// - Parameter pending: how many unfinished registrations have shown each token.
  init(
    _ rules: InviteLinkRules, database: Database, clock: WallClock, pending: @escaping @Sendable () -> [ByteString: Int64]
  ) {
    self.rules = rules
    self.database = database
    self.clock = clock
    self.pending = pending
  }

  // MARK: Making and ending

  /// What a new link is to be.
  package struct Request: Sendable {
    /// nil for a link to the inviter.
    package var roomID: RoomID?
    /// nil takes 10, or what the rules allow if that is less.
    package var uses: Int64?
    /// nil takes a week, or what the rules allow if that is less.
    package var lifetimeMilliseconds: Int64?

    package init(roomID: RoomID? = nil, uses: Int64? = nil, lifetimeMilliseconds: Int64? = nil) {
      self.roomID = roomID
      self.uses = uses
      self.lifetimeMilliseconds = lifetimeMilliseconds
    }
  }

  /// Stores a link of the user. The token exists only in the answer.
  ///
  /// Throws `M_FORBIDDEN` if the user may not make links, `M_INVALID_PARAM` for uses or a life that the rules do not allow,
  /// `M_RESOURCE_LIMIT_EXCEEDED` if the user has as many valid links as they may.
  package func create(
    _ tx: WriteTransaction, _ request: Request, by user: UserID
  ) throws -> (link: InviteLink, token: ByteString) {
    guard let account = try Accounts.account(tx, user), rules.makers.include(account.standing) else {
      throw MatrixError.forbidden("The operator of this server does not let you make invite links.")
    }
    let isAdmin = account.standing.isAdmin
    let mostUses = isAdmin ? Self.usesLimit : Int64(rules.usesPerLink)
    let uses = request.uses ?? min(10, mostUses)
    guard (1...mostUses).contains(uses) else {
      throw MatrixError.invalidParameter("'uses' is from 1 to \(mostUses).")
    }
    let longest = rules.longestMilliseconds
    let lifetime = request.lifetimeMilliseconds ?? min(7 * 24 * 60 * 60 * 1_000, longest)
    guard (1_000...longest).contains(lifetime) else {
      throw MatrixError.invalidParameter("'lifetime_ms' is from 1000 to \(longest).")
    }
    let now = clock.now()
    let valid =
      try tx.first(
        "SELECT COUNT(*) FROM invite_link WHERE inviter = $1 AND expires > $2 AND uses < uses_allowed", user, now
      ) { $0.integer(0) } ?? 0
    guard isAdmin || valid < rules.perUser else {
      throw MatrixError(
        status: 403, .resourceLimitExceeded, "You have \(rules.perUser) invite links already; revoke one of them first.")
    }
    guard try tx.first("SELECT COUNT(*) FROM invite_link", row: { $0.integer(0) }) ?? 0 < Self.countLimit else {
      throw MatrixError(status: 403, .resourceLimitExceeded, "This server has too many invite links already.")
    }
    let token = ByteString(RandomText.urlSafe(bytes: 16))
    let id = ByteString(RandomText.name(length: 12, of: "abcdefghijklmnopqrstuvwxyz0123456789"))
    try tx.execute(
      """
      INSERT INTO invite_link(link_id, hash, inviter, room_id, created, expires, uses_allowed)
      VALUES($1, $2, $3, $4, $5, $6, $7)
      """, id, AccessTokenHash(of: token).bytes, user, request.roomID?.text, now, now + lifetime, uses)
    guard let link = try find(tx, id) else { throw Self.unknown }
    return (link, token)
  }

  /// The user's links, the newest first, with those that ended in the last week.
  package func list(of user: UserID) async throws -> [InviteLink] {
    try await database.read { tx in
      try tx.all(
        """
        SELECT link_id, inviter, room_id, created, expires, uses_allowed, uses FROM invite_link
        WHERE inviter = $1 ORDER BY created DESC, link_id LIMIT $2
        """, user, Self.listLimit, row: InviteLink.init)
    }
  }

  /// A page of all links, the newest first, and how many there are.
  package func list(from offset: Int64, limit: Int) async throws -> (links: [InviteLink], total: Int64) {
    try await database.read { tx in
      let links = try tx.all(
        """
        SELECT link_id, inviter, room_id, created, expires, uses_allowed, uses FROM invite_link
        ORDER BY created DESC, link_id LIMIT $1 OFFSET $2
        """, min(limit, Self.listLimit), max(0, offset), row: InviteLink.init)
      return (links, try tx.first("SELECT COUNT(*) FROM invite_link") { $0.integer(0) } ?? 0)
    }
  }

  /// Ends a link at once.
  ///
  /// - Parameter user: whose link it has to be; nil for administrators.
  /// - Throws: `M_NOT_FOUND`.
  package func revoke(_ id: ByteString, of user: UserID?) async throws {
    try await database.write { tx in
      guard let link = try self.find(tx, id), user == nil || link.inviter == user else { throw Self.unknown }
      try Self.delete(tx, link.id)
    }
  }

  /// Deletes links that ended more than a week ago.
  package func forgetOld() async throws {
    let end = clock.now() - Self.keptMilliseconds
    try await database.write { tx in
      let old = try tx.all("SELECT link_id FROM invite_link WHERE expires <= $1 LIMIT 1000", end) { ByteString($0.text(0)) }
      for id in old { try Self.delete(tx, id) }
    }
  }

  // MARK: Using

  /// The link of a token, if one more user may come through it, or this user has come already. nil otherwise, for whatever
  /// reason.
  package func valid(_ tx: ReadTransaction, _ token: ByteString, for user: UserID?) throws -> InviteLink? {
    guard token.count <= Self.tokenBytesLimit else { return nil }
    let link = try tx.first(
      "SELECT link_id, inviter, room_id, created, expires, uses_allowed, uses FROM invite_link WHERE hash = $1",
      AccessTokenHash(of: token).bytes, row: InviteLink.init)
    guard let link, clock.now() < link.expires else { return nil }
    if link.uses >= link.usesAllowed {
      guard let user, try hasUsed(tx, link, user) else { return nil }
    }
    guard let account = try Accounts.account(tx, link.inviter), mayMake(account) else { return nil }
    return link
  }

  /// Counts the user as let in by the link, once. Throws `M_FORBIDDEN` if others have used it up.
  package func use(_ tx: WriteTransaction, _ link: InviteLink, by user: UserID) throws {
    if try hasUsed(tx, link, user) { return }
    let counted = try tx.changes(
      "UPDATE invite_link SET uses = uses + 1 WHERE link_id = $1 AND uses < uses_allowed AND expires > $2", link.id,
      clock.now())
    guard counted == 1 else { throw MatrixError.forbidden("The invite link has been used up.") }
    try tx.execute("INSERT INTO invite_link_use(link_id, user_id) VALUES($1, $2)", link.id, user)
  }

  // MARK: Registering

  /// Whether any link may let its holder register.
  package var letRegister: Bool { rules.makers != .nobody && rules.registrars != .nobody }

  /// Whether one more registration may show the token of a link now.
  package func allowsRegistration(_ token: ByteString) async throws -> Bool {
    guard letRegister else { return false }
    let pending = pending()[token] ?? 0
    return try await database.read { tx in
      guard let link = try self.valid(tx, token, for: nil), link.uses + pending < link.usesAllowed else { return false }
      return try self.allowsRegistration(tx, link)
    }
  }

  /// Whether the link's inviter is one of those whose links let their holders register.
  package func allowsRegistration(_ tx: ReadTransaction, _ link: InviteLink) throws -> Bool {
    guard let account = try Accounts.account(tx, link.inviter) else { return false }
    return mayMake(account) && rules.registrars.include(account.standing)
  }

  /// Counts a finished registration; false if the token is not a link's.
  ///
  /// Throws `M_FORBIDDEN` if others have used the link up, or its inviter may not let people register any more.
  func complete(_ tx: WriteTransaction, _ token: ByteString, by user: UserID) throws -> Bool {
    guard let link = try valid(tx, token, for: nil) else { return false }
    guard try allowsRegistration(tx, link) else { throw MatrixError.forbidden("The invite link is not valid any more.") }
    try use(tx, link, by: user)
    return true
  }

  // MARK: Rows

  /// False also for a maker that an administrator has stopped: the links do nothing meanwhile.
  private func mayMake(_ account: Account) -> Bool {
    let standing = account.standing
    if account.isDeactivated || standing.isSuspended || standing.isShadowBanned { return false }
    do { try standing.requireUse(at: clock.now()) } catch { return false }
    return rules.makers.include(standing)
  }

  private func hasUsed(_ tx: ReadTransaction, _ link: InviteLink, _ user: UserID) throws -> Bool {
    try tx.first("SELECT 1 FROM invite_link_use WHERE link_id = $1 AND user_id = $2", link.id, user) { _ in true } ?? false
  }

  private func find(_ tx: ReadTransaction, _ id: ByteString) throws -> InviteLink? {
    try tx.first(
      "SELECT link_id, inviter, room_id, created, expires, uses_allowed, uses FROM invite_link WHERE link_id = $1", id,
      row: InviteLink.init)
  }

  private static func delete(_ tx: WriteTransaction, _ id: ByteString) throws {
    try tx.execute("DELETE FROM invite_link_use WHERE link_id = $1", id)
    try tx.execute("DELETE FROM invite_link WHERE link_id = $1", id)
  }

  private static let unknown = MatrixError.notFound("There is no such invite link.")
}
