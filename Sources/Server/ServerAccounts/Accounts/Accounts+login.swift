import Database
import JSON
import MatrixModel
import Telemetry

extension Accounts {
  /// Lets a user in by password, on a new device or one the user has already. Spec: `POST /_matrix/client/v3/login`.
  ///
  /// Throws `M_FORBIDDEN` for an unknown user and for a wrong password alike, after the same work; `M_USER_DEACTIVATED`, `M_USER_LOCKED`,
  /// `ORG_MATRIX_EXPIRED_ACCOUNT`.
  package func logIn(
    _ user: UserIdentifier, password: Redacted<String>, device: DeviceRequest
  ) async throws -> (userID: UserID, login: Login) {
    let userID = try await userID(of: user)
    var account: Account?
    if let userID { account = try await self.account(userID) }
    guard try await passwords.verify(password, against: account?.passwordHash), let userID, let account else {
      // The password was wiped, so nobody can have entered the right one. The specification still wants this error.
      if account?.isDeactivated == true {
        throw Self.deactivated
      }
      throw MatrixError.forbidden("The user name or the password is wrong.")
    }
    let login = try await database.write { [self] tx in
      // It may have been deactivated, or got another password, while the old one was verified.
      guard let now = try Self.account(tx, userID), now.passwordHash == account.passwordHash else {
        throw MatrixError.forbidden("The user name or the password is wrong.")
      }
      return try logIn(tx, userID, device)
    }
    return (userID, login)
  }

  /// Logs in the holder of a login token. Spec: Client-Server API, "Token-based" login.
  ///
  /// Throws `M_FORBIDDEN` for a token that is not good, `M_USER_DEACTIVATED`, and what `AccountStanding.requireUse` throws.
  package func logIn(loginToken: ByteString, device: DeviceRequest) async throws -> (userID: UserID, login: Login) {
    let hash = AccessTokenHash(of: loginToken)
    return try await database.write { [self] tx in
      let userID = try loginTokens.redeem(tx, hash)
      return (userID, try logIn(tx, userID, device))
    }
  }

  /// Logs in a user that an application service or a provider has authenticated. Throws `M_FORBIDDEN` if there is no
  /// such account, `M_USER_DEACTIVATED`, and what `AccountStanding.requireUse` throws.
  package func logIn(vouchedFor userID: UserID, device: DeviceRequest) async throws -> Login {
    try await database.write { [self] tx in try logIn(tx, userID, device) }
  }

  package func logIn(_ tx: WriteTransaction, _ userID: UserID, _ device: DeviceRequest) throws -> Login {
    guard let account = try Self.account(tx, userID) else { throw MatrixError.forbidden("There is no such account.") }
    guard !account.isDeactivated else { throw Self.deactivated }
    try account.standing.requireUse(at: configuration.clock.now())
    return try devices.logIn(tx, userID, device, sessions)
  }

  /// Ends the session and deletes its device. Spec: `POST /_matrix/client/v3/logout`.
  package func logOut(_ session: Session) async throws {
    try await database.write { [self] tx in
      try devices.remove(tx, of: session.userID, sessions) { $0 == session.deviceID }
    }
  }

  /// Ends every session of the user and deletes the devices but a dehydrated one, which nobody is logged in with.
  /// Spec: `POST /_matrix/client/v3/logout/all`.
  package func logOutEverywhere(_ userID: UserID) async throws {
    try await database.write { [self] tx in
      try loginTokens.revoke(tx, userID)
      let dehydrated = try DehydratedDevices.device(tx, userID)?.deviceID
      try devices.remove(tx, of: userID, sessions) { $0 != dehydrated }
    }
  }

  /// Sets a new password. Spec: `POST /_matrix/client/v3/account/password`.
  ///
  /// - Parameter keeping: the device that stays logged in while all others are deleted; nil keeps every device.
  /// - Throws: `M_WEAK_PASSWORD`.
  package func setPassword(_ password: Redacted<String>, of userID: UserID, loggingOutAllBut keeping: DeviceID?)
    async throws
  {
    try Passwords.check(password)
    let hash = try await passwords.hash(password)
    try await database.write { [self] tx in
      let changed = try tx.changes(
        "UPDATE account SET password = $1 WHERE user_id = $2 AND deactivated = 0", hash, userID)
      guard changed == 1 else { throw MatrixError.forbidden("This account has been deactivated.") }
      try loginTokens.revoke(tx, userID)
      if let keeping { try devices.remove(tx, of: userID, sessions) { $0 != keeping } }
    }
  }

  private static let deactivated = MatrixError(status: 403, .userDeactivated, "This account has been deactivated.")
}
