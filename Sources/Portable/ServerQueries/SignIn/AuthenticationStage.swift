import JSON
import MatrixModel

/// One stage of an interactive authentication, with what proves it. Spec: Client-Server API, "Authentication types".
public indirect enum AuthenticationStage: Sendable {
  case password(ByteString, user: UserIdentifier)
  case recaptcha(response: ByteString)
  /// An e-mail address or phone number whose owner has followed the link or typed the code.
  case email(ValidatedAddress)
  case phone(ValidatedAddress)
  case dummy
  case registrationToken(ByteString)
  /// All of `InteractiveAuthentication.policies` are agreed to.
  case terms
  /// The person went through it on the page of `InteractiveAuthentication.fallback(for:)`.
  case completedElsewhere
  /// A type this client has no name for; `members` is a JSON object of what goes with it.
  case other(type: ByteString, members: [UInt8])

  static let passwordType: ByteString = "m.login.password"
  package static let dummyType: ByteString = "m.login.dummy"
  package static let registrationTokenType: ByteString = "m.login.registration_token"
  static let termsType: ByteString = "m.login.terms"

  /// nil where the homeserver knows it by the session.
  public var type: ByteString? {
    switch self {
    case .password: Self.passwordType
    case .recaptcha: "m.login.recaptcha"
    case .email: "m.login.email.identity"
    case .phone: "m.login.msisdn"
    case .dummy: Self.dummyType
    case .registrationToken: Self.registrationTokenType
    case .terms: Self.termsType
    case .completedElsewhere: nil
    case .other(let type, _): type
    }
  }

  /// The `auth` object.
  package func body(session: ByteString?) -> [UInt8] {
    JSONWriter.object { writer in
      if let type { writer.member("type", type) }
      if let session { writer.member("session", session) }
      switch self {
      case .password(let password, let user):
        user.write(to: &writer)
        writer.member("password", password)
      case .recaptcha(let response): writer.member("response", response)
      case .email(let address), .phone(let address): address.write(to: &writer)
      case .registrationToken(let token): writer.member("token", token)
      case .dummy, .terms, .completedElsewhere: break
      case .other(_, let members):
        writer.members(of: members)
      }
    }
  }
}

/// Without what proves it: it may stand in a log.
extension AuthenticationStage: CustomStringConvertible {
  public var description: String { type?.string ?? "completed elsewhere" }
}

/// How an account is named where one logs in. Spec: Client-Server API, "Identifier types".
public enum UserIdentifier: Sendable, Hashable {
  /// A localpart or a whole user ID.
  case user(ByteString)
  case email(ByteString)
  /// `country` by ISO 3166-1 alpha-2; `number` as one would dial it there.
  case phone(country: ByteString, number: ByteString)

  /// The `identifier` member.
  func write(to writer: inout JSONWriter) {
    writer.key("identifier")
    writer.object { writer in
      switch self {
      case .user(let user):
        writer.member("type", "m.id.user")
        writer.member("user", user)
      case .email(let address):
        writer.member("type", "m.id.thirdparty")
        writer.member("medium", "email")
        writer.member("address", address)
      case .phone(let country, let number):
        writer.member("type", "m.id.phone")
        writer.member("country", country)
        writer.member("phone", number)
      }
    }
  }
}

/// A validation that its owner has confirmed: session ID and secret of the request that sent the token.
public struct ValidatedAddress: Sendable {
  public let sessionID: ByteString
  public let clientSecret: ByteString
  /// Of an identity server, where the homeserver did not send the token itself.
  public let identityServer: ByteString?
  public let identityAccessToken: ByteString?

  public init(
    sessionID: ByteString, clientSecret: ByteString, identityServer: ByteString? = nil,
    identityAccessToken: ByteString? = nil
  ) {
    self.sessionID = sessionID
    self.clientSecret = clientSecret
    self.identityServer = identityServer
    self.identityAccessToken = identityAccessToken
  }

  /// The `threepid_creds` member.
  func write(to writer: inout JSONWriter) {
    writer.key("threepid_creds")
    writer.object { writer in
      writer.member("sid", sessionID)
      writer.member("client_secret", clientSecret)
      if let identityServer { writer.member("id_server", identityServer) }
      if let identityAccessToken { writer.member("id_access_token", identityAccessToken) }
    }
  }
}
