import HTTPServer
import JSON
import MatrixModel
import ServerAccounts

/// Single sign-on: what a browser meets on its way to a provider and back.
extension Routes {
  mutating func addSingleSignOnRoutes() {
    let singleSignOn = homeserver.singleSignOn
    let cookie = SingleSignOnCookie(base: homeserver.configuration.identity.publicBaseURL)

    on(.redirectToSSO, budget: .authentication) { request in
      try await Self.page(request) { request in
        let url = try request.query().required("redirectUrl")
        let providers = singleSignOn.providers
        guard let first = providers.first else { throw Self.noProviders }
        if providers.count == 1 {
          return cookie.answer(
            try await singleSignOn.begin(
              provider: first.id, redirectURL: url.string, from: request.http.peer.network))
        }
        try SingleSignOn.check(url.string)
        let query = "?redirectUrl=" + PercentEncoding.encode(url)
        return Page(
          title: "How do you want to sign in?",
          actions: providers.map { .link($0.name, url: Endpoint.redirectToIdP.path(ByteString($0.id)) + query) }
        ).response()
      }
    }

    on(.redirectToIdP, budget: .authentication) { request in
      try await Self.page(request) { request in
        let url = try request.query().required("redirectUrl")
        return cookie.answer(
          try await singleSignOn.begin(
            provider: request.path("idpId").string, redirectURL: url.string, from: request.http.peer.network))
      }
    }

    onPage(.get, SingleSignOn.callbackPath) { request in
      let query = try request.query()
      let arrival = try await singleSignOn.finish(
        state: try query.required("state").string, code: query.text("code")?.string, error: query.text("error")?.string,
        issuer: query.text("iss")?.string, cookie: cookie.value(in: request),
        from: request.http.peer.network)
      return Self.answer(arrival, cookie)
    }

    onPage(.post, SingleSignOn.agreementPath) { request in
      let id = try request.query().required("id")
      var response = Page.redirect(
        to: try await singleSignOn.agree(id.string, cookie: cookie.value(in: request)), 303)
      cookie.clear(in: &response)
      return response
    }
    addConfirmationBySignIn(cookie)
  }

  private static func answer(_ arrival: SingleSignOn.Arrival, _ cookie: SingleSignOnCookie) -> Response {
    switch arrival {
    case .redirect(let url):
      var response = Page.redirect(to: url)
      cookie.clear(in: &response)
      return response
    case .question(let id, let user, let client):
      return Page(
        title: "Sign in to this app?",
        paragraphs: [
          "\(client) wants to use your account \(user). It will be able to read and send your messages.",
          "If you did not just try to sign in there, close this page."
        ],
        actions: [
          .button(
            "Continue", path: SingleSignOn.agreementPath + "?id=" + PercentEncoding.encode(ByteString(id)), leadsTo: client)
        ]
      ).response()
    case .confirmed:
      var page = Page(title: "Thank you", paragraphs: ["That is confirmed. You can close this page and go back to your app."])
      page.tellsOpener = true
      var response = page.response()
      cookie.clear(in: &response)
      return response
    }
  }

  // MARK: Interactive authentication

  /// Spec: Client-Server API, "SSO during User-Interactive Authentication".
  private mutating func addConfirmationBySignIn(_ cookie: SingleSignOnCookie) {
    let singleSignOn = homeserver.singleSignOn
    let path = "/_matrix/client/v3/auth/m.login.sso/fallback/web"

    onPage(.get, path) { request in
      let session = try request.query().required("session")
      try singleSignOn.checkSession(session)
      guard !singleSignOn.providers.isEmpty else { throw Self.noProviders }
      var actions: [Page.Action] = []
      for provider in singleSignOn.providers {
        let target = path + "?session=\(PercentEncoding.encode(session))&idp=\(PercentEncoding.encode(ByteString(provider.id)))"
        actions.append(.button("Sign in with \(provider.name)", path: target, leadsTo: WebOrigin(of: provider.issuer)))
      }
      return Page(
        title: "Is that you?",
        paragraphs: [
          "An app wants to change something about your account. To allow it, sign in again.",
          "If you did not expect this, close this page: someone else may be using your account."
        ], actions: actions
      ).response()
    }

    onPage(.post, path) { request in
      let query = try request.query()
      let departure = try await singleSignOn.begin(
        provider: try query.required("idp").string, confirming: try query.required("session"),
        from: request.http.peer.network)
      return cookie.answer(departure, 303)
    }
  }

  private static var noProviders: MatrixError {
    .notFound("This server has no single sign-on. Go back to your app and use your password.")
  }
}

/// The cookie that binds a sign-in to the browser that began it.
struct SingleSignOnCookie: Sendable {
  private static let name = "martlet_sso"
  private let attributes: String

  init(base: String?) {
    // Lax: the provider sends the browser back by a link, which brings it.
    let isSecure = base?.hasPrefix("https:") ?? true
    attributes = "; Path=/_matrix/client; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : "")
  }

  func answer(_ departure: SingleSignOn.Departure, _ status: Status = .found) -> Response {
    var response = Page.redirect(to: departure.location, status)
    response.headers.add("Set-Cookie", "\(Self.name)=\(departure.cookie); Max-Age=600" + attributes)
    return response
  }

  func clear(in response: inout Response) {
    response.headers.add("Set-Cookie", "\(Self.name)=; Max-Age=0" + attributes)
  }

  func value(in request: APIRequest) -> String? {
    for pair in (request.http.headers["Cookie"] ?? "").split(separator: ";") {
      let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
      if parts.count == 2, parts[0] == Self.name { return String(parts[1]) }
    }
    return nil
  }
}
