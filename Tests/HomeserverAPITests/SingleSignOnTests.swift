import Addresses
import JSON
import MatrixModel
import Outbound
import Telemetry
import Testing

@testable import HomeserverAPI
@testable import ServerAccounts

@Suite struct SingleSignOnTests {
  private static let trusted = "https://app.example.com/#/home"
  private static let trustedURL = "https%3A%2F%2Fapp.example.com%2F%23%2Fhome"

  private func run(
    _ algorithm: JSONWebKey.Algorithm = .es256, _ change: @escaping (inout SingleSignOnProvider) -> Void = { _ in },
    _ body: (APIFixture, OpenIDProvider) async throws -> Void
  ) async throws {
    let provider = OpenIDProvider(algorithm)
    defer { provider.close() }
    let origin = try #require(WebOrigin(of: Self.trusted))
    let loopback = try #require(IPNetwork("127.0.0.1"))
    try await APIFixture.run { configuration in
      configuration.registration = .open
      configuration.outbound.allowedNetworks = [loopback]
      configuration.identity.publicBaseURL = "https://matrix.example.org"
      configuration.identity.trustedClients = [origin]
      var company = SingleSignOnProvider(
        id: "company", name: "Our company", issuer: provider.issuer, clientID: "martlet")
      company.clientSecret = Redacted("s3cret/+")
      change(&company)
      configuration.identity.providers = [company]
    } _: { api in
      try await body(api, provider)
    }
  }

