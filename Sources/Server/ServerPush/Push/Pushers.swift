import Database
import JSON
import MatrixModel
import ServerAccounts
import ServerCore

/// The pushers of users: set, listed, and gone with their devices.
///
/// Spec: Client-Server API, `POST /pushers/set`, `GET /pushers`.
package final class Pushers: NoteFollower {
  /// Pushers of one user.
  package static let countLimit = 100

  let audience: PushAudience
  /// Tells the worker of what is to be pushed.
  package let work: PushWork
  let gateways: PushGatewayAddresses
  let database: Database
  /// nil where there are no pushers of kind `webpush`.
  package let vapidKey: VAPIDKey?
  /// Whether pushers of kind `email` can be set.
  let sendsMail: Bool
  let clock: WallClock

  /// - Parameters:
  ///   - vapidKey: nil where there are to be no pushers of kind `webpush`.
  ///   - sendsMail: whether there can be pushers of kind `email`.
  ///   - badgeDelay: how long reading on may go before pushers are told the new number of unread messages.
  package init(
    database: Database, gateways: PushGatewayAddresses, vapidKey: VAPIDKey?, sendsMail: Bool, badgeDelay: Duration,
    clock: WallClock
  ) {
    audience = PushAudience()
    work = PushWork(audience: audience, badgeDelay: badgeDelay)
    self.database = database
    self.gateways = gateways
    self.vapidKey = vapidKey
    self.sendsMail = sendsMail
    self.clock = clock
    database.follow(.pusher, by: self)
  }

  /// The user's pushers in the order of their app IDs.
  package func all(of userID: UserID) async throws -> [Pusher] {
    try await database.read { tx in
      try tx.all(
        """
        SELECT user_id, app_id, pushkey, kind, device_id, app_display_name, device_display_name, profile_tag, lang, data,
          is_active
        FROM pusher WHERE user_id = $1 ORDER BY app_id, pushkey
        """, userID, row: { Pusher($0) })
    }
  }

  /// Makes, changes or (where `kind` is null) deletes a pusher. True where the client has to activate it (`activate`): it is of
  /// kind `webpush` and new, leads elsewhere now, or was not activated yet.
  ///
  /// Throws `M_MISSING_PARAM`, `M_BAD_JSON`, `M_INVALID_PARAM`, `M_TOO_LARGE` beyond `countLimit`; for an e-mail pusher
  /// `M_THREEPID_NOT_FOUND` where the address is not one of the account's.
  package func set(_ body: JSON, of userID: UserID, by deviceID: DeviceID?) async throws -> Bool {
    let id = try Pusher.ID(body, of: userID)
    guard let kind = body["kind"] else { throw MatrixError.missingParameter("kind") }
    if kind.isNull {
      try await database.write { [self] tx in try remove(tx, id) }
      return false
    }
    let pusher = try Pusher(body, id, by: deviceID, gateways)
    guard pusher.kind != .email || sendsMail else {
      throw MatrixError.invalidParameter("This server has no pushers of this kind: it sends no mail.")
    }
    guard pusher.kind != .webPush || vapidKey != nil else {
      throw MatrixError.invalidParameter("This server has no pushers of this kind: Web Push is switched off.")
    }
    let isAdded = try body.optionalBool("append") ?? false
    return try await database.write { [self] tx in
      if pusher.kind == .email { try Self.requireAddress(of: id, tx) }
      let activation = try self.activation(for: pusher, tx)
      try store(pusher, activation, tx)
      if !isAdded { try removeOthers(tx, id) }
      return activation != nil
    }
  }

  // MARK: Inside a transaction

  private static func requireAddress(of id: Pusher.ID, _ tx: ReadTransaction) throws {
    guard let address = id.mailAddress, try ThirdPartyIdentifiers.owner(tx, address) == id.userID else {
      throw MatrixError(
        status: 400, "M_THREEPID_NOT_FOUND",
        "'pushkey' is not an e-mail address of your account; add the address and confirm it first.")
    }
  }

  private func store(_ pusher: Pusher, _ activation: PusherActivation?, _ tx: WriteTransaction) throws {
    let id = pusher.id
    let count = try tx.first(
      "SELECT COUNT(*) FROM pusher WHERE user_id = $1 AND NOT (app_id = $2 AND pushkey = $3)", id.userID, id.appID,
      id.pushkey
    ) { $0.integer(0) }
    guard count ?? 0 < Self.countLimit else {
      throw MatrixError.tooLarge("A user has at most \(Self.countLimit) pushers; delete one first.")
    }
    // A pusher that was there goes on from where it is; a new gateway gets its chance at once.
    try tx.execute(
      """
      INSERT INTO pusher(user_id, app_id, pushkey, kind, device_id, app_display_name, device_display_name, profile_tag, lang,
        data, updated, position, unsubscribe, is_active, activation, activation_expires)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
      ON CONFLICT(user_id, app_id, pushkey) DO UPDATE SET kind = excluded.kind, device_id = excluded.device_id,
        app_display_name = excluded.app_display_name, device_display_name = excluded.device_display_name,
        profile_tag = excluded.profile_tag, lang = excluded.lang, data = excluded.data, updated = excluded.updated,
        attempts = 0, retry_at = NULL, is_active = excluded.is_active, activation = excluded.activation,
        activation_expires = excluded.activation_expires, activation_pushed = 0
      """, id.userID, id.appID, id.pushkey, pusher.kind.rawValue, pusher.deviceID, pusher.appDisplayName,
      pusher.deviceDisplayName, pusher.profileTag, pusher.language, Array(pusher.data.bytes), clock.now(), tx.position,
      pusher.kind == .email ? RandomText.urlSafe(bytes: 32) : nil, pusher.kind != .email && activation == nil ? 1 : 0,
      activation?.token, activation?.expiry)
    tell(tx, id)
  }

  /// Other users' pushers with the same key: the device has a new owner.
  private func removeOthers(_ tx: WriteTransaction, _ id: Pusher.ID) throws {
    let others = try tx.all(
      "SELECT user_id FROM pusher WHERE app_id = $1 AND pushkey = $2 AND user_id <> $3", id.appID, id.pushkey, id.userID
    ) { row in Pusher.ID(userID: row.identifier(0), appID: id.appID, pushkey: id.pushkey) }
    for other in others { try remove(tx, other) }
  }

  func remove(_ tx: WriteTransaction, _ id: Pusher.ID) throws {
    let removed = try tx.changes(
      "DELETE FROM pusher WHERE user_id = $1 AND app_id = $2 AND pushkey = $3", id.userID, id.appID, id.pushkey)
    guard removed > 0 else { return }
    try MailQueue.deleteAll(of: id, tx)
    try forgetDelivered(tx, id.userID)
    tell(tx, id)
  }

  private func tell(_ tx: WriteTransaction, _ id: Pusher.ID) {
    tx.note(.pusher(Note.PusherNews(user: id.userID, appID: id.appID, pushkey: id.pushkey, position: tx.position)))
  }

  /// Deletes what no pusher of the user has still to push.
  func forgetDelivered(_ tx: WriteTransaction, _ userID: UserID) throws {
    try tx.execute(
      """
      DELETE FROM push_queue WHERE user_id = $1
        AND event <= COALESCE((SELECT MIN(position) FROM pusher WHERE user_id = $1 AND is_active = 1), $2)
      """, userID, Int64.max)
  }
}
