import HTTPServer
import JSON
import MatrixModel
import ServerAccounts

/// E-mail addresses of accounts. Requests that need an identity server or a phone number are refused, as documented.
extension Routes {
  mutating func addIdentityRoutes() {
    addIdentifierRoutes()
    let validations = homeserver.emailValidations
    let purposes: [(Endpoint, EmailValidations.Purpose)] = [
      (.requestTokenToRegisterEmail, .registration), (.requestTokenTo3PIDEmail, .addition),
      (.requestTokenToResetPasswordEmail, .passwordReset)
    ]
    for (endpoint, purpose) in purposes {
      on(endpoint, budget: .authentication) { request in
        let body = try await request.object()
        guard validations.isAvailable else { throw EmailValidations.notSupported("e-mail addresses") }
        let sessionID = try await validations.request(
          EmailValidations.Request(body), for: purpose, from: request.http.peer.network)
        return .json { $0.object { $0.member("sid", sessionID) } }
      }
    }
    for endpoint: Endpoint in [
      .requestTokenToRegisterMSISDN, .requestTokenTo3PIDMSISDN, .requestTokenToResetPasswordMSISDN
    ] {
      on(endpoint, budget: .authentication) { request in
        _ = try await request.object()
        throw EmailValidations.notSupported("phone numbers")
      }
    }
    addConfirmationPages()
  }

  private mutating func addIdentifierRoutes() {
    let (accounts, identifiers) = (homeserver.accounts, homeserver.thirdPartyIdentifiers)
    let validations = homeserver.emailValidations

    on(.getAccount3PIDs) { _, session in
      let all = try await identifiers.all(of: session.userID)
      return .json { writer in
        writer.object { writer in
          writer.key("threepids")
          writer.array { writer in
            for identifier in all {
              writer.object { writer in
                writer.member("medium", identifier.medium)
                writer.member("address", identifier.address)
                writer.member("validated_at", identifier.validated)
                writer.member("added_at", identifier.added)
              }
            }
          }
        }
      }
    }

    on(.add3PID, budget: .authentication) { request, session in
      let body = try await request.object()
      let proof = try EmailProof(body)
      // Before the password is asked for, which would be for nothing.
      try await validations.check(proof, for: .addition)
      try await accounts.requirePassword(of: session, for: "account/3pid/add", auth: body.given("auth"))
      try await validations.add(proof, to: session.userID)
      return .emptyObject
    }

    on(.delete3pidFromAccount) { request, session in
      let body = try await request.object()
      let (medium, address) = (try body.requiredText("medium"), try body.requiredText("address"))
      try await identifiers.delete(medium.string, address.string, of: session.userID)
      return Self.noUnbinding
    }

    on(.unbind3pidFromAccount) { request, _ in
      let body = try await request.object()
      _ = (try body.requiredText("medium"), try body.requiredText("address"))
      return Self.noUnbinding
    }

    on(.bind3PID) { request, _ in
      _ = try EmailProof(try await request.object())
      throw Self.noIdentityServer(status: 400)
    }

    // Deprecated, "an equivalent to `/3pid/bind`", whose documented refusal is 403.
    on(.post3PIDs) { request, _ in
      _ = try EmailProof(try await request.object().requiredObject("three_pid_creds"))
      throw Self.noIdentityServer(status: 403)
    }
  }

  /// "If the homeserver does not know the original `id_server`, it MUST return … `no-support`."
  private static var noUnbinding: Response { .json(Array(#"{"id_server_unbind_result":"no-support"}"#.utf8)) }

  private static func noIdentityServer(status: Int) -> MatrixError {
    MatrixError(status: status, .serverNotTrusted, "This server works with no identity server.")
  }

  // MARK: Pages

  /// The link in a mail. Programs that look at mails follow links too, so a look confirms nothing: a person presses the button.
  private mutating func addConfirmationPages() {
    let validations = homeserver.emailValidations
    let path = EmailValidations.confirmationPath
    let ended = MatrixError.notFound(
      "This link has ended, or there is a newer one. Ask for another mail in your app and follow the link in it.")

    onPage(.get, path) { request in
      let query = try request.query()
      let (sessionID, token) = (try query.required("sid"), try query.required("token"))
      guard let pending = try await validations.pending(sessionID, token) else { throw ended }
      let target = "\(path)?sid=\(PercentEncoding.encode(sessionID))&token=\(PercentEncoding.encode(token))"
      let (title, reason, button) = Self.words(pending.purpose)
      return Page(
        title: title,
        paragraphs: ["\(reason) \(pending.address)", "If you did not ask for this, close this page and nothing will happen."],
        actions: [.button(button, path: target, leadsTo: pending.nextLink.flatMap { WebOrigin(of: $0) })]
      ).response()
    }

    onPage(.post, path) { request in
      let query = try request.query()
      let (sessionID, token) = (try query.required("sid"), try query.required("token"))
      guard let pending = try await validations.pending(sessionID, token),
        try await validations.confirm(sessionID, token)
      else { throw ended }
      if let nextLink = pending.nextLink { return Page.redirect(to: nextLink, 303) }
      return Page(title: "Thank you", paragraphs: ["That is confirmed. You can close this page and go back to your app."])
        .response()
    }
  }

  private static func words(_ purpose: EmailValidations.Purpose) -> (title: String, reason: String, button: String) {
    switch purpose {
    case .registration: ("Confirm your e-mail address", "A new account is to be made with the address", "Confirm")
    case .addition: ("Confirm your e-mail address", "An account is to get the address", "Confirm")
    case .passwordReset:
      ("Allow a new password?", "Someone wants to set a new password for the account with the address", "Allow")
    }
  }
}
