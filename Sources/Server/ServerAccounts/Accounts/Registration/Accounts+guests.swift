import Database
import JSON
import MatrixModel

/// Accounts for who only looks around. Spec: Client-Server API, "Guest Access".
extension Accounts {
  /// Makes a guest, on a device of the server's choice and without asking anything.
  ///
  /// Spec: `POST /_matrix/client/v3/register?kind=guest`. Throws `M_FORBIDDEN` where guests are not admitted.
  package func registerGuest(_ device: DeviceRequest) async throws -> (userID: UserID, login: Login?) {
    guard configuration.allowsGuests else {
      throw MatrixError.forbidden("Guests are not admitted on this server; register an account.")
    }
    var new = NewAccount(Self.randomLocalpart())
    new.standing.isGuest = true
    var device = device
    device.deviceID = nil
    return try await create(new, password: nil, device: device)
  }

  /// The guest who wants to be a user; nil where the request is nobody's upgrade.
  ///
  /// Throws `M_MISSING_PARAM` without a name, `M_FORBIDDEN` unless the token is that of a guest of this name.
  func guest(of request: RegistrationRequest) async throws -> UserID? {
    guard let token = request.guestToken else { return nil }
    guard let username = request.username else { throw MatrixError.missingParameter("username") }
    guard let session = try await sessions.load(token), session.isGuest,
      session.userID == (try newUserID(username))
    else { throw MatrixError.forbidden("The guest's access token is not that of a guest of this user name.") }
    try session.standing.requireUse(at: configuration.clock.now())
    return session.userID
  }

  /// The guest's account as a user's: rooms, devices and the user ID stay.
  ///
  /// Throws `M_USER_IN_USE` where the guest has become a user meanwhile.
  func upgrade(_ tx: WriteTransaction, guest userID: UserID, passwordHash: String) throws {
    let upgraded = try tx.changes(
      "UPDATE account SET is_guest = 0, password = $1 WHERE user_id = $2 AND is_guest = 1 AND deactivated = 0",
      passwordHash, userID)
    guard upgraded == 1 else { throw Self.inUse }
    sessions.forget(userID, tx)
  }
}
