import JSON
import MatrixModel
import Synchronization

/// One logged-in device, as every request meets it. What is true of the account stays true of the session: when it changes,
/// the session is made anew.
package final class Session: Sendable {
  package let userID: UserID
  package let deviceID: DeviceID
  /// What the account is and may.
  package let standing: AccountStanding
  /// ID of the application service that acts here for its user; nil for people.
  package let appService: ByteString?
  /// Milliseconds since 1970 from which on the token has to be refreshed; nil never.
  let expires: Int64?
  let token: AccessTokenHash
  /// Milliseconds since 1970 of the last request that was written down.
  let lastSeen: Atomic<Int64>

  package var isGuest: Bool { standing.isGuest }
  package var isAdmin: Bool { standing.isAdmin }

  package init(
    userID: UserID, deviceID: DeviceID, token: AccessTokenHash, lastSeen: Int64,
    standing: AccountStanding = AccountStanding(), appService: ByteString? = nil, expires: Int64? = nil
  ) {
    self.userID = userID
    self.deviceID = deviceID
    self.standing = standing
    self.appService = appService
    self.expires = expires
    self.token = token
    self.lastSeen = Atomic(lastSeen)
  }

  /// Throws `M_UNKNOWN_TOKEN` with a soft logout once the token has expired: the client refreshes it or logs in again.
  ///
  /// Spec: Client-Server API, "Refreshing access tokens".
  package func requireFresh(at now: Int64) throws(MatrixError) {
    if let expires, now >= expires { throw .unknownToken(softLogout: true) }
  }
}

extension Session {
  /// Stands for no device in the session of an application service that names none. No device has it.
  package static let noDevice = DeviceID(trusted: "")

  /// Whether requests come from a device: always but for application services that name none.
  package var hasDevice: Bool { !deviceID.text.isEmpty }

  /// Throws `M_MISSING_PARAM` if there is no device, for requests that only a device can make.
  package func requireDevice() throws(MatrixError) {
    guard hasDevice else { throw .missingParameter("device_id") }
  }
}
