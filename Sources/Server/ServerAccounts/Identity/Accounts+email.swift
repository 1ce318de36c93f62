import Database
import JSON
import MatrixModel
import Telemetry

/// What a confirmed e-mail address lets one do.
extension Accounts {
  /// Whether `threepid_creds` of an `auth` prove an address. Spec: Client-Server API, "Email-based (identity / homeserver)".
  func isConfirmed(by auth: JSON, for purpose: EmailValidations.Purpose) async throws -> Bool {
    let proof = try EmailProof(try auth.requiredObject("threepid_creds"))
    return try await emailValidations.validated(proof, for: purpose) != nil
  }

  /// Sets a new password for the account that has a confirmed address. Spec: `POST /_matrix/client/v3/account/password`
  /// without an access token.
  ///
  /// - Parameter logsOut: whether every device of the account is logged out.
  /// - Throws: the challenge until the address is confirmed; `M_MISSING_TOKEN` where no addresses can be; `M_WEAK_PASSWORD`.
  package func resetPassword(to password: Redacted<String>, logsOut: Bool, auth: JSON?) async throws {
    guard emailValidations.isAvailable else { throw MatrixError.missingToken() }
    let shown = try await interactiveAuthentication.require(
      [[.emailIdentity]], for: .init("account/password"), auth: auth
    ) { _, auth in try await self.isConfirmed(by: auth, for: .passwordReset) }
    guard let proof = shown.email else { throw MatrixError.missingParameter("threepid_creds") }
    try Passwords.check(password)
    let hash = try await passwords.hash(password)
    try await database.write { [self] tx in
      let validated = try emailValidations.use(tx, proof, for: .passwordReset)
      guard let userID = try ThirdPartyIdentifiers.owner(tx, validated.address) else {
        throw MatrixError(status: 400, "M_THREEPID_NOT_FOUND", "The account has this e-mail address no more.")
      }
      let changed = try tx.changes(
        "UPDATE account SET password = $1 WHERE user_id = $2 AND deactivated = 0", hash, userID)
      guard changed == 1 else { throw MatrixError.forbidden("This account has been deactivated.") }
      if logsOut { try devices.remove(tx, of: userID, sessions) { _ in true } }
    }
  }

  /// Whether the user has come here by single sign-on, so that the provider can be asked again.
  func comesFromProvider(_ userID: UserID) async throws -> Bool {
    guard !configuration.identity.providers.isEmpty else { return false }
    return try await database.read { tx in
      try tx.first("SELECT 1 FROM single_sign_on WHERE user_id = $1 LIMIT 1", userID) { _ in true } ?? false
    }
  }
}
