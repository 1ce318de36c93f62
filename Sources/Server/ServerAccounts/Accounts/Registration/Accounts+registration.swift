import Database
import JSON
import MatrixModel
import ServerCore
import Telemetry

/// What a client sends to become a user.
package struct RegistrationRequest: Sendable {
  /// The localpart; nil lets the server choose.
  package var username: ByteString?
  package var password: Redacted<String>?
  package var device: DeviceRequest
  /// Whether only the account is made, no device.
  package var inhibitsLogin: Bool?
  /// The access token of the guest who becomes a user.
  package var guestToken: AccessTokenHash?
  package var auth: JSON?

  package init(device: DeviceRequest = DeviceRequest()) { self.device = device }

  /// The same, with what an earlier request said and this one leaves out.
  func supplemented(by earlier: RegistrationRequest) -> RegistrationRequest {
    var request = self
    request.username = username ?? earlier.username
    request.password = password ?? earlier.password
    request.inhibitsLogin = inhibitsLogin ?? earlier.inhibitsLogin
    request.guestToken = guestToken ?? earlier.guestToken
    request.device.deviceID = device.deviceID ?? earlier.device.deviceID
    request.device.displayName = device.displayName ?? earlier.device.displayName
    request.device.canRefresh = device.canRefresh || earlier.device.canRefresh
    return request
  }
}

/// The device a client asks for with its login.
package struct DeviceRequest: Sendable {
  /// nil lets the server choose.
  package var deviceID: DeviceID?
  /// For a new device; ignored where the device is known.
  package var displayName: String?
  /// Where the request came from.
  package var address: String?
  /// Whether the client knows how to refresh a token that expires.
  package var canRefresh = false

  package init(deviceID: DeviceID? = nil, displayName: String? = nil, address: String? = nil, canRefresh: Bool = false) {
    self.deviceID = deviceID
    self.displayName = displayName
    self.address = address
    self.canRefresh = canRefresh
  }
}

/// A device that may act for a user from now on.
package struct Login: Sendable {
  package let deviceID: DeviceID
  package let accessToken: AccessToken
  /// For a client that can refresh, where tokens expire.
  package let refreshToken: AccessToken?
  /// nil for a token that does not expire.
  package let expiresInMilliseconds: Int64?
}

extension Accounts {
  /// Makes an account, or a guest's into a user's. Spec: `POST /_matrix/client/v3/register`.
  ///
  /// What a request leaves out is as an earlier one of its session said.
  ///
  /// Throws the challenge until the configured flow is complete; `M_FORBIDDEN` where registration is closed or a guest's token
  /// does not fit the name, `M_INVALID_USERNAME`, `M_USER_IN_USE`, `M_EXCLUSIVE`, `M_WEAK_PASSWORD`, `M_MISSING_PARAM`.
  package func register(_ request: RegistrationRequest) async throws -> (userID: UserID, login: Login?) {
    guard configuration.registration != .closed || mayComeByLink(request) else { throw Self.closed }
    let request = try interactiveAuthentication.supplemented(request)
    let guest = try await guest(of: request)
    if guest == nil, let username = request.username { _ = try await available(username) }
    if let password = request.password { try Passwords.check(password) }
    if let name = request.device.displayName { try Devices.check(name) }
    let shown = try await authenticate(request, guest)
    guard let password = request.password else { throw MatrixError.missingParameter("password") }
    let localpart = request.username ?? Self.randomLocalpart()
    let userID = try guest ?? newUserID(localpart)
    let hash = try await passwords.hash(password)
    let login = try await database.write { [self] tx in
      if let token = shown.registrationToken { try complete(tx, token, by: userID) }
      if guest == nil {
        try create(tx, NewAccount(localpart), userID, passwordHash: hash)
      } else {
        try upgrade(tx, guest: userID, passwordHash: hash)
      }
      if let proof = shown.email { try emailValidations.give(tx, proof, for: .registration, to: userID) }
      return try request.inhibitsLogin ?? false ? nil : devices.logIn(tx, userID, request.device, sessions)
    }
    return (userID, login)
  }

  /// Throws the challenge until the configured flow is complete, and keeps what the request says for the next one.
  private func authenticate(
    _ request: RegistrationRequest, _ guest: UserID?
  ) async throws -> InteractiveAuthentication.Completion {
    do {
      return try await interactiveAuthentication.require(
        registrationFlows, for: .init("register", of: guest), auth: request.auth
      ) { stage, auth in
        if stage == .dummy { return true }
        if stage == .emailIdentity { return try await self.isConfirmed(by: auth, for: .registration) }
        guard let token = auth["token"]?.text else { return false }
        return try await self.letsRegister(token)
      }
    } catch let challenge as InteractiveAuthenticationChallenge {
      interactiveAuthentication.keep(request, in: challenge.session)
      throw challenge
    }
  }

  /// An e-mail address may be confirmed where it need not, unless a registration token is asked for: a flow that another one
  /// begins with would end before it.
  private var registrationFlows: [[InteractiveAuthentication.Stage]] {
    let needsEmail = configuration.identity.registrationNeedsEmail
    if configuration.registration != .open {
      return needsEmail ? [[.registrationToken, .emailIdentity]] : [[.registrationToken]]
    }
    if needsEmail { return [[.emailIdentity]] }
    return emailValidations.isAvailable ? [[.dummy], [.emailIdentity]] : [[.dummy]]
  }

  // MARK: Tokens

