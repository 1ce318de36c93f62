import JSON
import MatrixModel

/// The account itself. Spec: Client-Server API, "Account management".
extension Query {
  /// Whether nobody has the user name yet; refused with `M_USER_IN_USE`, `M_INVALID_USERNAME` or `M_EXCLUSIVE`.
  public static func isUsernameAvailable(_ name: ByteString) -> Query<Bool> {
    let parameters = URLQuery().adding("username", name)
    return Query<Bool>(.checkUsernameAvailability, Endpoint.checkUsernameAvailability.path(), parameters: parameters) {
      $0.bool("available")
    }
  }

  /// Whether the server takes this token at a registration.
  public static func isRegistrationTokenValid(_ token: ByteString) -> Query<Bool> {
    Query<Bool>(
      .registrationTokenValidity, Endpoint.registrationTokenValidity.path(), parameters: URLQuery().adding("token", token)
    ) { $0.bool("valid") }
  }

  /// The server asks for authentication.
  /// - Parameter logsOutOthers: whether the sessions of the account's other devices end.
  public static func changePassword(_ password: ByteString, logsOutOthers: Bool = true) -> Query<Void> {
    let body = JSONWriter.object { writer in
      writer.member("new_password", password)
      writer.member("logout_devices", logsOutOthers)
    }
    return Query<Void>(.changePassword, Endpoint.changePassword.path(), body: body)
  }

  /// Closes the account for good. The server asks for authentication; afterwards every token of the account is dead, and the session
  /// is over.
  /// - Parameter erases: whether the server shows what the account wrote to nobody who has not seen it yet.
  public static func deactivateAccount(erases: Bool = false) -> Query<Void> {
    Query<Void>(
      .deactivateAccount, Endpoint.deactivateAccount.path(), body: JSONWriter.object { $0.member("erase", erases) },
      endsSession: true)
  }

  /// The e-mail addresses and phone numbers of the account. Spec: "Adding Account Administrative Contact Information".
  public static func thirdPartyIDs() -> Query<[ThirdPartyID]> {
    Query<[ThirdPartyID]>(.getAccount3PIDs, Endpoint.getAccount3PIDs.path()) { json in
      json["threepids"]?.elements.compactMap { ThirdPartyID($0) }
    }
  }

  /// Gives the account an address whose owner has confirmed it (`requestNewAddress`). The server asks for authentication; refused with
  /// `M_THREEPID_AUTH_FAILED` where nobody has followed the link yet.
  public static func addThirdPartyID(_ address: ValidatedAddress) -> Query<Void> {
    let body = JSONWriter.object { writer in
      writer.member("sid", address.sessionID)
      writer.member("client_secret", address.clientSecret)
    }
    return Query<Void>(.add3PID, Endpoint.add3PID.path(), body: body)
  }

  public static func removeThirdPartyID(_ id: ThirdPartyID) -> Query<Void> {
    let body = JSONWriter.object { writer in
      writer.member("medium", id.medium.name)
      writer.member("address", id.address)
    }
    return Query<Void>(.delete3pidFromAccount, Endpoint.delete3pidFromAccount.path(), body: body)
  }

  /// Has the server send a token to an address of the account, by which `changePassword` is then authenticated
  /// (`AuthenticationStage.email`). The answer is the session ID of that validation.
  /// - Parameters:
  ///   - clientSecret: made up by the caller, `[0-9a-zA-Z.=_-]`, 1 to 255 bytes; goes with the session ID from then on.
  ///   - attempt: a number not used before sends the mail once more.
  public static func requestPasswordReset(
    email: ByteString, clientSecret: ByteString, attempt: Int = 1, nextLink: ByteString? = nil
  ) -> Query<ByteString> {
    requestEmail(email, for: .passwordReset, clientSecret: clientSecret, attempt: attempt, nextLink: nextLink)
  }

