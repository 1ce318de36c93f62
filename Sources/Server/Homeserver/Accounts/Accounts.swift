import Database
import JSON
import MatrixModel
import Synchronization
import Telemetry

/// Accounts and how people get into them.
package final class Accounts: Sendable {
  package let passwords: Passwords
  package let interactiveAuthentication: InteractiveAuthentication
  package let loginTokens: LoginTokens
  package let openIDTokens: OpenIDTokens
  package let registrationTokens: RegistrationTokens
  /// What other chapters do when an account changes. Set once, when the homeserver is put together.
  package let hooks = Mutex(AccountHooks())

  let configuration: HomeserverConfiguration
  let database: Database
  let sessions: Sessions
  let devices: Devices
  let pushRules: PushRules

  init(
    configuration: HomeserverConfiguration, database: Database, sessions: Sessions, devices: Devices,
    pushRules: PushRules
  ) throws {
    self.configuration = configuration
    self.database = database
    self.sessions = sessions
    self.devices = devices
    self.pushRules = pushRules
    passwords = try Passwords(
      memoryBytes: configuration.passwordHashMemoryBytes, iterations: configuration.passwordHashIterations)
    let interactive = InteractiveAuthentication(clock: configuration.clock)
    interactiveAuthentication = interactive
    loginTokens = LoginTokens(database: database, clock: configuration.clock)
    openIDTokens = OpenIDTokens(database: database, clock: configuration.clock)
    registrationTokens = RegistrationTokens(
      configured: configuration.registrationTokens, database: database, clock: configuration.clock
    ) { interactive.registrationTokens }
  }

  /// The account of a user; nil where there is none on this server.
  package func account(_ userID: UserID) async throws -> Account? {
    try await database.read { tx in try Self.account(tx, userID) }
  }

  package static func account(_ tx: ReadTransaction, _ userID: UserID) throws -> Account? {
    try tx.first(
      """
      SELECT user_id, created, app_service, user_type, deactivated, erased, password, is_guest, is_admin, is_locked,
        is_suspended, valid_until
      FROM account WHERE user_id = $1
      """, userID, row: Account.init)
  }

  /// Throws `M_WEAK_PASSWORD` for a password that is too short or too long.
  package static func checkStrength(of password: Redacted<String>) throws(MatrixError) { try Passwords.check(password) }

  /// Whether there is such an account, deactivated or not.
  package func exists(_ userID: UserID) async throws -> Bool { try await account(userID) != nil }

  /// Whether there is such an account, inside a query or command.
  package static func exists(_ tx: ReadTransaction, _ userID: UserID) throws -> Bool { try account(tx, userID) != nil }

  /// Asks for the password of the logged-in user, or for a token of the app that vouches for them. Throws the challenge until
  /// one is given.
  package func requirePassword(of session: Session, for endpoint: String, auth: JSON?) async throws {
    // An application service proves itself with its token: there is nobody to ask.
    if session.appService != nil { return }
    let userID = session.userID
    let flows: [[InteractiveAuthentication.Stage]] =
      configuration.jsonWebTokens == nil ? [[.password]] : [[.password], [.jsonWebToken]]
    try await interactiveAuthentication.require(flows, for: .init(endpoint, of: userID), auth: auth) { stage, auth in
      if stage == .jsonWebToken { return try self.user(vouchedForBy: auth) == userID }
      guard let password = auth["password"]?.string else { throw MatrixError.missingParameter("password") }
      guard try UserIdentifier(auth).userID(on: self.configuration.serverName) == userID else { return false }
      return try await self.passwords.verify(Redacted(password), against: self.account(userID)?.passwordHash)
    }
  }
}

/// What other chapters do and say when an account changes; nothing until set.
package struct AccountHooks: Sendable {
  /// Whether only an application service may make an account of this name.
  package var isExclusive: @Sendable (UserID) -> Bool = { _ in false }
  /// A display name or avatar changed: update the user's member events in all joined rooms.
  package var profileChanged: @Sendable (UserID, Profile) async throws -> Void = { _, _ in }
  /// The account was deactivated: leave all rooms, reject all invites.
  package var accountDeactivated: @Sendable (UserID) async throws -> Void = { _ in }

  /// Throws `M_EXCLUSIVE` for a name that people may not register.
  package var requireMayRegister: @Sendable (UserID) throws -> Void = { _ in }

  package init() {}
}

/// How a client names the user who logs in. Spec: Client-Server API, "Identifier types".
package struct UserIdentifier: Sendable {
  /// A user ID or its localpart.
  package let name: ByteString

  package init(name: ByteString) { self.name = name }

  /// From `identifier` of type `m.id.user`, else from the deprecated `user`.
  ///
  /// Throws `M_MISSING_PARAM` where there is neither, `M_UNKNOWN` (400) for types this server has no accounts by.
  package init(_ json: JSON) throws(MatrixError) {
    guard let identifier = try json.optionalObject("identifier") else {
      name = try json.requiredText("user")
      return
    }
    guard try identifier.requiredText("type") == "m.id.user" else {
      throw .unknown(status: 400, "Users of this server are known by 'm.id.user' only.")
    }
    name = try identifier.requiredText("user")
  }

  /// nil for users of other servers and names that no account can have.
  package func userID(on server: ServerName) -> UserID? {
    if name.hasPrefix("@") {
      guard let userID = UserID(name), userID.serverName == server else { return nil }
      return userID
    }
    return UserID(localpart: name, server: server)
  }
}
