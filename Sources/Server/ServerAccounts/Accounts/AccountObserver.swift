import Database
import MatrixModel
import Outbound

/// A chapter that follows accounts. Accounts tell chapters that are built on them in no other way.
///
/// Each function does nothing by default. Those that take a transaction run inside the commit: an error undoes the command.
package protocol AccountObserver: Sendable {
  /// A name is about to become an account, or a user asks whether it may. Throws `M_EXCLUSIVE` if only an application service may
  /// have the name.
  func willRegister(_ userID: UserID) throws
  /// A display name or avatar was changed.
  func profileChanged(of userID: UserID) async throws
  /// Devices are deleted: those of the user for which `isRemoved` says so.
  func removed(devicesOf userID: UserID, where isRemoved: (DeviceID) -> Bool, in tx: WriteTransaction) throws
  /// An e-mail address is taken from the account.
  func removed(_ address: MailAddress, of userID: UserID, in tx: WriteTransaction) throws
  /// The account ends.
  func deactivated(_ userID: UserID, in tx: WriteTransaction) throws
  /// The account has ended. An error has a later start of the server repeat it.
  func finishDeactivation(of userID: UserID) async throws
  /// The account is erased as of a position of the stream.
  func erased(_ userID: UserID, at position: Int64, in tx: WriteTransaction) throws
  /// The user lost access tokens, or the rights of the account have changed. Runs after the commit and must not block.
  func sessionsChanged(of userID: UserID)
}

extension AccountObserver {
  package func willRegister(_ userID: UserID) throws {}
  package func profileChanged(of userID: UserID) async throws {}
  package func removed(devicesOf userID: UserID, where isRemoved: (DeviceID) -> Bool, in tx: WriteTransaction) throws {}
  package func removed(_ address: MailAddress, of userID: UserID, in tx: WriteTransaction) throws {}
  package func deactivated(_ userID: UserID, in tx: WriteTransaction) throws {}
  package func finishDeactivation(of userID: UserID) async throws {}
  package func erased(_ userID: UserID, at position: Int64, in tx: WriteTransaction) throws {}
  package func sessionsChanged(of userID: UserID) {}
}
