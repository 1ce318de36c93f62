import MatrixModel
import ServerCore
import ServerRooms

/// What one `GET /sync` asks for. Spec: Client-Server API, "Syncing".
package struct SyncRequest: Sendable {
  package let userID: UserID
  package let deviceID: DeviceID
  /// nil for an initial sync.
  package var since: SyncToken?
  /// How long to wait for news, 0...`timeoutMillisecondsLimit`.
  package var timeoutMilliseconds: Int64
  package let filter: SyncFilter
  /// Tells the whole state of every joined room, and at once.
  package var isFullState: Bool
  /// Tells state up to the end of each timeline (`state_after`) in place of that up to its start (`state`).
  package var usesStateAfter: Bool
  /// How the user is while this request waits (`set_presence`).
  package var presence: PresenceState

  /// A longer wait is cut to this.
  package static let timeoutMillisecondsLimit: Int64 = 5 * 60_000

  package init(
    userID: UserID, deviceID: DeviceID, since: SyncToken? = nil, timeoutMilliseconds: Int64 = 0,
    filter: SyncFilter = .open, isFullState: Bool = false, usesStateAfter: Bool = false, presence: PresenceState = .online
  ) {
    self.userID = userID
    self.deviceID = deviceID
    self.since = since
    self.timeoutMilliseconds = min(max(timeoutMilliseconds, 0), Self.timeoutMillisecondsLimit)
    self.filter = filter
    self.isFullState = isFullState
    self.usesStateAfter = usesStateAfter
    self.presence = presence
  }
}