  /// Has the server send a link to an address that a registration wants (`AuthenticationStage.email`); otherwise like
  /// `requestPasswordReset`.
  public static func requestRegistrationEmail(
    _ email: ByteString, clientSecret: ByteString, attempt: Int = 1
  ) -> Query<ByteString> {
    requestEmail(email, for: .registration, clientSecret: clientSecret, attempt: attempt)
  }

  /// Has the server send a link to an address that the account is to get (`addThirdPartyID`); otherwise like
  /// `requestPasswordReset`.
  public static func requestNewAddress(
    _ email: ByteString, clientSecret: ByteString, attempt: Int = 1
  ) -> Query<ByteString> {
    requestEmail(email, for: .newAddress, clientSecret: clientSecret, attempt: attempt)
  }

  /// The same for any purpose.
  public static func requestEmail(
    _ email: ByteString, for purpose: EmailPurpose, clientSecret: ByteString, attempt: Int = 1, nextLink: ByteString? = nil
  ) -> Query<ByteString> {
    let endpoint: Endpoint =
      switch purpose {
      case .registration: .requestTokenToRegisterEmail
      case .passwordReset: .requestTokenToResetPasswordEmail
      case .newAddress: .requestTokenTo3PIDEmail
      }
    let body = JSONWriter.object { writer in
      writer.member("email", email)
      writer.member("client_secret", clientSecret)
      writer.member("send_attempt", attempt)
      if let nextLink { writer.member("next_link", nextLink) }
    }
    return Query<ByteString>(endpoint, endpoint.path(), body: body) { $0.text("sid") }
  }

  /// Returns a token that proves the user's identity to a third party. Spec: "OpenID".
  public static func openIDToken(of user: UserID) -> Query<OpenIDToken> {
    Query<OpenIDToken>(.requestOpenIdToken, Endpoint.requestOpenIdToken.path(user.text)) { OpenIDToken($0) }
  }

  /// For signing in another device of the same account (`Login.token`). The server asks for authentication.
  public static func loginToken() -> Query<LoginToken> {
    Query<LoginToken>(.generateLoginToken, Endpoint.generateLoginToken.path()) { json in
      guard let token = json.text("login_token") else { return nil }
      return LoginToken(token: token, lifetimeMilliseconds: json.integer("expires_in_ms") ?? 0)
    }
  }
}

/// What the link in a mail is followed for.
public enum EmailPurpose: Sendable { case registration, passwordReset, newAddress }

/// An address that stands for the account.
public struct ThirdPartyID: Sendable, Hashable {
  public enum Medium: Sendable, Hashable {
    case email
    case phone
    case other(ByteString)

    var name: ByteString {
      switch self {
      case .email: "email"
      case .phone: "msisdn"
      case .other(let name): name
      }
    }
  }

  public let medium: Medium
  public let address: ByteString
  /// Milliseconds since 1970.
  public let validatedAtMilliseconds: Int64
  public let addedAtMilliseconds: Int64

  init?(_ json: JSON) {
    guard let medium = json.text("medium"), let address = json.text("address") else { return nil }
    self.medium =
      medium == "email" as StaticString ? .email : medium == "msisdn" as StaticString ? .phone : .other(medium)
    self.address = address
    validatedAtMilliseconds = json.integer("validated_at") ?? 0
    addedAtMilliseconds = json.integer("added_at") ?? 0
  }
}

/// A token by which a third party can ask the homeserver who its bearer is.
public struct OpenIDToken: Sendable, Hashable {
  public let accessToken: ByteString
  public let tokenType: ByteString
  public let serverName: ServerName
  public let lifetimeSeconds: Int64

  init?(_ json: JSON) {
    guard let token = json.text("access_token"), let server = ServerName(json["matrix_server_name"]),
      let lifetime = json.integer("expires_in")
    else { return nil }
    accessToken = token
    tokenType = json.text("token_type") ?? "Bearer"
    serverName = server
    lifetimeSeconds = lifetime
  }
}

/// A token that signs in one device.
public struct LoginToken: Sendable, Hashable {
  public let token: ByteString
  public let lifetimeMilliseconds: Int64
}
