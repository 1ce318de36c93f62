import MatrixModel
import Synchronization

/// One logged-in device, as every request meets it.
package final class Session: Sendable {
  package let userID: UserID
  package let deviceID: DeviceID
  let token: AccessTokenHash
  /// Milliseconds since 1970 of the last request that was written down.
  let lastSeen: Atomic<Int64>

  init(userID: UserID, deviceID: DeviceID, token: AccessTokenHash, lastSeen: Int64) {
    self.userID = userID
    self.deviceID = deviceID
    self.token = token
    self.lastSeen = Atomic(lastSeen)
  }
}