  /// Whether a request may get past closed registration: only one that shows a token, or goes on with a session, which only
  /// such a request began. Nobody else learns that links let people in.
  private func mayComeByLink(_ request: RegistrationRequest) -> Bool {
    guard inviteLinks.letRegister, let auth = request.auth else { return false }
    return auth["session"] != nil
      || auth["type"]?.string == InteractiveAuthentication.Stage.registrationToken.rawValue
  }

  /// Whether one more registration may show the token now: a registration token, where the server asks for one, or an invite
  /// link's.
  private func letsRegister(_ token: ByteString) async throws -> Bool {
    if configuration.registration == .token, try await registrationTokens.isValid(token) { return true }
    return try await inviteLinks.allowsRegistration(token)
  }

  /// Counts a finished registration. Throws `M_FORBIDDEN` if the token has ended meanwhile.
  private func complete(_ tx: WriteTransaction, _ token: ByteString, by user: UserID) throws {
    if try inviteLinks.complete(tx, token, by: user) { return }
    guard configuration.registration == .token else { throw MatrixError.forbidden("The invite link has been used up.") }
    try registrationTokens.complete(tx, token)
  }

  /// Makes an account without asking anyone: for the operator's command.
  package func create(
    _ localpart: ByteString, password: Redacted<String>, device: DeviceRequest? = nil
  ) async throws -> (userID: UserID, login: Login?) {
    try await create(NewAccount(localpart), password: password, device: device)
  }

  /// Makes an account without asking anyone: for administrators, application services and logins that someone else vouches for.
  ///
  /// - Parameters:
  ///   - password: nil for an account that cannot log in with one.
  ///   - device: nil makes the account only.
  /// - Throws: `M_INVALID_USERNAME`, `M_USER_IN_USE`, `M_EXCLUSIVE`, `M_WEAK_PASSWORD`.
  package func create(
    _ new: NewAccount, password: Redacted<String>?, device: DeviceRequest? = nil
  ) async throws -> (userID: UserID, login: Login?) {
    let userID = try newUserID(new.localpart)
    var hash: String?
    if let password {
      try Passwords.check(password)
      hash = try await passwords.hash(password)
    }
    let login = try await database.write { [self, hash] tx in
      try create(tx, new, userID, passwordHash: hash)
      return try device.map { try devices.logIn(tx, userID, $0, sessions) }
    }
    return (userID, login)
  }

  /// The rows of an account. Throws `M_USER_IN_USE`, and `M_EXCLUSIVE` where only an application service may make it.
  package func create(_ tx: WriteTransaction, _ new: NewAccount, _ userID: UserID, passwordHash: String?) throws {
    if new.appService == nil { try requireMayRegister(userID) }
    // Until they choose another: their name, not their address, is what others see.
    let displayName = new.displayName ?? new.localpart
    let standing = new.standing
    let created = try tx.changes(
      """
      INSERT INTO account(user_id, password, created, is_guest, app_service, user_type, is_admin, is_locked, is_suspended,
        valid_until, search_text)
      VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT(user_id) DO NOTHING
      """, userID, passwordHash, configuration.clock.now(), standing.isGuest, new.appService, new.userType,
      standing.isAdmin, standing.isLocked, standing.isSuspended, standing.validUntil,
      Profiles.searchText(userID, displayName: displayName))
    guard created == 1 else { throw Self.inUse }
    try Profiles.store(tx, "displayname", JSON.text(displayName), of: userID)
    if let avatarURL = new.avatarURL { try Profiles.store(tx, "avatar_url", JSON.text(avatarURL), of: userID) }
    try pushRules.storeDefaults(tx, of: userID)
  }

  /// The user ID an unused name would get. Throws `M_INVALID_USERNAME`, `M_USER_IN_USE` and `M_EXCLUSIVE`.
  package func available(_ username: ByteString) async throws -> UserID {
    let userID = try newUserID(username)
    try requireMayRegister(userID)
    guard try await account(userID) == nil else { throw Self.inUse }
    guard userID != configuration.noticesUser else {
      throw MatrixError(status: 400, .exclusive, "This user name is reserved for the server's notices.")
    }
    return userID
  }

  /// Throws `M_EXCLUSIVE` for a name that only an application service may have, however the account comes about.
  func requireMayRegister(_ userID: UserID) throws {
    for observer in observers { try observer.willRegister(userID) }
  }

  /// Whether a registration token is valid now. Throws `M_FORBIDDEN` where nobody can register.
  package func registrationTokenIsValid(_ token: ByteString) async throws -> Bool {
    guard configuration.registration != .closed else { throw Self.closed }
    guard configuration.registration == .token else { return false }
    return try await letsRegister(token)
  }

  func newUserID(_ localpart: ByteString) throws(MatrixError) -> UserID {
    guard UserID.isAllowedLocalpart(localpart),
      let userID = UserID(localpart: localpart, server: configuration.serverName)
    else {
      throw MatrixError(
        status: 400, .invalidUsername,
        "A user name has letters a-z, digits and . _ = - / + only, and at most 255 bytes in all.")
    }
    return userID
  }

  static func randomLocalpart() -> ByteString {
    ByteString(RandomText.name(length: 12, of: "abcdefghijklmnopqrstuvwxyz0123456789"))
  }

  static let inUse = MatrixError(status: 400, .userInUse, "This user name is taken.")
  private static let closed = MatrixError.forbidden("Registration is closed on this server.")
}
