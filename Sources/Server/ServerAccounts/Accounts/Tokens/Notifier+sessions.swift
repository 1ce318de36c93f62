import MatrixModel
import ServerCore

/// Ends the waiting syncs of a device that is logged out: each looks again whether its session is still there.
extension Notifier: AccountObserver {
  package func sessionsChanged(of userID: UserID) { endWaits(of: userID) }
}
