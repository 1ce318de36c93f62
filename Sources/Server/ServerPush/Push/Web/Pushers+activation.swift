import Database
import JSON
import MatrixModel
import ServerCore

/// What a Web Push pusher begins with: a token that is pushed to it, and that its client sends back. Who names a push resource has
/// shown then that they read what is pushed there. Spec: MSC4174.
struct PusherActivation: Sendable {
  static let lifetimeMilliseconds: Int64 = 5 * 60 * 1_000

  let token: String
  /// Milliseconds since 1970.
  let expiry: Int64

  init(now: Int64) {
    token = RandomText.urlSafe(bytes: 24)
    expiry = now + Self.lifetimeMilliseconds
  }

  /// What is pushed.
  static func payload(_ token: String, for pusher: Pusher.ID) -> [UInt8] {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("app_id", pusher.appID)
      writer.member("ack_token", token)
    }
    return writer.bytes
  }
}

extension Pushers {
  /// A new one where the pusher needs it; nil where it is of another kind, or goes on as it was.
  func activation(for pusher: Pusher, _ tx: ReadTransaction) throws -> PusherActivation? {
    guard pusher.kind == .webPush else { return nil }
    let id = pusher.id
    let known = try tx.first(
      """
      SELECT user_id, app_id, pushkey, kind, device_id, app_display_name, device_display_name, profile_tag, lang, data,
        is_active
      FROM pusher WHERE user_id = $1 AND app_id = $2 AND pushkey = $3
      """, id.userID, id.appID, id.pushkey
    ) { Pusher($0) }
    if let known, known.kind == .webPush, known.isActive, known.isSameSubscription(as: pusher) { return nil }
    return PusherActivation(now: clock.now())
  }

  /// Activates the user's pusher of that `app_id` and `ack_token`: what comes from now on is pushed.
  ///
  /// Throws `M_MISSING_PARAM`, `M_BAD_JSON`, `M_NOT_FOUND` where there is no such pusher of that application, and
  /// `M_UNKNOWN_ACTIVATION_TOKEN`, `M_EXPIRED_ACTIVATION_TOKEN`.
  package func activate(_ body: JSON, of userID: UserID) async throws {
    let (appID, token) = (try body.requiredText("app_id"), try body.requiredText("ack_token"))
    try await database.write { [self] tx in
      let known = try tx.all(
        "SELECT pushkey, activation, activation_expires, is_active FROM pusher WHERE user_id = $1 AND app_id = $2 AND kind = $3",
        userID, appID, Pusher.Kind.webPush.rawValue
      ) { row in
        (
          id: Pusher.ID(userID: userID, appID: appID, pushkey: ByteString(row.text(0))),
          token: row.optionalText(1).map { ByteString($0) }, expiry: row.optionalInteger(2) ?? 0, isActive: row.integer(3) == 1
        )
      }
      guard !known.isEmpty else { throw MatrixError.notFound("You have no Web Push pusher of this application.") }
      guard let pusher = known.first(where: { $0.token == token }) else {
        throw MatrixError(
          status: 400, "M_UNKNOWN_ACTIVATION_TOKEN", "No pusher waits for this token; it takes the newest one it was sent.")
      }
      // An answer that got lost is asked for again.
      if pusher.isActive { return }
      guard pusher.expiry > clock.now() else {
        throw MatrixError(
          status: 400, "M_EXPIRED_ACTIVATION_TOKEN", "The token was good for five minutes: set the pusher again.")
      }
      try tx.execute(
        """
        UPDATE pusher SET is_active = 1, position = $1, attempts = 0, retry_at = NULL
        WHERE user_id = $2 AND app_id = $3 AND pushkey = $4
        """, tx.position, userID, appID, pusher.id.pushkey)
    }
  }
}
