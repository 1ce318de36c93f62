import HTTPServer
import Homeserver
import JSON
import MatrixModel
import ServerAccounts
import Telemetry

/// Login, logout, and `whoami`.
extension Routes {
  mutating func addLoginRoutes() {
    let accounts = homeserver.accounts
    let server = homeserver.configuration.serverName
    let base = homeserver.configuration.identity.publicBaseURL
    let guesses = loginGuesses
    addLogoutRoutes()

    on(.getLoginFlows) { [flows = Self.loginFlows(homeserver.configuration, homeserver.singleSignOn.providers)] _ in
      .json(flows)
    }

    on(.login, budget: .authentication) { request in
      let body = try await request.object()
      let (userID, login): (UserID, Login)
      switch try body.requiredText("type").string {
      case "m.login.password":
        let user = try UserIdentifier(body)
        let password = Redacted(try body.requiredText("password").string)
        let device = try DeviceRequest(body, of: request)
        // Guessing one account's password from many addresses is bounded too.
        if let userID = try await accounts.userID(of: user) { try guesses(userID) }
        (userID, login) = try await accounts.logIn(user, password: password, device: device)
      case "m.login.token":
        (userID, login) = try await accounts.logIn(
          loginToken: try body.requiredText("token"), device: try DeviceRequest(body, of: request))
      case "m.login.application_service":
        (userID, login) = try await accounts.logIn(
          try UserIdentifier(body), by: try request.appService(), device: try DeviceRequest(body, of: request))
      case "org.matrix.login.jwt":
        (userID, login) = try await accounts.logIn(
          jsonWebToken: try body.requiredText("token"), device: try DeviceRequest(body, of: request))
      default: throw MatrixError.unknown(status: 400, "This server has no login of this type; GET /login lists them.")
      }
      return .login(userID, login, server, at: base)
    }
  }

  private mutating func addLogoutRoutes() {
    let accounts = homeserver.accounts

    on(.logout) { _, session in
      try await accounts.logOut(session)
      return .emptyObject
    }

    on(.logoutAll) { _, session in
      try await accounts.logOutEverywhere(session.userID)
      return .emptyObject
    }

    on(.getTokenOwner) { _, session in
      .json { writer in
        writer.object { writer in
          writer.member("user_id", session.userID)
          if session.hasDevice { writer.member("device_id", session.deviceID) }
          writer.member("is_guest", session.isGuest)
        }
      }
    }
  }

  /// What `POST /login` takes for `type`.
  private static func loginFlows(_ configuration: HomeserverConfiguration, _ providers: [SingleSignOnProvider])
    -> [UInt8]
  {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("flows")
      writer.array { writer in
        writer.object { $0.member("type", "m.login.password") }
        if !providers.isEmpty { writer.object { write(providers, to: &$0) } }
        if configuration.issuesLoginTokens || !providers.isEmpty {
          writer.object { writer in
            writer.member("type", "m.login.token")
            if configuration.issuesLoginTokens { writer.member("get_login_token", true) }
          }
        }
        if !configuration.appServices.isEmpty { writer.object { $0.member("type", "m.login.application_service") } }
        if configuration.jsonWebTokens != nil { writer.object { $0.member("type", "org.matrix.login.jwt") } }
      }
      if configuration.allowsGuests { writer.member("martlet.guests", true) }
      writer.member("martlet.registration", registration(configuration))
    }
    return writer.bytes
  }

  /// What a client can register with by itself, so that none has to try it: `other` if something else is asked for.
  private static func registration(_ configuration: HomeserverConfiguration) -> String {
    switch configuration.registration {
    case .closed: "closed"
    case _ where configuration.identity.registrationNeedsEmail: "other"
    case .open: "open"
    case .token: "token"
    }
  }

  private static func write(_ providers: [SingleSignOnProvider], to writer: inout JSONWriter) {
    writer.member("type", "m.login.sso")
    writer.list("identity_providers", providers) { provider, writer in
      writer.member("id", provider.id)
      writer.member("name", provider.name)
      if let brand = provider.brand { writer.member("brand", brand) }
      if let icon = provider.icon { writer.member("icon", icon.description) }
    }
  }
}
