import Database
import JSON
import MatrixModel
import Outbound
import ServerCore
import Telemetry

/// Accounts and how people get into them.
package final class Accounts: Sendable {
  package let passwords: Passwords
  package let interactiveAuthentication: InteractiveAuthentication
  package let loginTokens: ExpiringTokens
  package let openIDTokens: ExpiringTokens
  package let registrationTokens: RegistrationTokens
  package let inviteLinks: InviteLinks
  package let emailValidations: EmailValidations

  package let configuration: AccountConfiguration
  package let database: Database
  package let sessions: Sessions
  package let devices: Devices
  let pushRules: PushRules
  let observers: [any AccountObserver]

  package init(
    configuration: AccountConfiguration, database: Database, sessions: Sessions, devices: Devices,
    pushRules: PushRules, emailValidations: EmailValidations, observers: [any AccountObserver]
  ) throws {
    self.configuration = configuration
    self.database = database
    self.sessions = sessions
    self.devices = devices
    self.pushRules = pushRules
    self.emailValidations = emailValidations
    self.observers = observers
    passwords = try Passwords(
      memoryBytes: configuration.passwordHashMemoryBytes, iterations: configuration.passwordHashIterations)
    let interactive = InteractiveAuthentication(clock: configuration.clock, names: NodeNames(database))
    interactiveAuthentication = interactive
    loginTokens = ExpiringTokens(.login, database: database, clock: configuration.clock)
    openIDTokens = ExpiringTokens(.openID, database: database, clock: configuration.clock)
    registrationTokens = RegistrationTokens(
      configured: configuration.registrationTokens, database: database, clock: configuration.clock
    ) { interactive.registrationTokens }
    inviteLinks = InviteLinks(configuration.inviteLinks, database: database, clock: configuration.clock) {
      interactive.registrationTokens
    }
  }

  /// Returns the account of a user; nil if this server has no such account.
  package func account(_ userID: UserID) async throws -> Account? {
    try await database.read { tx in try Self.account(tx, userID) }
  }

  package static func account(_ tx: ReadTransaction, _ userID: UserID) throws -> Account? {
    try tx.first(
      """
      SELECT user_id, created, app_service, user_type, deactivated, erased_at, password, is_guest, is_admin, is_locked,
        is_suspended, valid_until, is_shadow_banned
      FROM account WHERE user_id = $1
      """, userID, row: Account.init)
  }

  /// Throws `M_WEAK_PASSWORD` for a password that is too short or too long.
  package static func checkStrength(of password: Redacted<String>) throws(MatrixError) { try Passwords.check(password) }

  /// Whether there is such an account, deactivated or not.
  package func exists(_ userID: UserID) async throws -> Bool { try await account(userID) != nil }

  /// Whether there is such an account, inside a query or command.
  package static func exists(_ tx: ReadTransaction, _ userID: UserID) throws -> Bool { try account(tx, userID) != nil }

  /// Returns the user that a client means; nil if the identifier is unknown here.
  package func userID(of user: UserIdentifier) async throws -> UserID? {
    guard let thirdParty = user.thirdParty else { return user.userID(on: configuration.serverName) }
    guard thirdParty.medium == "email", let address = MailAddress(thirdParty.address) else { return nil }
    return try await database.read { tx in try ThirdPartyIdentifiers.owner(tx, address) }
  }

  /// Asks for the password of the logged-in user, for a token of the app that vouches for them, or for a sign-in at the provider
  /// they come from. Throws the challenge until the user has confirmed.
  package func requirePassword(of session: Session, for endpoint: String, auth: JSON?) async throws {
    // An application service proves itself with its token: there is nobody to ask.
    if session.appService != nil { return }
    if session.isGuest { throw MatrixError.guestAccessForbidden() }
    let userID = session.userID
    var flows: [[InteractiveAuthentication.Stage]] = [[.password]]
    if configuration.jsonWebTokens != nil { flows.append([.jsonWebToken]) }
    if try await comesFromProvider(userID) { flows.append([.singleSignOn]) }
    try await interactiveAuthentication.require(flows, for: .init(endpoint, of: userID), auth: auth) { stage, auth in
      if stage == .jsonWebToken { return try self.user(vouchedForBy: auth) == userID }
      // Completed in a browser, never by what a request says.
      if stage == .singleSignOn { return false }
      guard let password = auth["password"]?.string else { throw MatrixError.missingParameter("password") }
      guard try await self.userID(of: UserIdentifier(auth)) == userID else { return false }
      return try await self.passwords.verify(Redacted(password), against: self.account(userID)?.passwordHash)
    }
  }
}

/// How a client names the user who logs in. Spec: Client-Server API, "Identifier types".
package struct UserIdentifier: Sendable {
  /// An e-mail address or phone number.
  package struct ThirdParty: Sendable {
    package let medium: String
    package let address: String
  }

  /// A user ID or its localpart; empty where `thirdParty` says who is meant.
  package let name: ByteString
  package let thirdParty: ThirdParty?

  package init(name: ByteString) {
    self.name = name
    thirdParty = nil
  }

  private init(_ medium: ByteString, _ address: ByteString) {
    name = ""
    thirdParty = ThirdParty(medium: medium.string, address: address.string)
  }

  /// From `identifier` of type `m.id.user`, `m.id.thirdparty` or `m.id.phone`, else from the deprecated `user`, or `medium` and
  /// `address`.
  ///
  /// Throws `M_MISSING_PARAM` if the identifier is missing, `M_UNKNOWN` (400) for other types.
  package init(_ json: JSON) throws(MatrixError) {
    guard let identifier = try json.optionalObject("identifier") else {
      if let medium = try json.optionalText("medium") {
        self.init(medium, try json.requiredText("address"))
      } else {
        self.init(name: try json.requiredText("user"))
      }
      return
    }
    switch try identifier.requiredText("type").string {
    case "m.id.user": self.init(name: try identifier.requiredText("user"))
    case "m.id.thirdparty":
      self.init(try identifier.requiredText("medium"), try identifier.requiredText("address"))
    case "m.id.phone": self.init("msisdn", try identifier.requiredText("phone"))
    default: throw .unknown(status: 400, "This server knows no identifiers of this type.")
    }
  }

  /// nil for users of other servers, names that no account can have and who is meant by something else than a name.
  package func userID(on server: ServerName) -> UserID? {
    guard thirdParty == nil else { return nil }
    let name = TypedName.meant(by: name)
    if name.hasPrefix("@") {
      guard let userID = UserID(name), userID.serverName == server else { return nil }
      return userID
    }
    return UserID(localpart: name, server: server)
  }
}
