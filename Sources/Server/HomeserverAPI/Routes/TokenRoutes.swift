import HTTPServer
import JSON
import MatrixModel
import ServerAccounts

/// Tokens that stand for others: to refresh with, to log in another client with, to show to third parties.
extension Routes {
  mutating func addTokenRoutes() {
    let (accounts, sessions) = (homeserver.accounts, homeserver.sessions)
    let configuration = homeserver.configuration
    addOpenIDRoutes()

    on(.refresh, budget: .authentication) { request in
      let token = try await request.object().requiredText("refresh_token")
      let login = try await sessions.refresh(AccessTokenHash(of: token))
      return .json { $0.object { $0.members(of: login) } }
    }

    on(.generateLoginToken, budget: .authentication) { request, session in
      guard configuration.issuesLoginTokens else { throw MatrixError.unrecognized(status: 404) }
      let body = try await request.optionalObject()
      try await accounts.requirePassword(of: session, for: "login/get_token", auth: body.given("auth"))
      let token = try await accounts.loginTokens.issue(for: session.userID)
      return .json { writer in
        writer.object { writer in
          writer.member("login_token", token.text)
          writer.member("expires_in_ms", ExpiringTokens.Kind.login.lifetimeMilliseconds)
        }
      }
    }

    // Where OAuth 2.0 is not configured. Spec: "Authentication API discovery".
    on(.getAuthMetadata, budget: .free) { _ in throw MatrixError.unrecognized(status: 404) }
  }

  private mutating func addOpenIDRoutes() {
    let (accounts, server) = (homeserver.accounts, homeserver.configuration.serverName)

    on(.requestOpenIdToken) { request, session in
      try Self.requireOwn(request, session)
      _ = try await request.optionalObject()
      let token = try await accounts.openIDTokens.issue(for: session.userID)
      return .json { writer in
        writer.object { writer in
          writer.member("access_token", token.text)
          writer.member("token_type", "Bearer")
          writer.member("matrix_server_name", server)
          writer.member("expires_in", ExpiringTokens.Kind.openID.lifetimeMilliseconds / 1_000)
        }
      }
    }

    // Part of the Server-Server API, but for any third party that a user gave a token to.
    on(.get, "/_matrix/federation/v1/openid/userinfo", budget: .read) { request in
      guard let token = try request.query().text("access_token") else { throw MatrixError.missingToken() }
      guard let userID = try await accounts.openIDTokens.owner(of: AccessTokenHash(of: token)) else {
        throw MatrixError(status: 401, .unknownToken, "The OpenID token is not known or has expired.")
      }
      return .json { $0.object { $0.member("sub", userID) } }
    }
  }
}

extension JSONWriter {
  /// The tokens of a login.
  mutating func members(of login: Login) {
    member("access_token", login.accessToken.text)
    if let refreshToken = login.refreshToken { member("refresh_token", refreshToken.text) }
    if let expires = login.expiresInMilliseconds { member("expires_in_ms", expires) }
  }
}