  /// Goes to the provider: the cookie and the query that the provider sends back.
  private func depart(
    _ api: APIFixture, _ provider: OpenIDProvider, redirectURL: String = Self.trustedURL
  ) async throws -> (cookie: String, state: String) {
    let path = "/_matrix/client/v3/login/sso/redirect"
    // The only provider needs no choice.
    #expect(try await api.page(.get, path + "?redirectUrl=" + redirectURL).status == 302)
    let answer = try await api.page(.get, path + "/company?redirectUrl=" + redirectURL)
    #expect(answer.status == 302)
    let location = try #require(answer.headers["Location"])
    #expect(location.hasPrefix(provider.issuer + "/authorize?"))
    let parameters = provider.visit(location)
    #expect(parameters["response_type"] == "code" && parameters["client_id"] == "martlet")
    #expect(parameters["code_challenge_method"] == "S256" && parameters["scope"] == "openid profile email")
    #expect(parameters["redirect_uri"] == "https://matrix.example.org" + SingleSignOn.callbackPath)
    let cookie = try #require(answer.headers["Set-Cookie"])
    for attribute in ["HttpOnly", "Secure", "SameSite=Lax", "Max-Age=600"] { #expect(cookie.contains(attribute)) }
    return (String(cookie.prefix { $0 != ";" }), try #require(parameters["state"]))
  }

  private func callback(
    _ api: APIFixture, state: String, cookie: String?, query: String = "&code=the-code"
  ) async throws -> APIFixture.PageAnswer {
    try await api.page(
      .get, SingleSignOn.callbackPath + "?state=\(state)" + query, headers: cookie.map { [("Cookie", "a=b; " + $0)] } ?? [])
  }

  private func signIn(_ api: APIFixture, _ provider: OpenIDProvider) async throws -> APIFixture.PageAnswer {
    let (cookie, state) = try await depart(api, provider)
    return try await callback(api, state: state, cookie: cookie)
  }

  private func logIn(_ api: APIFixture, _ answer: APIFixture.PageAnswer) async throws -> APIFixture.Answer {
    let location = try #require(answer.headers["Location"])
    #expect(location.hasPrefix("https://app.example.com/?loginToken=") && location.hasSuffix("#/home"))
    let token = location.dropFirst("https://app.example.com/?loginToken=".count).prefix { $0 != "#" }
    return try await api.call(.post, "login", #"{"type":"m.login.token","token":"\#(token)"}"#)
  }

  @Test("single sign-on is announced where a provider is configured, and only there")
  func flows() async throws {
    try await run {
      $0.brand = "gitlab"
    } _: { api, _ in
      let flows = try #require(try await api.call(.get, "login").json["flows"])
      let sso = try #require(flows.elements.first { $0["type"]?.string == "m.login.sso" })
      let provider = try #require(sso["identity_providers"]?.elements.first { _ in true })
      #expect(provider["id"]?.string == "company" && provider["name"]?.string == "Our company")
      #expect(provider["brand"]?.string == "gitlab")
      #expect(flows.elements.contains { $0["type"]?.string == "m.login.token" })
    }
    try await APIFixture.run { api in
      let flows = try #require(try await api.call(.get, "login").json["flows"])
      #expect(!flows.elements.contains { ["m.login.sso", "m.login.token"].contains($0["type"]?.string) })
      #expect(try await api.page(.get, "/_matrix/client/v3/login/sso/redirect?redirectUrl=https%3A%2F%2Fa.b").status == 404)
    }
  }

  @Test(
    "a person signs in, gets an account the first time and the same the second",
    arguments: [
      JSONWebKey.Algorithm.rs256, .es256, .edDSA
    ])
  func signIn(_ algorithm: JSONWebKey.Algorithm) async throws {
    try await run(algorithm) { api, provider in
      provider.behave {
        $0.claims = #""sub":"1","preferred_username":"Alice@Corp","name":"Alice A.","email":"A@x.org","email_verified":true"#
      }
      let answer = try await signIn(api, provider)
      #expect(answer.status == 302 && answer.headers["Cache-Control"] == "no-store")
      #expect(answer.headers["Set-Cookie"]?.contains("Max-Age=0") == true)
      let login = try await logIn(api, answer)
      #expect(login.json["user_id"]?.string == "@alice:example.org")
      let alice = try api.user(login)
      let name = try await api.call(.get, "profile/@alice:example.org/displayname")
      #expect(name.json["displayname"]?.string == "Alice A.")
      let addresses = try await api.call(.get, "account/3pid", as: alice).json["threepids"]
      #expect(addresses?.elements.contains { $0["address"]?.string == "a@x.org" } == true)
      // Basic, of both parts form-encoded.
      #expect(provider.requests.contains { $0.hasPrefix("POST /token") })
      let again = try await logIn(api, try await signIn(api, provider))
      #expect(again.json["user_id"]?.string == "@alice:example.org")
    }
  }

  @Test("a name that is taken is not taken over")
  func takenName() async throws {
    try await run { api, provider in
      _ = try await api.register("alice")
      let login = try await logIn(api, try await signIn(api, provider))
      #expect(login.json["user_id"]?.string == "@alice2:example.org")
      provider.behave { $0.claims = #""sub":"person-2","preferred_username":"alice""# }
      #expect(try await logIn(api, try await signIn(api, provider)).json["user_id"]?.string == "@alice3:example.org")
      provider.behave { $0.claims = #""sub":"person-1","preferred_username":"renamed""# }
      #expect(try await logIn(api, try await signIn(api, provider)).json["user_id"]?.string == "@alice2:example.org")
    }
  }

  @Test(
    "claims become localparts as the appendices say",
    arguments: [
      ("Alice", "alice"), ("a b", "a=20b"), ("_x", "=5fx"), ("a_x", "a_x"), ("á", "=c3=a1"), ("a=b", "a=3db"),
      ("alice@corp", "alice"), (String(repeating: "a", count: 70), String(repeating: "a", count: 64))
    ])
  func localpart(_ claim: String, _ expected: String) {
    #expect(SingleSignOnPeople.localpart(from: ByteString(claim))?.string == expected)
  }

  @Test("without a usable name the server chooses one, and user info is asked where the token lacks the name")
  func names() async throws {
    try await run { api, provider in
      provider.behave { $0.claims = #""sub":"1""# }
      let login = try await logIn(api, try await signIn(api, provider))
      #expect(login.json["user_id"]?.string?.utf8.count == "@:example.org".utf8.count + 12)
      provider.behave {
        $0.claims = #""sub":"2""#
        $0.userInfo = #"{"sub":"2","preferred_username":"bob","picture":"x"}"#
      }
      // The discovery document is kept for an hour.
      api.advance(milliseconds: 0)
    }
    try await run { api, provider in
      provider.behave {
        $0.claims = #""sub":"2""#
        $0.userInfo = #"{"sub":"2","preferred_username":"bob"}"#
      }
      let answer = try await logIn(api, try await signIn(api, provider))
      #expect(answer.json["user_id"]?.string == "@bob:example.org")
    }
    try await run { api, provider in
      provider.behave {
        $0.claims = #""sub":"2""#
        $0.userInfo = #"{"sub":"3","preferred_username":"bob"}"#
      }
      let answer = try await signIn(api, provider)
      #expect(answer.status == 502)
    }
  }

  @Test("a picture comes along, once")
  func picture() async throws {
    try await run { api, provider in
      let url = provider.issuer + "/picture.png"
      provider.behave {
        $0.claims = #""sub":"1","preferred_username":"alice","picture":"\#(url)""#
        $0.picture = [0x89, 0x50, 0x4E, 0x47]
      }
      _ = try await logIn(api, try await signIn(api, provider))
      let avatar = try await api.call(.get, "profile/@alice:example.org/avatar_url")
      #expect(avatar.json["avatar_url"]?.string?.hasPrefix("mxc://example.org/") == true)
    }
  }

  @Test("who must not get an account gets none")
  func noAccounts() async throws {
    try await run(.es256) {
      $0.makesAccounts = false
    } _: { api, provider in
      let answer = try await signIn(api, provider)
      #expect(answer.status == 403)
      #expect(try await api.call(.get, "profile/@alice:example.org").status == 404)
    }
  }

  @Test("a deactivated account stays closed")
  func deactivated() async throws {
    try await run { api, provider in
      _ = try await logIn(api, try await signIn(api, provider))
      try await api.homeserver.accounts.deactivate(UserID(trusted: "@alice:example.org"), erase: false)
      let answer = try await signIn(api, provider)
      #expect(answer.status == 403 && answer.text.contains("deactivated"))
    }
  }

  @Test("a sign-in is good once, in the browser that began it, for ten minutes")
  func binding() async throws {
    try await run { api, provider in
      var (cookie, state) = try await depart(api, provider)
      #expect(try await callback(api, state: state, cookie: nil).status == 403)
      (cookie, state) = try await depart(api, provider)
      #expect(try await callback(api, state: state, cookie: "martlet_sso=other").status == 403)
      (cookie, state) = try await depart(api, provider)
      let (other, _) = try await depart(api, provider)
      #expect(try await callback(api, state: state, cookie: other).status == 403)
      (cookie, state) = try await depart(api, provider)
      #expect(try await callback(api, state: "unknown", cookie: cookie).status == 403)
      #expect(try await callback(api, state: state, cookie: cookie).status == 302)
      #expect(try await callback(api, state: state, cookie: cookie).status == 403)
      (cookie, state) = try await depart(api, provider)
      api.advance(milliseconds: 600_000)
      #expect(try await callback(api, state: state, cookie: cookie).status == 403)
    }
  }

  @Test(
    "what the provider says instead of a code is a friendly page",
    arguments: [
      "&error=access_denied", "", "&code=the-code&iss=https://other.example"
    ])
  func refused(_ query: String) async throws {
    try await run { api, provider in
      let (cookie, state) = try await depart(api, provider)
      let answer = try await callback(api, state: state, cookie: cookie, query: query)
      #expect(answer.status == 403 && answer.text.contains("Our company did not let you in"))
      #expect(answer.headers["Content-Security-Policy"]?.contains("default-src 'none'") == true)
    }
  }

  @Test(
    "an ID token that is not for this sign-in is refused",
    arguments: [
      #"{"iss":"https://other","aud":"martlet","exp":1700000300,"nonce":"NONCE","sub":"1"}"#,
      #"{"iss":"ISSUER","aud":"other","exp":1700000300,"nonce":"NONCE","sub":"1"}"#,
      #"{"iss":"ISSUER","aud":"martlet","exp":1699999900,"nonce":"NONCE","sub":"1"}"#,
      #"{"iss":"ISSUER","aud":"martlet","nonce":"NONCE","sub":"1"}"#,
      #"{"iss":"ISSUER","aud":"martlet","exp":1700000300,"nonce":"other","sub":"1"}"#,
      #"{"iss":"ISSUER","aud":"martlet","exp":1700000300,"sub":"1"}"#,
      #"{"iss":"ISSUER","aud":"martlet","exp":1700000300,"nonce":"NONCE"}"#,
      #"{"iss":"ISSUER","aud":"martlet","exp":1700000300,"nonce":"NONCE","sub":""}"#,
      #"{"iss":"ISSUER","aud":["martlet","other"],"exp":1700000300,"nonce":"NONCE","sub":"1"}"#,
      #"{"iss":"ISSUER","aud":["martlet","other"],"azp":"other","exp":1700000300,"nonce":"NONCE","sub":"1"}"#
    ])
  func badToken(_ claims: String) async throws {
    try await run { api, provider in
      provider.behave { $0.allClaims = claims }
      let answer = try await signIn(api, provider)
      #expect(answer.status == 502 && answer.text.contains("could not confirm who you are"))
    }
  }

  @Test("an ID token for several is taken where it is ours in particular")
  func authorizedParty() async throws {
    try await run { api, provider in
      provider.behave {
        $0.allClaims =
          #"{"iss":"ISSUER","aud":["martlet","other"],"azp":"martlet","exp":1700000300,"nonce":"NONCE","sub":"1"}"#
      }
      let answer = try await signIn(api, provider)
      #expect(answer.status == 302)
    }
  }

  @Test("a provider that lies about its name or fails is a page of its own")
  func badProvider() async throws {
    try await run { api, provider in
      provider.behave { $0.issuer = "https://other.example" }
      let answer = try await api.page(
        .get, "/_matrix/client/v3/login/sso/redirect/company?redirectUrl=" + Self.trustedURL)
      #expect(answer.status == 502)
    }
    try await run { api, provider in
      provider.behave { $0.tokenStatus = "500 Oops" }
      let answer = try await signIn(api, provider)
      #expect(answer.status == 502)
    }
  }

  @Test("a provider may change its keys")
  func newKeys() async throws {
    try await run { api, provider in
      let first = try await signIn(api, provider)
      #expect(first.status == 302)
      provider.changeKey(to: TokenSigner(.rs256))
      // Asked again at most once a minute.
      let second = try await signIn(api, provider)
      #expect(second.status == 502)
      api.advance(milliseconds: 60_000)
      let third = try await signIn(api, provider)
      #expect(third.status == 302)
    }
  }

  @Test("an app that is not trusted gets no token before the person agrees, in the same browser")
  func agreement() async throws {
    try await run { api, provider in
      let (cookie, state) = try await depart(
        api, provider, redirectURL: "https%3A%2F%2Felse.example%2Fx%3Fa%3D1%26loginToken%3Dold")
      let question = try await callback(api, state: state, cookie: cookie)
      #expect(
        question.status == 200 && question.text.contains("https://else.example wants to use your account @alice:example.org"))
      #expect(question.headers["Content-Security-Policy"]?.contains("form-action 'self' https://else.example;") == true)
      #expect(!question.text.contains("loginToken") && !question.text.contains("<script"))
      let start = try #require(question.text.firstRange(of: SingleSignOn.agreementPath)).lowerBound
      let path = String(question.text[start...].prefix { $0 != "\"" })
      #expect(try await api.page(.post, path).status == 403)
      let (cookie2, state2) = try await depart(api, provider, redirectURL: "https%3A%2F%2Felse.example%2Fx%3Fa%3D1")
      let second = try await callback(api, state: state2, cookie: cookie2)
      let path2 = String(
        second.text[try #require(second.text.firstRange(of: SingleSignOn.agreementPath)).lowerBound...].prefix { $0 != "\"" })
      let agreed = try await api.page(.post, path2, headers: [("Cookie", cookie2)])
      #expect(agreed.status == 303)
      #expect(agreed.headers["Location"]?.hasPrefix("https://else.example/x?a=1&loginToken=") == true)
      #expect(try await api.page(.post, path2, headers: [("Cookie", cookie2)]).status == 403)
    }
  }

  @Test(
    "nobody is sent where a browser runs what it is given",
    arguments: [
      "javascript%3Aalert(1)", "data%3Atext%2Fhtml%2Cx", "%2F%2Fevil.example", "",
      "https%3A%2F%2Fapp.example.com%40evil.example"
    ])
  func badRedirect(_ url: String) async throws {
    try await run { api, _ in
      for path in ["redirect", "redirect/company"] {
        let answer = try await api.page(.get, "/_matrix/client/v3/login/sso/\(path)?redirectUrl=" + url)
        #expect(answer.status == 400)
      }
      #expect(try await api.page(.get, "/_matrix/client/v3/login/sso/redirect").status == 400)
      let unknown = try await api.page(.get, "/_matrix/client/v3/login/sso/redirect/nobody?redirectUrl=" + Self.trustedURL)
      #expect(unknown.status == 404)
    }
  }

  @Test("who has no password confirms what an app does by signing in again")
  func confirmation() async throws {
    try await run { api, provider in
      let alice = try api.user(try await logIn(api, try await signIn(api, provider)))
      let device = "/_matrix/client/v3/devices/\(alice.deviceID)"
      let challenge = try await api.call(.delete, device, as: alice, "{}")
      #expect(challenge.status == 401)
      let session = try #require(challenge.json["session"]?.string)
      let stages = challenge.json["flows"]?.elements.compactMap { $0["stages"]?.elements.first { _ in true }?.string }
      #expect(stages == ["m.login.password", "m.login.sso"])
      let auth = #"{"auth":{"session":"\#(session)"}}"#
      #expect(try await api.call(.delete, device, as: alice, auth).status == 401)
      let claimed = #"{"auth":{"session":"\#(session)","type":"m.login.sso"}}"#
      #expect(try await api.call(.delete, device, as: alice, claimed).status == 401)

      let path = "/_matrix/client/v3/auth/m.login.sso/fallback/web?session=" + session
      #expect(try await api.page(.get, path).text.contains("Sign in with Our company"))
      #expect(try await api.page(.get, path + "x").status == 404)
      // Another person's sign-in confirms nothing.
      provider.behave { $0.claims = #""sub":"person-2","preferred_username":"mallory""# }
      #expect(try await confirm(api, provider, path).status == 403)
      #expect(try await api.call(.delete, device, as: alice, auth).status == 401)
      provider.behave { $0.claims = #""sub":"person-1","preferred_username":"alice""# }
      let done = try await confirm(api, provider, path)
      #expect(done.status == 200 && done.headers["Content-Security-Policy"]?.contains("script-src 'self'") == true)
      #expect(try await api.call(.delete, device, as: alice, auth).status == 200)
    }
  }

  private func confirm(_ api: APIFixture, _ provider: OpenIDProvider, _ path: String) async throws -> APIFixture.PageAnswer {
    let away = try await api.page(.post, path + "&idp=company")
    #expect(away.status == 303)
    let location = try #require(away.headers["Location"])
    let state = try #require(provider.visit(location)["state"])
    let cookie = try #require(away.headers["Set-Cookie"]).prefix { $0 != ";" }
    return try await callback(api, state: state, cookie: String(cookie))
  }
}
