import JSON
import ServerAccounts

/// An application's server, as the token in `X-OPENTOK-AUTH` of its request proves it.
package struct ServerAuthorization: Sendable, Equatable {
  package let project: ProjectID

  /// Verifies the header: HS256 under the secret of the project that the token names, good for some minutes at most.
  ///
  /// - Parameter now: milliseconds since 1970.
  package init(verifying text: ByteString, of projects: CallProjects, now: Int64) throws(ConnectionToken.Refusal) {
    guard let issuer = JSONWebToken.claimedIssuer(of: text) else { throw .malformed }
    // Our own project speaks to itself and to nobody by this way.
    guard let project = ProjectID(issuer), project != .rooms, let secret = projects.secret(of: project) else {
      throw .unknownProject
    }
    let claims = try TokenClaims.claims(of: text, project: project, secret: Array(secret.utf8), now: now)
    guard claims["ist"]?.isString("project") ?? false else { throw .wrongProject }
    // A participant's token does not authorize a server.
    guard claims["scope"] == nil, claims["session_id"] == nil else { throw .wrongScope }
    guard let end = TokenClaims.milliseconds(claims["exp"]) else { throw .withoutExpiry }
    guard end <= now + CallLimits.authorizationMilliseconds + JSONWebToken.leewaySeconds * 1_000 else { throw .tooLong }
    self.project = project
  }
}
