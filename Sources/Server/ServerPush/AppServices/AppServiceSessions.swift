import Database
import JSON
import MatrixModel
import ServerAccounts

/// The sessions of application services: who they act as is decided by each request.
///
/// Spec: Application Service API, "Identity assertion".
package final class AppServiceSessions: Sendable {
  private let database: Database

  package init(database: Database) { self.database = database }

  /// A session of `user`, the service's sender where nil, on one of their devices or on none.
  ///
  /// Throws `M_FORBIDDEN` for a user outside the service's namespaces and for one that does not exist or is deactivated,
  /// `M_UNKNOWN_DEVICE` for a device that is not theirs.
  package func session(of service: AppService, as user: UserID?, on deviceID: DeviceID?) async throws -> Session {
    let user = user ?? service.sender
    guard service.covers(user) else {
      throw MatrixError.forbidden("\(user) is outside of the application service's namespaces.")
    }
    return try await database.read { tx in
      guard let account = try Accounts.account(tx, user) else {
        throw MatrixError.forbidden("\(user) does not exist; register it first.")
      }
      guard !account.isDeactivated else {
        throw MatrixError(status: 403, .userDeactivated, "This account has been deactivated.")
      }
      var lastSeen = Int64.max
      if let deviceID {
        let seen = try tx.first(
          "SELECT last_seen FROM device WHERE user_id = $1 AND device_id = $2", user, deviceID
        ) { $0.integer(0) }
        guard let seen else {
          throw MatrixError(status: 400, .unknownDevice, "\(user) has no device \(deviceID).")
        }
        lastSeen = seen
      }
      return Session(
        userID: user, deviceID: deviceID ?? Session.noDevice, token: service.token, lastSeen: lastSeen,
        standing: account.standing, appService: service.id)
    }
  }
}
